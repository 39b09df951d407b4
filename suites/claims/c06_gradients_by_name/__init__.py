"""Gradients by name: ops declared not differentiable, gradients in C++, and a graph without its library."""
