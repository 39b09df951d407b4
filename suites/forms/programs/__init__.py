"""Programs: what programs share that have several ops, branches, Python functions or compiled ops."""
