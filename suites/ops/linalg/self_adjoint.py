"""Eigenvalues of Hermitian matrices; of their eigenvectors, which are not unique, specs promise products."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from tf_opdiff.harness.spec.recipes import COMPLEX
from tf_opdiff.suites.forms import matrices as of
from tf_opdiff.suites.forms.calls import Call, Calls, Wrong
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.part import tiered
from tf_opdiff.suites.reference.orthonormal import Orthonormal
from tf_opdiff.suites.reference.self_adjoint import Power, Trace, Values


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


def _unread(draw, dtype, *shape):
    """The same with NaN above the diagonal."""
    return np.where(np.triu(np.ones(shape[-2:], bool), 1), np.nan, _apart(draw, dtype, *shape)).astype(dtype)


def _repeated(draw, dtype, *shape):
    """Matrices of ones: all eigenvalues but one are 0."""
    return np.ones(shape, dtype)


def _identity(draw, dtype, *shape):
    return np.broadcast_to(np.eye(shape[-1], dtype=dtype), shape).copy()


def _zero(draw, dtype, *shape):
    return np.zeros(shape, dtype)


_SPECIAL = {"unread": (_unread,), "repeated": (_repeated,), "identity": (_identity,), "zero": (_zero,)}
_GRADIENTS = {
    "recipes": {"plain": (_apart,), "upstreams": (_apart,)},
    "upstreams": {"upstreams": of.sent},
    "second": ("plain",),
}
#: label → the calls of a group of specs, and their settings.
_GROUPS: Mapping[str, tuple[Calls, Mapping[str, Any]]] = {
    "": (_OF_VALUES, _GRADIENTS),
    "-vectors": (_OF_VECTORS, _GRADIENTS),
    "-properties": (_PROPERTIES, {"recipes": {"plain": (_apart,), **_SPECIAL}, "gradient": False}),
    "-repeated": (
        _TRACES,
        {"recipes": {"plain": (_apart,), "unread": (_unread,), "identity": (_identity,), "zero": (_zero,)}},
    ),
}


def _specs(suffix, fields, **more):
    for label, (calls, settings) in _GROUPS.items():
        yield from op(
            f"self-adjoint-eig-v2{label}{suffix}", "SelfAdjointEigV2", calls=calls, fields=fields, **settings, **more
        )


SPECS = (
    *_specs("", of.LOOSE, dtypes=tiered(("float32", "float64"))),
    *_specs("-complex", of.WITHOUT_XLA_COMPLEX),
    *op(
        "self-adjoint-eig-v2",
        "SelfAdjointEigV2",
        small={label: _small(shape) for label, shape in of.SMALL.items()},
        of_small=(_apart,),
        wrong={label: Wrong(_values, (shape,)) for label, shape in of.NOT_SQUARE.items()},
        fields=of.LOOSE,
    ),
    *op(
        "self-adjoint-eig-v2-complex-of-xla",
        "SelfAdjointEigV2",
        calls=_OF_VECTORS,
        recipes={"plain": (_apart,)},
        fields=of.IN_XLA_ALONE | {"dtypes": COMPLEX},
    ),
    *op(
        "self-adjoint-eig-v2-of-xla",
        "SelfAdjointEigV2",
        calls=_OF_HALVES,
        recipes={"plain": (_apart,), **_SPECIAL},
        gradient=False,
        fields=of.IN_XLA_ALONE | {"dtypes": ("float16",)},
    ),
)
