"""Specs of the ops of `image_ops.cc`."""
