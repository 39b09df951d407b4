"""Specs of ops, in TensorFlow's own families: `math_ops.cc` is `math`, `array_ops.cc` is `array`."""
