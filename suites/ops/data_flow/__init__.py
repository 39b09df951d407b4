"""Specs of the ops of `data_flow_ops.cc`."""
