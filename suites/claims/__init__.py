"""Claims: what posts, answers and slides say of overriding gradients, each run as the small program that it is about.

Each package holds one topic, and its name begins with the topic's number. `claims.py` has `TOPIC` and `SPECS`; larger
topics have their programs and references in modules of their own.
A claim's spec promises the results of TensorFlow, in NumPy, like any other spec. The claim stands in the spec and
predicts results of its own. A run compares the program with both, and gives a verdict on the claim.
"""
