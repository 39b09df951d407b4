"""TensorArrays without loops: read twice, joined when empty, split, and unstacked beyond their size.

With v2's control flow they are lists of tensors, with v1's they are resources, and in eager mode objects of Python.
"""

import numpy as np

from tf_opdiff.harness.spec.spec import Side
from tf_opdiff.suites.forms.errors import raises
from tf_opdiff.suites.forms.programs.branches import ROUNDED
from tf_opdiff.suites.forms.programs.control_flow import XLA, arrays


def read_twice(tf, api, x):
    """Reads one element twice: reading clears it."""
    rows = api.TensorArray(tf.float32, size=3).unstack(x)
    return rows.read(1) * rows.read(1)


def read_twice_kept(tf, api, x):
    """Reads one element twice, which reading does not clear."""
    rows = api.TensorArray(tf.float32, size=3, clear_after_read=False).unstack(x)
    return rows.read(1) * rows.read(1)


def gathered_none(tf, api, x):
    """Gathers no element, and then all of them."""
    rows = api.TensorArray(tf.float32, size=3, clear_after_read=False).unstack(x)
    return rows.gather(tf.zeros([0], tf.int32)), rows.stack()


def joined_empty(tf, api, x):
    """Joins no elements, of a known number of columns."""
    rows = api.TensorArray(tf.float32, size=0, element_shape=[None, 2], infer_shape=False)
    return rows.concat(), x * 2


def split(tf, api, x):
    """Splits three rows into elements of one, no and two rows."""
    rows = api.TensorArray(tf.float32, size=3, infer_shape=False, clear_after_read=False).split(x, [1, 0, 2])
    return rows.concat(), rows.read(2)


def split_fewer(tf, api, x):
    """Splits two of three rows."""
    return api.TensorArray(tf.float32, size=2).split(x, [1, 1]).concat()


def split_beyond(tf, api, x):
    """Splits three rows into an array of two elements."""
    return api.TensorArray(tf.float32, size=2).split(x, [1, 1, 1]).concat()


def unstacked_beyond(tf, api, x):
    """Unstacks three rows into an array of two elements."""
    return api.TensorArray(tf.float32, size=2).unstack(x).stack()


def unstacked_growing(tf, api, x):
    """Unstacks three rows into an array that grows."""
    return api.TensorArray(tf.float32, size=0, dynamic_size=True).unstack(x).stack() * 2


def unstacked_none(tf, api, x):
    """Unstacks no rows into an array without elements."""
    return api.TensorArray(tf.float32, size=0).unstack(x[:0]).stack()


_INVALID = raises("INVALID_ARGUMENT")
_OF_PYTHON = {
    "*/eager": Side(
        reference=raises("ValueError"),
        why="nothing documents the code of the error; an eager TensorArray is an object of Python",
    )
}
_ONE_SHAPE = {
    "*/xla": Side(
        reference=raises("UNIMPLEMENTED"), why="XLA compiles for static shapes: all elements have one", link=XLA
    )
}


def _arrays(name, program, **fields):
    """The specs of a program(tf, api, x) with a TensorArray of the rows of x."""
    settings = {"ops": "", "v1_ops": "TensorArrayV3", "v1": {"evidence": "called:TensorArray"}, "ulp": ROUNDED}
    recipes = {"rows": lambda draw, d: (draw.values(d, 3, 2),)}
    return arrays(name, program, **{"calls": "TensorArray", "recipes": recipes, **settings, **fields})


SPECS = (
    *_arrays("array-gathers-nothing", gathered_none, reference=lambda x: (x[:0], x), constant=("output[0]",)),
    *_arrays("array-joined-empty", joined_empty, reference=lambda x: (x[:0], x * 2), constant=("output[0]",)),
    *_arrays("array-read-twice", read_twice, reference=_INVALID),
    *_arrays(
        "array-read-twice-kept",
        read_twice_kept,
        reference=lambda x: x[1] * x[1],
        vjp=lambda g, x: np.stack([0 * g, 2 * g * x[1], 0 * g]),
        bound={"grad": lambda u, g, x: 4 * u * np.stack([0 * g, np.abs(2 * g * x[1]), 0 * g])},
        unsigned_zeros=("grad", "output"),
    ),
    *_arrays(
        "array-split",
        split,
        reference=lambda x: (x, x[1:]),
        vjp=lambda g, x: g[0] + np.concatenate([0 * g[1][:1], g[1]]),
        results=2,
        contract=_ONE_SHAPE,
    ),
    *_arrays("array-split-beyond", split_beyond, reference=_INVALID),
    *_arrays("array-split-fewer", split_fewer, reference=_INVALID),
    *_arrays("array-unstacked-beyond", unstacked_beyond, reference=_INVALID, contract=_OF_PYTHON),
    *_arrays("array-unstacked-growing", unstacked_growing, reference=lambda x: x * 2, vjp=lambda g, x: g * 2),
    *_arrays("array-unstacked-none", unstacked_none, reference=lambda x: x[:0]),
)
