"""RandomShuffle: the rows of a tensor in a random order, each of them once.

A right order has more than `_FIXED` rows at their old places, or a correlation beyond `_CORRELATION`, in fewer than one
of 10^9 runs: the number of rows at their places has nearly the Poisson distribution with mean 1, the correlation nearly
the normal distribution with variance 1 / (n - 1).
"""

import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import COMPLEX, FLOATS, INTEGERS
from tf_opdiff.harness.spec.plan import WITHOUT_XLA
from tf_opdiff.suites.forms.aspects import small
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.part import part, tiered

_ROWS, _FIXED = 4097, 14
_CORRELATION = 6.2 / (_ROWS - 1) ** 0.5


def _shuffled(tf, x):
    return tf.raw_ops.RandomShuffle(value=x, seed=7, seed2=9)


def _in_order(tf, rows):
    """The rows in their order, which the first number of each tells."""
    return tf.gather(rows, tf.argsort(rows[:, 0]))


def _sorted(tf, x):
    """The shuffled rows in their order, as numbers."""
    return _in_order(tf, tf.cast(_shuffled(tf, x), "float32"))


def _random(tf, x):
    """Whether few rows are at their places, and their new places are independent of the old ones."""
    places = tf.cast(_shuffled(tf, x), "float64")
    start = tf.cast(x, "float64")
    fixed = tf.reduce_sum(tf.cast(tf.equal(places, start), tf.int32))
    mean = (_ROWS - 1) / 2
    correlation = tf.reduce_mean((places - mean) * (start - mean)) / ((_ROWS**2 - 1) / 12)
    return tf.stack([fixed <= _FIXED, tf.abs(correlation) <= _CORRELATION])


def _counted(rows, columns=2):
    """A recipe: rows that begin with 0, 1, …"""

    def recipe(draw, dtype):
        first = np.arange(min(rows, 2) if dtype.kind == "b" else rows)
        return (np.stack([first, first * 0 + 1][:columns], 1).astype(dtype),)

    return recipe


SPECS = op(
    "random-shuffle",
    "RandomShuffle",
    part(
        recipes={"rows": _counted(13), "two": _counted(2)},
        dtypes=tiered((*FLOATS, *COMPLEX, *INTEGERS, "bool"), ("float32",)),
    ),
    part(
        "-order",
        program=_random,
        reference=lambda x: np.ones(2, bool),
        recipes={"places": lambda draw, dtype: (np.arange(_ROWS, dtype=dtype),)},
        constant=("output[0]",),
        dtypes=("int32",),
    ),
    part(
        "-texts",
        program=lambda tf, x: _in_order(tf, tf.strings.to_number(_shuffled(tf, x))),
        reference=lambda x: x.astype(np.float32),
        recipes={"rows": lambda draw, dtype: (np.array([[b"%d" % i, b"1"] for i in range(13)], object),)},
        dtypes=("bytes",),
        modes=WITHOUT_XLA,
        tier="full",
    ),
    small({"none": _counted(0), "one": _counted(1, 1)}),
    ordinary={"minus-zero_0": "the program sorts the rows, among which zeros of both signs are equal"},
    program=_sorted,
    reference=lambda x: np.real(x).astype(np.float32),
)
