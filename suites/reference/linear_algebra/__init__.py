"""Linear algebra: references of products, systems of equations and Fourier transforms."""
