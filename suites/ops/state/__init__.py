"""Specs of the ops of `state_ops.cc` and of variables."""
