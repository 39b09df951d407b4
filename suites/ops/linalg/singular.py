"""Singular value decompositions. Singular vectors have free signs, or phases: specs promise products of the factors."""

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import COMPLEX
from tf_opdiff.suites.forms.aspects import in_shapes
from tf_opdiff.suites.forms.calls import Call
from tf_opdiff.suites.forms.linear_algebra import matrices as of
from tf_opdiff.suites.forms.op import also, op
from tf_opdiff.suites.forms.part import part, tiered
from tf_opdiff.suites.forms.programs.removed import Removed
from tf_opdiff.suites.reference.factorizations.orthonormal import Orthonormal, columns, rows
from tf_opdiff.suites.reference.factorizations.products import Gram, Product, Projection, of_svd
from tf_opdiff.suites.reference.factorizations.singular import Values

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


def _of_shape(product, *shape):
    """A call of a product of the factors."""
    return Call(product, Product(of_svd), (shape,))


_OF_VALUES = {
    "values_batch": Call(partial(_real_values, vectors=False), Values(real=True), ((2, 3, 3),)),
    "values_tall": Call(_real_values, Values(real=True), ((4, 2),)),
}
_OF_VECTORS = {
    "square_product": _of_shape(_product, 2, 3, 3),
    "full_product": _of_shape(partial(_product, full=True), 3, 2),
    "wide_gram": Call(_gram, Gram(of_svd), ((2, 2, 4),)),
    "tall_projection": Call(_projection, Projection(of_svd), ((1, 4, 2),)),
}
_FULL = {"wide": _of_shape(partial(_product, full=True), 2, 4)}
_VALUES_AND_PRODUCT = {
    "values": Call(_values, Values(), ((2, 3, 3),)),
    "product": _of_shape(_product, 1, 5, 3),
}


def _properties(svd=_svd):
    """What every decomposition has, also of matrices of lower rank."""
    full = {"svd": svd, "full": True}
    return {
        "values": Call(partial(_values, svd=svd, vectors=False), Values(), ((5, 5),)),
        "product": _of_shape(partial(_product, svd=svd), 5, 3),
        "product_full": _of_shape(partial(_product, **full), 2, 2, 4),
        "right": Call(partial(_right, svd=svd), Orthonormal(), ((2, 3, 3),)),
        "left_full": Call(partial(_left, **full), Orthonormal(rows), ((5, 3),)),
        "right_full": Call(partial(_right, **full), Orthonormal(columns), ((1, 2, 4),)),
    }


def _small(calls, *labels):
    """Some of these calls, of matrices without elements, and with one."""
    return {
        label: {name: replace(calls[name], shapes=(shape,)) for name in labels}
        for label, shape in of.SMALL_TALL.items()
    }


def _apart(draw, dtype, *shape):
    """Matrices of ordinary condition whose singular values have gaps."""
    wide = np.dtype("complex128" if dtype.kind == "c" else "float64")
    return (draw.values(wide, *shape) / 8 + np.eye(*shape[-2:]) * (1.0 + np.arange(shape[-1]))).astype(dtype)


def _scaled(exponent):
    """Matrices of ordinary condition times a power of two."""
    return lambda draw, dtype, *shape: (_apart(draw, dtype, *shape) * 2.0**exponent).astype(dtype)


_SPECIAL = {"graded": of.in_sizes(_apart), "rank_one": of.dependent(_apart), "identity": of.identity, "zero": of.zero}
_GRADIENTS: dict[str, Any] = {"recipes": {"plain": _apart, "upstreams": _apart}, "second": ("plain",)}
_EVERY: dict[str, Any] = {"recipes": {"plain": _apart, **_SPECIAL}, "gradient": False, "second": ()}
_OF_PROPERTIES = ("values", "product", "left_full", "right_full")
#: Groups of calls, and what is promised of them.
_GROUPS: dict[str, dict[str, Any]] = {
    "": {"calls": _OF_VALUES, **_GRADIENTS, "forward": {"nan": of.ending_in_nan(_apart)}},
    "-vectors": {"calls": _OF_VECTORS, **_GRADIENTS},
    "-full-gradient": {"calls": _FULL, "recipes": {"plain": _apart}},
    "-properties": {"calls": _properties(), **_EVERY},
}
_SIZES = {"-vectors": _small(_properties(), "product"), "-properties": _small(_properties(), *_OF_PROPERTIES)}

SPECS = (
    *op(
        "batch-svd",
        "BatchSvd",
        calls=_properties(_removed),
        small=_small(_properties(_removed), *_OF_PROPERTIES),
        of_small=_apart,
        dtypes=tiered(("float32", "float64", *COMPLEX)),
        fields=_REMOVED.fields | of.loose(2**12, second=2**21),
        **_EVERY,
        ordinary=of.ITERATION,
    ),
    *op(
        "svd",
        "Svd",
        *(also(label, small=_SIZES.get(label, {}), **group) for label, group in _GROUPS.items() if label),
        *(also(f"{label}-complex", **of.COMPLEX_WITHOUT_XLA | group) for label, group in _GROUPS.items()),
        also("-of-xla", **_EVERY, calls={"product": _of_shape(_product, 2, 2)}, dtypes=("float16",), **of.OF_XLA),
        also(
            "-scaled",
            calls=_VALUES_AND_PRODUCT,
            recipes={"tiny": _scaled(-40), "huge": _scaled(80)},
            gradient=False,
        ),
        part(
            "-finite-of-xla",
            program=_finite,
            reference=lambda a: np.ones(a.shape, bool),
            recipes=in_shapes({"plain": (3, 3)}, _apart) | in_shapes({"rank_one": (3, 3)}, of.dependent(_apart)),
            dtypes=("float16",),
            loose={},
            **of.OF_XLA,
        ),
        of.next_to_special(_of_shape(_product, 3, 3, 2), _apart),
        program=_values,
        small=_small(_properties(), "values"),
        of_small=_apart,
        upstreams={"upstreams": of.sent},
        wrong=of.NOT_MATRICES,
        dtypes=tiered(("float32", "float64")),
        fields=of.loose(2**12, second=2**21),
        **_GROUPS[""],
        ordinary=of.ITERATION,
    ),
)
