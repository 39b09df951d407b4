"""Claims: what posts, answers and slides say of overriding gradients, each run as the small program that it is about.

A claim's spec promises what TensorFlow does, in NumPy, like any other; beside it stands the claim, with what it
predicts. A run holds the program against both, and the verdict on the claim is what the run found.
"""

from suites.claims import addition, attention, binarize, compiled, copying, layers, python_functions

SPECS = (
    *addition.SPECS,
    *attention.SPECS,
    *binarize.SPECS,
    *compiled.SPECS,
    *copying.SPECS,
    *layers.SPECS,
    *python_functions.SPECS,
)
