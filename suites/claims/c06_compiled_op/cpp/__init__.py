"""An op in C++, and how it is built."""
