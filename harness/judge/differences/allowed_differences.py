"""Allowed differences: comparisons whose difference is no mismatch; they tell it, and why it is allowed."""

from __future__ import annotations

from dataclasses import replace

from tf_opdiff.harness.judge.differences.comparison import Comparison
from tf_opdiff.harness.judge.promises.want import Want

#: Why two results that keep the promise may differ, by the kind of their difference.
_SEVERAL = "The promise allows several values: see docs/explanations/conventions.md."
_OPEN = {
    "subnormal": "The promise allows subnormal numbers to be flushed to zero: see docs/explanations/conventions.md.",
    "signed_zero": "The promise leaves the sign of zeros open: see docs/explanations/conventions.md.",
}


def free(comparison: Comparison, want: Want) -> Comparison:
    """The comparison of a result that has no promise: a difference is no mismatch, and the detail tells it."""
    return _allowed(comparison, "nothing is promised, and results differ", want.undocumented)


def open_in_promises(comparison: Comparison) -> Comparison:
    """The comparison of two plans that differ, and whose results both keep their promises."""
    why = _OPEN.get(comparison.kind) or (_OPEN["subnormal"] if comparison.at_edge else _SEVERAL)
    return _allowed(comparison, "both results keep the promise, and they differ", why)


def _allowed(comparison: Comparison, what: str, why: str) -> Comparison:
    """A comparison that is no mismatch, whatever it finds; the detail tells a difference, and `why` is the reason."""
    detail = ": ".join(filter(None, (f"{what} ({comparison.kind})", comparison.detail or comparison.distance)))
    shown = replace(comparison, detail=detail) if comparison.kind else comparison
    return replace(shown, kind="", others=(), undocumented=why)
