"""Specs of the ops of `nn_ops.cc`."""
