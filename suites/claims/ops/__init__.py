"""Ops in C++, and how they are built."""
