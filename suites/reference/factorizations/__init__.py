"""Factorizations: references of factors of matrices, eigenvalues, singular values and determinants."""
