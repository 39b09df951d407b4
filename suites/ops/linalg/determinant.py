"""Determinants. Errors are those of LU, and of logarithms of the pivots: see
`suites.reference.factorizations.determinant`."""

from typing import Any

from tf_opdiff.harness.spec.plan import WITHOUT_XLA
from tf_opdiff.suites.forms.calls import each
from tf_opdiff.suites.forms.linear_algebra import matrices as of
from tf_opdiff.suites.forms.op import also, op
from tf_opdiff.suites.forms.part import part, tiered
from tf_opdiff.suites.reference.factorizations.determinant import Determinant, LogDeterminant


def _singular(promise, **gradient):
    """A part: matrices without an inverse."""
    return part(
        "-singular",
        reference=promise.f,
        recipes=of.of_singular(),
        bound={"output": lambda u, g, a: promise.error(u, a)},
        unsigned_zeros=("output", "grad"),
        loose={},
        lowest_tier=True,
        **gradient,
    )


_OF_BOTH: dict[str, Any] = {
    "arguments": ("input",),
    "calls": each(of.MATRICES),
    "recipes": {"plain": of.ordinary, "graded": of.graded, "exact": of.powers, "upstreams": of.ordinary},
    "upstreams": {"upstreams": of.sent},
    "second": ("plain",),
    "forward": {"nan": of.with_nan},
    "small": each(of.SMALL),
    "of_small": of.ordinary,
    "blocks": each(of.WARPS),
    "of_blocks": of.ordinary,
    "wrong": of.NOT_SQUARE,
    "dtypes": tiered(("float32", "float64")),
    "fields": {**of.loose(), "modes": WITHOUT_XLA},
    "ordinary": of.ELIMINATION | of.NAN_IN_OWN_RECIPES,
}

SPECS = (
    *op(
        "log-matrix-determinant",
        "LogMatrixDeterminant",
        also("-complex", second=("plain",), **of.COMPLEX_WITHOUT_XLA),
        _singular(LogDeterminant()),
        program=lambda tf, a: tf.stack(tf.raw_ops.LogMatrixDeterminant(input=a)),
        promise=LogDeterminant(),
        **_OF_BOTH,
    ),
    *op(
        "matrix-determinant",
        "MatrixDeterminant",
        also("-complex", second=("plain",), **of.COMPLEX_WITHOUT_XLA),
        _singular(Determinant(), vjp=Determinant().vjp),
        promise=Determinant(),
        batch=each(of.BATCHES),
        **_OF_BOTH,
    ),
)
