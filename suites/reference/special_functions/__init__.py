"""Special functions: references of Bessel, gamma, beta, zeta and error functions and of integrals."""
