"""Claims: what posts, answers and slides say of overriding gradients, each run as the small program that it is about.

The name of each package begins with the number of its topic. `claims.py` has its `SPECS`. One package of each topic has
`topic.py` with its `TOPIC`; larger topics have several packages, and programs and references in modules of their own.
A claim's spec promises the results of TensorFlow, in NumPy, like any other spec. The claim stands in the spec and
predicts results of its own. A run compares the program with both, and gives a verdict on the claim.
"""
