"""QR: an orthonormal factor and a triangular one. Signs are free, so specs promise products of the factors."""

from functools import partial

import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import COMPLEX
from tf_opdiff.suites.forms.calls import Call
from tf_opdiff.suites.forms.linear_algebra import matrices as of
from tf_opdiff.suites.forms.op import also, op
from tf_opdiff.suites.forms.part import tiered
from tf_opdiff.suites.forms.recipes.ordinary import not_finite
from tf_opdiff.suites.reference.factorizations.orthonormal import Factors, rows
from tf_opdiff.suites.reference.factorizations.products import Gram, Product, Projection, of_qr


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


_TALL = {"square": (4, 4), "tall": (5, 3), "batch": (2, 3, 2), "batch_of_one": (1, 3, 3)}.items()
_WIDE = {"wide": (3, 5), "wide_batch": (2, 2, 3)}.items()
_EVERY = {"square": (3, 3), "tall": (5, 3), "batch": (2, 3, 2), "wide": (3, 5), "wide_batch": (2, 1, 2, 3)}.items()
_ONE_FACTOR = {
    "projection": Call(_projection, Projection(of_qr), ((2, 4, 2),)),
    "gram": Call(_gram, Gram(of_qr), ((3, 3),)),
}
_PROPERTIES = {
    "recipes": {
        "plain": _independent,
        "graded": of.in_sizes(_independent),
        "rank_one": of.dependent(_independent),
        "zero": of.zero,
    },
    "of_small": _independent,
    "dtypes": tiered(("float32", "float16", "float64", *COMPLEX)),
    "gradient": False,
}


def _properties_of(full):
    """The calls of both forms, of all shapes, and of small ones."""
    small = {label: _properties([("only", shape)], full) for label, shape in of.SMALL_TALL.items()}
    return {**_PROPERTIES, "calls": _properties(_EVERY, full), "small": small}


_REST = tiered(("float32", "float64", *COMPLEX))
SPECS = op(
    "qr",
    "Qr",
    also("-factors", calls=_ONE_FACTOR, recipes={"plain": _independent}, dtypes=_REST, second=("plain",)),
    also("-properties", **_properties_of(full=False)),
    also("-properties-full", **_properties_of(full=True)),
    also("-wide", calls=_calls(_WIDE), recipes={"plain": _independent}, dtypes=_REST),
    of.next_to_special(Call(_product, Product(of_qr), ((3, 3, 2),)), _independent),
    program=_gram,
    calls=_calls(_TALL),
    recipes={"plain": _independent, "upstreams": _independent},
    small={label: _calls([("only", shape)]) for label, shape in of.SMALL_TALL.items()},
    of_small=_independent,
    upstreams={"upstreams": of.sent},
    wrong=of.NOT_MATRICES,
    # TensorFlow's gradient needs known shapes.
    changed=lambda spec: None if spec.execution.unknown_shapes and spec.derivatives.vjp else spec,
    # A CPU has no kernel of the gradient in float16, and XLA has.
    dtypes=tiered(("float32", "float16", "float64", *COMPLEX)),
    fields=of.loose(2**13, second=2**14),
    ordinary=not_finite("0", "a reflection adds up a column, and nothing documents which factors NaN in it reaches"),
)
