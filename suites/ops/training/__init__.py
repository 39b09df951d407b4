"""Specs of the ops of `training_ops.cc`."""
