"""Sparse tensors: references of ops on sparse tensors and on CSR matrices."""
