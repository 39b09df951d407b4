"""Eigenvalues of Hermitian matrices; of their eigenvectors, which are not unique, specs promise products."""

from functools import partial
from typing import Any

import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import COMPLEX
from tf_opdiff.suites.forms.calls import Call
from tf_opdiff.suites.forms.linear_algebra import matrices as of
from tf_opdiff.suites.forms.op import also, op
from tf_opdiff.suites.forms.part import tiered
from tf_opdiff.suites.reference.factorizations.orthonormal import Orthonormal
from tf_opdiff.suites.reference.factorizations.self_adjoint import Power, Trace, Values


def _values(tf, a, vectors=True):
    return tf.raw_ops.SelfAdjointEigV2(input=a, compute_v=vectors).e


def _power(tf, a, n):
    """The product of the eigenvectors and of powers of the eigenvalues."""
    e, v = tf.raw_ops.SelfAdjointEigV2(input=a)
    return tf.matmul(v * e[..., None, :] ** n, v, adjoint_b=True)


def _orthonormal(tf, a):
    _, v = tf.raw_ops.SelfAdjointEigV2(input=a)
    return tf.matmul(v, v, adjoint_a=True)


def _trace(tf, a, vectors):
    return tf.reduce_sum(_values(tf, a, vectors), -1)


_ALONE = partial(_values, vectors=False)
_OF_VALUES = {
    "values_batch": Call(_values, Values(), ((2, 3, 3),)),
    "values_matrix": Call(_ALONE, Values(), ((5, 5),)),
}
_OF_VECTORS = {
    "square": Call(partial(_power, n=2), Power(2), ((2, 3, 3),)),
    "batch_of_one": Call(partial(_power, n=2), Power(2), ((1, 4, 4),)),
}
_TRACES = {
    "trace": Call(partial(_trace, vectors=True), Trace(), ((2, 3, 3),)),
    "trace_alone": Call(partial(_trace, vectors=False), Trace(), ((4, 4),)),
}
_PROPERTIES = {
    **_OF_VALUES,
    "matrix": Call(partial(_power, n=1), Power(1), ((5, 5),)),
    "orthonormal": Call(_orthonormal, Orthonormal(), ((2, 3, 3),)),
}

#: Small matrices, because errors in float16 are large.
_OF_HALVES = {
    "values": Call(_values, Values(), ((2, 2, 2),)),
    "matrix": Call(partial(_power, n=1), Power(1), ((2, 2),)),
    "orthonormal": Call(_orthonormal, Orthonormal(), ((1, 2, 2),)),
}


def _small(shape):
    """Values of both forms, and a matrix; all shapes have the same calls."""
    return {
        "values": Call(_values, Values(), (shape,)),
        "values_alone": Call(_ALONE, Values(), (shape,)),
        "matrix": Call(partial(_power, n=1), Power(1), (shape,)),
    }


def _apart(draw, dtype, *shape):
    """Hermitian matrices whose eigenvalues have gaps."""
    wide = np.dtype("complex128" if dtype.kind == "c" else "float64")
    below = np.tril(draw.values(wide, *shape) / 8, -1)
    return (below + np.conj(np.swapaxes(below, -1, -2)) + np.diag(2.0 * np.arange(shape[-1]) - 1)).astype(dtype)


def _repeated(draw, dtype, *shape):
    """Matrices of ones: all eigenvalues but one are 0."""
    return np.ones(shape, dtype)


_SPECIAL = {"unread": of.unread(_apart), "repeated": _repeated, "identity": of.identity, "zero": of.zero}
_OF_REPEATED = {"plain": _apart, **{label: _SPECIAL[label] for label in ("unread", "identity", "zero")}}
_GRADIENTS = {"recipes": {"plain": _apart, "upstreams": _apart}, "second": ("plain",)}
_PROMISED = {"calls": _PROPERTIES, "recipes": {"plain": _apart, **_SPECIAL}, "gradient": False}
#: Groups of calls, and what is promised of them.
_GROUPS: dict[str, dict[str, Any]] = {
    "": {"calls": _OF_VALUES, **_GRADIENTS},
    "-vectors": {"calls": _OF_VECTORS, **_GRADIENTS},
    "-properties": _PROMISED,
    "-repeated": {"calls": _TRACES, "recipes": _OF_REPEATED},
}

SPECS = op(
    "self-adjoint-eig-v2",
    "SelfAdjointEigV2",
    *(also(label, **group) for label, group in _GROUPS.items() if label),
    *(also(f"{label}-complex", **of.COMPLEX_WITHOUT_XLA | group) for label, group in _GROUPS.items()),
    also("-of-xla", **_PROMISED | {"calls": _OF_HALVES}, dtypes=("float16",), **of.OF_XLA),
    also("-complex-of-xla", calls=_OF_VECTORS, recipes={"plain": _apart}, dtypes=COMPLEX, **of.OF_XLA),
    program=_values,
    small={label: _small(shape) for label, shape in of.SMALL.items()},
    of_small=_apart,
    upstreams={"upstreams": of.sent},
    wrong=of.NOT_SQUARE,
    dtypes=tiered(("float32", "float64")),
    fields=of.loose(2**13),
    **_GROUPS[""],
    ordinary=of.ITERATION,
)
