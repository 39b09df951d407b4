"""The ops of TensorFlow's `math_ops.cc` and `bitwise_ops.cc`."""
