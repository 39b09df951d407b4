"""Specs of the ops of `array_ops.cc`."""
