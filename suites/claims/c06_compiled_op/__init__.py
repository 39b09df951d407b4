"""An op in C++."""
