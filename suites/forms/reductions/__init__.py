"""Reductions: what ops share that reduce axes, segments and rows of sparse tensors."""
