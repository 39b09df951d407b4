"""Specs of the ops of `random_ops.cc`, `stateless_random_ops.cc` and `stateful_random_ops.cc`."""
