"""Answers: the op that makes a program differ, in words, tables and a page."""
