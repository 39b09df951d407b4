"""Ops: how each op did, under every plan and under several TensorFlow versions."""
