"""Specs of the ops of `sparse_ops.cc` and `sparse_csr_matrix_ops.cc`."""
