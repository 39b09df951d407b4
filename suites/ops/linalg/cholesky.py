"""Cholesky: errors are those of the exact factor of a changed matrix: see `suites.reference.cholesky`."""

import numpy as np

from tf_opdiff.harness.spec.plan import without_modes
from tf_opdiff.harness.spec.recipes import COMPLEX
from tf_opdiff.harness.spec.spec import Spec
from tf_opdiff.suites.forms import matrices as of
from tf_opdiff.suites.forms.calls import Call, Wrong
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.part import tiered
from tf_opdiff.suites.reference.cholesky import Cholesky


def _factor(tf, a):
    return tf.raw_ops.Cholesky(input=a)


def _of(shape):
    return Call(_factor, Cholesky(), (shape,))


def _has_nan(tf, a):
    """Whether the lower triangle of each factor has a NaN."""
    lower = tf.linalg.band_part(_factor(tf, a), -1, 0)
    return tf.reduce_any(tf.not_equal(lower, lower), axis=[-2, -1])


def _above_diagonal(tf, a):
    """The numbers above the diagonal of factors whose input is a temporary tensor."""
    above = tf.linalg.band_part(_factor(tf, a + a), 0, -1)
    return tf.linalg.set_diag(above, tf.zeros_like(a[0]))


_SECOND = {"calls": {label: _of(shape) for label, shape in of.MATRICES.items()}, "second": ("plain",)}

SPECS = (
    *op(
        "cholesky",
        "Cholesky",
        recipes={"plain": (of.definite,), "unread": (of.definite_below,), "upstreams": (of.definite,)},
        batch={label: _of(shape) for label, shape in of.BATCHES.items()},
        small={label: {"only": _of(shape)} for label, shape in of.SMALL.items()},
        of_small=(of.definite,),
        upstreams={"upstreams": of.sent},
        wrong={label: Wrong(_factor, (shape,)) for label, shape in of.NOT_SQUARE.items()},
        dtypes=tiered(("float32", "float64", *COMPLEX)),
        fields=of.LOOSE,
        **_SECOND,
    ),
    *op(
        "cholesky-of-xla",
        "Cholesky",
        calls=_SECOND["calls"],
        recipes={"plain": (of.definite,)},
        gradient=False,  # in 16 bits, its errors may be as large as itself
        fields=of.IN_XLA_ALONE | {"dtypes": ("float16",)},
    ),
    of.beside("cholesky", "Cholesky", _of((3, 2, 2)), (of.definite,)),
    *(
        Spec(
            name=f"cholesky-indefinite{suffix}",
            ops="Cholesky",
            program=_has_nan,
            reference=lambda a: np.array([False, True, True]),
            recipes={
                "plain": lambda draw, dtype: (np.array([[[2, 1], [1, 3]], [[1, 2], [2, 1]], [[0, 0], [0, 0]]], dtype),)
            },
            dtypes=dtypes,
            tier=tier,
        )
        for suffix, dtypes, tier in (("", ("float32",), "default"), ("-other", ("float64", *COMPLEX), "full"))
    ),
    Spec(
        name="cholesky-indefinite-above",
        ops="Cholesky",
        program=_above_diagonal,
        reference=lambda a: np.zeros(a.shape),
        recipes={"plain": of.these((1, 2), (2, 1))},
        modes=without_modes("eager"),
        constant=("output[0]",),
    ),
)
