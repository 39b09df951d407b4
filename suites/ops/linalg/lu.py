"""LU: factors and the order of rows. Errors are those of `suites.reference.factorizations.factors`."""

import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import COMPLEX
from tf_opdiff.harness.spec.plan import WITHOUT_XLA
from tf_opdiff.suites.forms.calls import Call, each
from tf_opdiff.suites.forms.linear_algebra import matrices as of
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.part import part, tiered
from tf_opdiff.suites.reference.factorizations.factors import Order, Packed


def _order(tf, a):
    return tf.raw_ops.Lu(input=a).p


def _long_order(tf, a):
    return tf.raw_ops.Lu(input=a, output_idx_type=tf.int64).p


def _residual(tf, a):
    """The difference between the rows in their order and the product of the factors, and the order itself, sorted."""
    packed, order = tf.raw_ops.Lu(input=a)
    upper = tf.linalg.band_part(packed, 0, -1)
    lower = packed - upper + tf.eye(4, dtype=a.dtype)
    return tf.gather(a, order, batch_dims=1) - lower @ upper, tf.sort(order)


def _calls(shapes):
    """The packed factors and the order of each shape; the order is int64 as well for the first one."""
    orders = {f"{label}_order": Call(_order, Order(), (shape,)) for label, shape in shapes.items()}
    long_order = Call(_long_order, Order("int64"), (next(iter(shapes.values())),))
    return {**each(shapes), **orders, "long_order": long_order}


def _ties(draw, dtype):
    """Matrices of ±1: in a column, every number is as good a pivot as any other."""
    h = np.array([[1, 1], [1, -1]])
    return (np.stack([np.kron(h, h), -np.kron(h, h)[::-1]]).astype(dtype),)


SPECS = op(
    "lu",
    "Lu",
    of.singular(),
    part(
        "-ties",
        program=_residual,
        reference=lambda a: (np.zeros(a.shape), np.broadcast_to(np.arange(4, dtype="int32"), a.shape[:-1])),
        recipes={"ones": _ties},
        constant=("output[0]", "output[1]"),
        unsigned_zeros=("output[0]",),
        loose={},
        lowest_tier=True,
    ),
    program=lambda tf, a: tf.raw_ops.Lu(input=a).lu,
    promise=Packed(),
    calls=_calls(of.MATRICES),
    recipes={"plain": of.ordinary, "graded": of.graded, "exact": of.powers},
    forward={"nan": of.with_nan},
    batch=_calls(of.BATCHES),
    small={label: _calls({"only": shape}) for label, shape in of.SMALL.items()},
    of_small=of.ordinary,
    blocks=_calls(of.WARPS),
    of_blocks=of.ordinary,
    wrong=of.NOT_SQUARE,
    dtypes=tiered(("float32", "float64", *COMPLEX)),
    gradient=False,
    fields={**of.loose(), "modes": WITHOUT_XLA},
    ordinary=of.ELIMINATION | of.NAN_IN_OWN_RECIPES,
)
