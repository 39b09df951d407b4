"""Claims: what posts, answers and slides say of overriding gradients, each run as the small program that it is about.

A claim's spec promises what TensorFlow does, in NumPy, like any other; beside it stands the claim, with what it
predicts. A run holds the program against both, and the verdict on the claim is what the run found.
"""

from tf_opdiff.suites.claims import (
    addition,
    assigned,
    attention,
    batch_norm,
    binarize,
    center_loss,
    compiled,
    copying,
    floor,
    frozen,
    identity,
    layers,
    networks,
    out_of_range,
    paths,
    python_functions,
    queues,
    reads,
)

SPECS = (
    *addition.SPECS,
    *assigned.SPECS,
    *attention.SPECS,
    *batch_norm.SPECS,
    *binarize.SPECS,
    *center_loss.SPECS,
    *compiled.SPECS,
    *copying.SPECS,
    *floor.SPECS,
    *frozen.SPECS,
    *identity.SPECS,
    *layers.SPECS,
    *networks.SPECS,
    *out_of_range.SPECS,
    *paths.SPECS,
    *python_functions.SPECS,
    *queues.SPECS,
    *reads.SPECS,
)
