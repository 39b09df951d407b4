"""QR: an orthonormal factor and a triangular one. Signs are free, so specs promise products of the factors."""

from functools import partial

import numpy as np

from tf_opdiff.harness.spec.recipes import COMPLEX
from tf_opdiff.suites.forms import matrices as of
from tf_opdiff.suites.forms.calls import Call, Wrong
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.part import tiered
from tf_opdiff.suites.reference.orthonormal import Factors, rows
from tf_opdiff.suites.reference.products import Gram, Product, Projection, of_qr


def _factors(tf, a, full=False):
    return tf.raw_ops.Qr(input=a, full_matrices=full)


def _product(tf, a, full=False):
    q, r = _factors(tf, a, full)
    return q @ r


def _gram(tf, a, full=False):
    _, r = _factors(tf, a, full)
    return tf.matmul(r, r, adjoint_a=True)


def _projection(tf, a):
    q, _ = _factors(tf, a)
    return tf.matmul(q, q, adjoint_b=True)


def _both_factors(tf, a, full=False):
    """Qᴴ Q beside the strictly lower triangle of R."""
    q, r = _factors(tf, a, full)
    return tf.concat([tf.matmul(q, q, adjoint_a=True), r - tf.linalg.band_part(r, 0, -1)], -1)


def _calls(shapes):
    """The product of both factors, and of R alone, of every second shape."""
    kinds = ((_product, Product(of_qr)), (_gram, Gram(of_qr)))
    return {label: Call(*kinds[i % 2], (shape,)) for i, (label, shape) in enumerate(shapes)}


def _properties(shapes, full=False):
    """What every decomposition has, also of matrices whose columns depend on each other."""
    product, factors = (partial(call, full=full) for call in (_product, _both_factors))
    promise = Factors(rows if full else min)
    return {
        **{f"{label}_product": Call(product, Product(of_qr), (shape,)) for label, shape in shapes},
        **{f"{label}_factors": Call(factors, promise, (shape,)) for label, shape in shapes},
    }


def _independent(draw, dtype, *shape):
    """Matrices whose columns, or rows, are independent, of ordinary condition."""
    wide = np.dtype("complex128" if dtype.kind == "c" else "float64")
    turned = np.roll(np.eye(*shape[-2:]), shape[-1] == shape[-2], axis=0)
    return (draw.values(wide, *shape) / 4 + 2 * turned).astype(dtype)


def _graded(draw, dtype, *shape):
    """The same with columns of various sizes."""
    return (_independent(draw, dtype, *shape) * 4.0 ** (np.arange(shape[-1]) % 4)).astype(dtype)


def _dependent(draw, dtype, *shape):
    """Matrices of rank one, whose columns are exact multiples of the first."""
    return (_independent(draw, dtype, *shape)[..., :1] * (2.0 ** np.arange(shape[-1]))).astype(dtype)


def _zero(draw, dtype, *shape):
    return np.zeros(shape, dtype)


_TALL = {"square": (4, 4), "tall": (5, 3), "batch": (2, 3, 2), "batch_of_one": (1, 3, 3)}.items()
_WIDE = {"wide": (3, 5), "wide_batch": (2, 2, 3)}.items()
_EVERY = {"square": (3, 3), "tall": (5, 3), "batch": (2, 3, 2), "wide": (3, 5), "wide_batch": (2, 1, 2, 3)}.items()
_ONE_FACTOR = {
    "projection": Call(_projection, Projection(of_qr), ((2, 4, 2),)),
    "gram": Call(_gram, Gram(of_qr), ((3, 3),)),
}
_SMALL = {"one": (1, 1), "none": (0, 0), "no_matrices": (0, 3, 2), "no_rows": (0, 3), "no_columns": (3, 0)}
_NOT_MATRICES = {label: shape for label, shape in of.NOT_SQUARE.items() if len(shape) < 2}
_REST = ("float64", *COMPLEX)
SPECS = (
    *op(
        "qr",
        "Qr",
        calls=_calls(_TALL),
        recipes={"plain": (_independent,), "upstreams": (_independent,)},
        small={label: _calls([("only", shape)]) for label, shape in _SMALL.items()},
        of_small=(_independent,),
        upstreams={"upstreams": of.sent},
        wrong={label: Wrong(_gram, (shape,)) for label, shape in _NOT_MATRICES.items()},
        dtypes=tiered(("float32", "float16", *_REST)),  # a CPU has no kernel of the gradient in float16, and XLA has
        fields=of.LOOSE,
        without={"unknown-shape": "TensorFlow's gradient needs known shapes"},
    ),
    *(
        spec
        for label, full in (("", False), ("-full", True))
        for spec in op(
            f"qr-properties{label}",
            "Qr",
            calls=_properties(_EVERY, full),
            recipes={"plain": (_independent,), "graded": (_graded,), "rank_one": (_dependent,), "zero": (_zero,)},
            small={label: _properties([("only", shape)], full) for label, shape in _SMALL.items()},
            of_small=(_independent,),
            dtypes=tiered(("float32", "float16", *_REST)),
            gradient=False,
            fields=of.LOOSE,
        )
    ),
    *op(
        "qr-factors",
        "Qr",
        calls=_ONE_FACTOR,
        recipes={"plain": (_independent,)},
        dtypes=tiered(("float32", *_REST)),
        second=("plain",),
        fields=of.LOOSE,
    ),
    *op(
        "qr-wide",
        "Qr",
        calls=_calls(_WIDE),
        recipes={"plain": (_independent,)},
        dtypes=tiered(("float32", *_REST)),
        fields=of.LOOSE,
    ),
    of.beside("qr", "Qr", Call(_product, Product(of_qr), ((3, 3, 2),)), (_independent,)),
)
