"""Planted specs for searches: kernels that are far off for one input in a million, and a little off around there."""

import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import Draw, bit_patterns
from tf_opdiff.harness.spec.spec import Spec
from tf_opdiff.harness.sweep.searches.boxes import places_of

#: The middle of the wrong region, by argument; no special number is near.
MIDDLE = (0x3FA1_2345_6789_ABCD, 0xC012_3456_789A_BCDE)
#: The share of all bit patterns in the wrong region, and the errors there, in ULPs.
SHARE, FAR = 1e-6, 2.0**20
_PLACES = 2 * 0x7FF0_0000_0000_0001


def off_at(*xs):
    """The error of a planted kernel in ULPs: a few that grow towards the region, and `FAR` in it."""
    apart = [_apart(x, middle) for x, middle in zip(xs, MIDDLE, strict=False)]
    share = 2 * np.max(apart, axis=0)
    return np.where(share ** len(xs) < SHARE, FAR, np.floor(-np.log2(share)))


def _apart(x, middle):
    """The distance of floats from the middle, as a share of all places."""
    at = places_of(np.array([middle], np.uint64).view(np.float64))
    return (np.abs(places_of(x).astype(np.float64) - at.astype(np.float64)) + 1) / _PLACES


def _kernel(tf, *xs):
    def act(*values):
        x = values[0]
        with np.errstate(all="ignore"):
            return np.where(np.isfinite(x), x * (1 + off_at(*values) * 2.0**-52), x)

    return tf.ensure_shape(tf.numpy_function(act, xs, xs[0].dtype), xs[0].shape)


def pairs(draw: Draw, dtype):
    """Random bit patterns for two arguments."""
    return bit_patterns(draw, dtype)[0], bit_patterns(draw, dtype)[0]


def _spec(name, program, reference, recipe):
    more = {"dtypes": ("float64",), "modes": ("eager",), "ulp": {"output": 100}}
    return Spec(
        name=name, program=program, reference=reference, recipes={"bits": recipe}, every_input=True, ops="", **more
    )


SPECS = (
    _spec("far-off-once", lambda tf, x: _kernel(tf, x), lambda x: x, bit_patterns),
    _spec("far-off-pair", lambda tf, x, y: _kernel(tf, x, y), lambda x, y: x, pairs),
)
