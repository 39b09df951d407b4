"""Claims: what posts, answers and slides say of overriding gradients, each run as the small program that it is about.

A claim's spec promises what TensorFlow does, in NumPy, like any other; beside it stands the claim, with what it
predicts. A run holds the program against both, and the verdict on the claim is what the run found.
A package has the claims of one topic, and the topic's number: `claims.py` has its `TOPIC` and `SPECS`.
"""
