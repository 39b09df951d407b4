"""Docs: the pages of the documentation, and the scripts that write and check parts of them."""
