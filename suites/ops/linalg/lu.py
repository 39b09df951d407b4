"""LU: factors and the order of rows. Errors are those of `suites.reference.factors`."""

import numpy as np

from tf_opdiff.harness.spec.plan import WITHOUT_XLA
from tf_opdiff.harness.spec.recipes import COMPLEX
from tf_opdiff.harness.spec.spec import Spec
from tf_opdiff.suites.forms import matrices as of
from tf_opdiff.suites.forms.calls import Call, Wrong
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.part import tiered
from tf_opdiff.suites.reference.factors import Order, Packed


def _packed(tf, a):
    return tf.raw_ops.Lu(input=a).lu


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
    calls = {label: Call(_packed, Packed(), (shape,)) for label, shape in shapes.items()}
    orders = {f"{label}_order": Call(_order, Order(), (shape,)) for label, shape in shapes.items()}
    return calls | orders | {"long_order": Call(_long_order, Order("int64"), (next(iter(shapes.values())),))}


def _ties(draw, dtype):
    """Matrices of ±1: in a column, every number is as good a pivot as any other."""
    h = np.array([[1, 1], [1, -1]])
    return (np.stack([np.kron(h, h), -np.kron(h, h)[::-1]]).astype(dtype),)


SPECS = (
    *op(
        "lu",
        "Lu",
        calls=_calls(of.MATRICES),
        recipes={"plain": (of.ordinary,), "graded": (of.graded,), "exact": (of.powers,)},
        forward={"nan": (of.with_nan,)},
        batch=_calls(of.BATCHES),
        small={label: _calls({"only": shape}) for label, shape in of.SMALL.items()},
        of_small=(of.ordinary,),
        wrong={label: Wrong(_packed, (shape,)) for label, shape in of.NOT_SQUARE.items()},
        dtypes=tiered(("float32", "float64", *COMPLEX)),
        gradient=False,
        fields={**of.LOOSE, "modes": WITHOUT_XLA},
    ),
    of.singular("lu", "Lu", _packed, modes=WITHOUT_XLA),
    Spec(
        name="lu-ties",
        ops="Lu",
        program=_residual,
        reference=lambda a: (np.zeros(a.shape), np.broadcast_to(np.arange(4, dtype="int32"), a.shape[:-1])),
        recipes={"ones": _ties},
        modes=WITHOUT_XLA,
        constant=("output[0]", "output[1]"),
        unsigned_zeros=("output[0]",),
    ),
)
