"""Cholesky: errors are those of the exact factor of a changed matrix: see
`suites.reference.factorizations.cholesky`."""

import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import COMPLEX
from tf_opdiff.harness.spec.plan import without_modes
from tf_opdiff.suites.forms.calls import call, each
from tf_opdiff.suites.forms.linear_algebra import matrices as of
from tf_opdiff.suites.forms.op import also, op
from tf_opdiff.suites.forms.part import part, tiered
from tf_opdiff.suites.reference.factorizations.cholesky import Cholesky


def _has_nan(tf, a):
    """Whether the lower triangle of each factor has a NaN."""
    lower = tf.linalg.band_part(tf.raw_ops.Cholesky(input=a), -1, 0)
    return tf.reduce_any(tf.not_equal(lower, lower), axis=[-2, -1])


def _above_diagonal(tf, a):
    """The numbers above the diagonal of factors whose input is a temporary tensor."""
    above = tf.linalg.band_part(tf.raw_ops.Cholesky(input=a + a), 0, -1)
    return tf.linalg.set_diag(above, tf.zeros_like(a[0]))


def _first_column(tf, a):
    """The first column of the factor."""
    return tf.linalg.cholesky(a)[..., :1]


SPECS = op(
    "cholesky",
    "Cholesky",
    # In 16 bits, the errors of a gradient may be as large as itself.
    also("-of-xla", recipes={"plain": of.definite}, gradient=False, dtypes=("float16",), **of.OF_XLA),
    of.next_to_special(call((3, 2, 2)), of.definite),
    part(
        "-indefinite",
        program=_has_nan,
        reference=lambda a: np.array([False, True, True]),
        recipes={"plain": of.these(((2, 1), (1, 3)), ((1, 2), (2, 1)), ((0, 0), (0, 0)))},
        loose={},
    ),
    part(
        "-indefinite-above",
        program=_above_diagonal,
        reference=lambda a: np.zeros(a.shape),
        recipes={"plain": of.these((1, 2), (2, 1))},
        modes=without_modes("eager"),
        constant=("output[0]",),
        loose={},
        lowest_tier=True,
    ),
    part(
        "-infinite",  # the root of an infinite pivot is infinite, and what stands below it is 0
        program=_first_column,
        reference=lambda a: np.where(np.isinf(a[..., :1]), a[..., :1], 0),
        recipes={"plain": of.these(((np.inf, 1), (1, 2)), ((np.inf, 0), (0, 3)))},
        loose={},
        lowest_tier=True,
    ),
    promise=Cholesky(),
    calls=each(of.MATRICES),
    recipes={"plain": of.definite, "unread": of.unread(of.definite), "upstreams": of.definite},
    upstreams={"upstreams": of.sent},
    second=("plain",),
    batch=each(of.BATCHES),
    small=each(of.SMALL),
    of_small=of.definite,
    blocks=each(of.WARPS),
    of_blocks=of.definite,
    wrong=of.NOT_SQUARE,
    dtypes=tiered(("float32", "float64", *COMPLEX)),
    fields=of.loose(),
    ordinary=of.NOT_DEFINITE,
)
