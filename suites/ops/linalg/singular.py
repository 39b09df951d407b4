"""Singular value decompositions. Singular vectors have free signs, or phases: specs promise products of the factors."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from tf_opdiff.harness.spec.recipes import COMPLEX
from tf_opdiff.harness.spec.spec import Spec
from tf_opdiff.suites.forms import matrices as of
from tf_opdiff.suites.forms.calls import Call, Calls, Wrong
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.part import tiered
from tf_opdiff.suites.forms.removed import Removed
from tf_opdiff.suites.reference.orthonormal import Orthonormal, columns, rows
from tf_opdiff.suites.reference.products import Gram, Product, Projection, of_svd
from tf_opdiff.suites.reference.singular import Values

_REMOVED = Removed("BatchSvd", ("input",), version=13)


def _svd(tf, a, *, full=False, vectors=True):
    return tf.raw_ops.Svd(input=a, full_matrices=full, compute_uv=vectors)


def _removed(tf, a, *, full=False, vectors=True):
    return _REMOVED(tf, a, full_matrices=full, compute_uv=vectors)


def _values(tf, a, svd=_svd, vectors=True):
    """The singular values in the dtype of the matrix."""
    s, _, _ = svd(tf, a, vectors=vectors)
    return s


def _real_values(tf, a, vectors=True):
    """The singular values as `tf.linalg.svd` returns them: upstreams have no imaginary part."""
    return tf.math.real(_values(tf, a, vectors=vectors))


def _product(tf, a, svd=_svd, full=False):
    """U S Vᴴ, of the first columns of U and of V."""
    s, u, v = svd(tf, a, full=full)
    k = min(a.shape[-2:]) if full else None
    real = tf.cast(tf.math.real(s), a.dtype)
    return tf.matmul(u[..., :k] * real[..., None, :], v[..., :k], adjoint_b=True)


def _gram(tf, a):
    """V S² Vᴴ."""
    s, _, v = _svd(tf, a)
    real = tf.cast(tf.math.real(s), a.dtype)
    return tf.matmul(v * (real * real)[..., None, :], v, adjoint_b=True)


def _projection(tf, a):
    _, u, _ = _svd(tf, a)
    return tf.matmul(u, u, adjoint_b=True)


def _finite(tf, a):
    """Whether left singular vectors are finite numbers: all bounds of float16 are wide."""
    _, u, _ = _svd(tf, a)
    return tf.math.is_finite(u)


def _left(tf, a, svd=_svd, full=False):
    _, u, _ = svd(tf, a, full=full)
    return tf.matmul(u, u, adjoint_a=True)


def _right(tf, a, svd=_svd, full=False):
    _, _, v = svd(tf, a, full=full)
    return tf.matmul(v, v, adjoint_a=True)


_ALONE = partial(_values, vectors=False)
_OF_VALUES = {
    "values_batch": Call(partial(_real_values, vectors=False), Values(real=True), ((2, 3, 3),)),
    "values_tall": Call(_real_values, Values(real=True), ((4, 2),)),
}
_OF_VECTORS = {
    "square_product": Call(_product, Product(of_svd), ((2, 3, 3),)),
    "full_product": Call(partial(_product, full=True), Product(of_svd), ((3, 2),)),
    "wide_gram": Call(_gram, Gram(of_svd), ((2, 2, 4),)),
    "tall_projection": Call(_projection, Projection(of_svd), ((1, 4, 2),)),
}
_FULL = {"wide": Call(partial(_product, full=True), Product(of_svd), ((2, 4),))}
_VALUES_AND_PRODUCT = {
    "values": Call(_values, Values(), ((2, 3, 3),)),
    "product": Call(_product, Product(of_svd), ((1, 5, 3),)),
}


def _properties(svd=_svd):
    """What every decomposition has, also of matrices of lower rank."""
    full = {"svd": svd, "full": True}
    return {
        "values": Call(partial(_values, svd=svd, vectors=False), Values(), ((5, 5),)),
        "product": Call(partial(_product, svd=svd), Product(of_svd), ((5, 3),)),
        "product_full": Call(partial(_product, **full), Product(of_svd), ((2, 2, 4),)),
        "right": Call(partial(_right, svd=svd), Orthonormal(), ((2, 3, 3),)),
        "left_full": Call(partial(_left, **full), Orthonormal(rows), ((5, 3),)),
        "right_full": Call(partial(_right, **full), Orthonormal(columns), ((1, 2, 4),)),
    }


def _small_properties(shape, svd=_svd):
    """The same of one shape."""
    full = {"svd": svd, "full": True}
    return {
        "values": Call(partial(_values, svd=svd, vectors=False), Values(), (shape,)),
        "product": Call(partial(_product, svd=svd), Product(of_svd), (shape,)),
        "left_full": Call(partial(_left, **full), Orthonormal(rows), (shape,)),
        "right_full": Call(partial(_right, **full), Orthonormal(columns), (shape,)),
    }


def _apart(draw, dtype, *shape):
    """Matrices of ordinary condition whose singular values have gaps."""
    wide = np.dtype("complex128" if dtype.kind == "c" else "float64")
    return (draw.values(wide, *shape) / 8 + np.eye(*shape[-2:]) * (1.0 + np.arange(shape[-1]))).astype(dtype)


def _graded(draw, dtype, *shape):
    """The same with columns of various sizes."""
    return (_apart(draw, dtype, *shape) * 4.0 ** (np.arange(shape[-1]) % 4)).astype(dtype)


def _dependent(draw, dtype, *shape):
    """Matrices of rank one, whose columns are exact multiples of the first."""
    return (_apart(draw, dtype, *shape)[..., :1] * (2.0 ** np.arange(shape[-1]))).astype(dtype)


def _identity(draw, dtype, *shape):
    return np.broadcast_to(np.eye(*shape[-2:], dtype=dtype), shape).copy()


def _zero(draw, dtype, *shape):
    return np.zeros(shape, dtype)


def _scaled(exponent):
    """Matrices of ordinary condition times a power of two."""
    return lambda draw, dtype, *shape: (_apart(draw, dtype, *shape) * 2.0**exponent).astype(dtype)


def _with_nan(draw, dtype, *shape):
    """The same; the last matrix has a NaN."""
    x = _apart(draw, dtype, *shape)
    x[(-1,) * len(shape)] = np.nan
    return x


def _one(elements, draw, dtype):
    return (elements(draw, np.dtype(dtype), 3, 3),)


_SMALL = {"one": (1, 1), "none": (0, 0), "no_matrices": (0, 3, 2), "no_rows": (0, 3), "no_columns": (3, 0)}
_NOT_MATRICES = {label: shape for label, shape in of.NOT_SQUARE.items() if len(shape) < 2}
_GRADIENTS = {
    "recipes": {"plain": (_apart,), "upstreams": (_apart,)},
    "upstreams": {"upstreams": of.sent},
    "second": ("plain",),
}
_SPECIAL = {"graded": (_graded,), "rank_one": (_dependent,), "identity": (_identity,), "zero": (_zero,)}
_EVERY = {"recipes": {"plain": (_apart,), **_SPECIAL}, "gradient": False}
#: label → the calls of a group of specs, and their settings.
_GROUPS: Mapping[str, tuple[Calls, Mapping[str, Any]]] = {
    "": (_OF_VALUES, {**_GRADIENTS, "forward": {"nan": (_with_nan,)}}),
    "-vectors": (_OF_VECTORS, _GRADIENTS),
    "-full-gradient": (_FULL, {"recipes": {"plain": (_apart,)}}),
    "-properties": (_properties(), _EVERY),
}


def _specs(suffix, fields, **more):
    for label, (calls, settings) in _GROUPS.items():
        yield from op(f"svd{label}{suffix}", "Svd", calls=calls, fields=fields, **settings, **more)


def _of_sizes(name, calls_of, **more):
    """The specs of matrices without elements, and with one."""
    small = {label: calls_of(shape) for label, shape in _SMALL.items()}
    return op(name, "Svd", small=small, of_small=(_apart,), fields=of.LOOSE, **more)


SPECS = (
    *op(
        "batch-svd",
        "BatchSvd",
        calls=_properties(_removed),
        small={label: _small_properties(shape, _removed) for label, shape in _SMALL.items()},
        of_small=(_apart,),
        dtypes=tiered(("float32", "float64", *COMPLEX)),
        fields=_REMOVED.fields | of.LOOSE,
        **_EVERY,
    ),
    *_specs("", of.LOOSE, dtypes=tiered(("float32", "float64"))),
    *_specs("-complex", of.WITHOUT_XLA_COMPLEX),
    *_of_sizes(
        "svd",
        lambda shape: {"values": Call(_ALONE, Values(), (shape,))},
        wrong={label: Wrong(_values, (shape,)) for label, shape in _NOT_MATRICES.items()},
    ),
    *_of_sizes("svd-vectors", lambda shape: {"product": Call(_product, Product(of_svd), (shape,))}),
    *_of_sizes("svd-properties", _small_properties, gradient=False),
    *op(
        "svd-of-xla",
        "Svd",
        calls={"product": Call(_product, Product(of_svd), ((2, 2),))},
        recipes={"plain": (_apart,), **_SPECIAL},
        gradient=False,
        fields=of.IN_XLA_ALONE | {"dtypes": ("float16",)},
    ),
    *op(
        "svd-scaled",
        "Svd",
        calls=_VALUES_AND_PRODUCT,
        recipes={"tiny": (_scaled(-40),), "huge": (_scaled(80),)},
        dtypes=tiered(("float32", "float64")),
        gradient=False,
        fields=of.LOOSE,
    ),
    Spec(
        name="svd-finite-of-xla",
        ops="Svd",
        program=_finite,
        reference=lambda a: np.ones(a.shape, bool),
        recipes={label: partial(_one, own) for label, own in {"plain": _apart, "rank_one": _dependent}.items()},
        dtypes=("float16",),
        modes=("xla",),
        tier="full",
    ),
    of.beside("svd", "Svd", Call(_product, Product(of_svd), ((3, 3, 2),)), (_apart,)),
)
