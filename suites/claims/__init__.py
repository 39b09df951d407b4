"""Claims: what posts, answers and slides say of overriding gradients, each run as the small program that it is about.

A claim's spec promises what TensorFlow does, in NumPy, like any other; beside it stands the claim, with what it
predicts. A run holds the program against both, and the verdict on the claim is what the run found.
"""

from suites.claims import (
    assigned,
    batch_norm,
    binarize,
    center_loss,
    copying,
    floor,
    frozen,
    identity,
    networks,
    out_of_range,
    paths,
    queues,
    reads,
)

SPECS = (
    *assigned.SPECS,
    *batch_norm.SPECS,
    *binarize.SPECS,
    *center_loss.SPECS,
    *copying.SPECS,
    *floor.SPECS,
    *frozen.SPECS,
    *identity.SPECS,
    *networks.SPECS,
    *out_of_range.SPECS,
    *paths.SPECS,
    *queues.SPECS,
    *reads.SPECS,
)
