"""Planted specs with attributes: one that is right for every label, one whose reference is wrong for one label."""

import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import bit_patterns
from tf_opdiff.harness.spec.spec import Spec


def _spread(g, x, *, axis=None, keepdims=False):
    """The VJP of a sum: each element gets the upstream of the sum that it is a term of."""
    kept = g if keepdims or axis is None else np.expand_dims(g, axis)
    return np.broadcast_to(kept, x.shape).copy()


def _forgets_keepdims(x, *, axis=None, keepdims=False):
    return np.sum(x, axis=axis)


def _small(draw, dtype):
    return (draw.integers(3, 5, low=-4, high=5).astype(dtype),)


def _sum(name, reference, **more):
    return Spec(
        name=name,
        program=lambda tf, x, **attrs: tf.reduce_sum(x, **attrs),
        reference=reference,
        attrs={"all": {}, "first": {"axis": 0}, "kept": {"axis": 1, "keepdims": True}},
        recipes={"small": _small},
        ops="Sum",
        **more,
    )


SPECS = (
    _sum("sums", lambda x, **attrs: np.sum(x, **attrs), vjp=_spread),
    _sum("sums-wrong-once", _forgets_keepdims),
    Spec(
        name="counts-from",
        program=lambda tf, state, x, **attrs: x + state["start"],
        state=lambda tf, x, start: {"start": tf.Variable(start, dtype=x.dtype)},
        reference=lambda x, start: x + start,
        attrs={"one": {"start": 1.0}, "two": {"start": 2.0}},
        recipes={"small": _small},
        ops="AddV2",
        modes=("eager", "graph"),
    ),
    Spec(
        name="scaled",
        program=lambda tf, x, factor: x * tf.constant(factor, x.dtype),
        reference=lambda x, factor: x * factor,
        vjp=lambda g, x, factor: g * factor,
        attrs={"double": {"factor": 2.0}, "minus": {"factor": -1.0}},
        recipes={"bits": bit_patterns},
        every_input=True,
        dtypes=("float16",),
        ops="Mul",
        modes=("eager",),
    ),
    Spec(
        name="scaled-wrong-once",
        program=lambda tf, x, factor: x * tf.constant(factor, x.dtype),
        reference=lambda x, factor: x * abs(factor),
        attrs={"double": {"factor": 2.0}, "minus": {"factor": -1.0}},
        recipes={"bits": bit_patterns},
        every_input=True,
        dtypes=("float16",),
        ops="Mul",
        modes=("eager",),
    ),
)
