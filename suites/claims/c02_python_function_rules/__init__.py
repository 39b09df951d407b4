"""The rules of the answer on py_func: what a gradient function has to do, the dtype, and what is not serialised."""
