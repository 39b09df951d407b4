"""Atlases: the largest errors of ops in Markdown, with published figures."""
