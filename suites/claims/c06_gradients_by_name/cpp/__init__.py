"""An op in C++ that gets no gradient, and how it is built."""
