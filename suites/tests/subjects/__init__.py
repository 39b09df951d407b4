"""Subjects: for each entry of a spec's evidence, the ways to take out of a program what the entry proves.

`rows.ROWS` is the table. A way is a function from TensorFlow to replacements of its functions, by their paths.
"""
