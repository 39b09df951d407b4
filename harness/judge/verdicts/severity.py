"""Severity: how much a discrepancy can cost a user, by a stated rule.

A discrepancy has the first severity of the table whose rule applies to one of its dtypes and plans.

Ordinary programs meet 0, and finite numbers from 1e-9 to 1e9 in magnitude, as far as they are normal numbers of the
dtype. They do not meet -0, NaN, infinities and subnormal numbers, nor numbers that share more than half of their bits
with a pole or with an end of the function's domain. A result next to the largest number of the dtype counts like such
an input. Integers, truth values, texts and shapes are ordinary where the documentation allows them.

Elements that are subnormal or within a few ULPs of the smallest normal number, or have such an input, do not count:
many devices flush there, which changes an element by its whole size (`harness.judge.differences.edge`). Where no other
element differs, the special value is wrong.

A rounding at 1, such as that of `exp(x) - 1`, is an error of accuracy even where the result is so small that none of
its bits is right.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import ml_dtypes
import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import COMPLEX, is_float
from tf_opdiff.harness.spec.kinds import KIND
from tf_opdiff.harness.spec.quantity import family_of


@dataclass(frozen=True)
class Severity:
    """One severity: its name in files and columns, its title for readers, and the rule that assigns it."""

    name: str
    title: str
    rule: str


_TABLE = (
    Severity(
        "memory",
        "memory, crash or hang",
        "TensorFlow returns memory that it did not write, changes an input, ends the process, or does not return.",
    ),
    Severity(
        "wrong_value",
        "silently wrong value",
        "Without an error, TensorFlow returns a value with less than half of its bits right, a NaN or an infinity "
        "instead of a number, or a wrong shape or dtype, for inputs that ordinary programs meet.",
    ),
    Severity(
        "wrong_gradient",
        "wrong gradient",
        "Without an error, TensorFlow returns a gradient with less than half of its bits right, a NaN or an infinity "
        "instead of a number, or a gradient that is missing, zero, dense or sparse where another was promised, for "
        "inputs that ordinary programs meet.",
    ),
    Severity(
        "error",
        "error against value",
        "One side raises an error, and the other side returns a value.",
    ),
    Severity(
        "special_value",
        "wrong special value",
        "A NaN, an infinity, the sign of a zero or a subnormal number is wrong; or a value or a gradient has less than "
        "half of its bits right only for inputs that ordinary programs do not meet.",
    ),
    Severity(
        "accuracy",
        "accuracy",
        "The error exceeds the budget, and at least half of the bits are right, or the value is small and the error is "
        "a few roundings at 1; or two runs round differently.",
    ),
    Severity(
        "convention",
        "convention",
        "Two conventions differ, and each can be defended: the code of an error, or a value where mathematics or the "
        "documentation leaves a choice.",
    ),
)

#: Severities by name, the most severe first.
SEVERITIES = {severity.name: severity for severity in _TABLE}


def of_difference(kind: str, quantity: str, max_ulp: float, dtype: str, *, at_edge: bool = False) -> str:
    """The name of the severity of a difference that nobody has explained; empty for a fault of the suite.

    The kind alone decides where `harness.spec.kinds` says so. Whoever explains the difference states the severity of
    its cause, and knows more: which inputs are ordinary.

    Args:
      kind: one of `harness.spec.kinds.KINDS`.
      quantity: the compared quantity, such as `grad[0]`.
      max_ulp: the largest distance of the elements that count, in ULPs of the result's dtype; NaN if it was not taken.
      dtype: the name of the result's dtype.
      at_edge: whether all elements that differ are at the edge of the normal numbers.
    """
    if kind in ("", "reference"):
        return ""
    if at_edge and kind == "gradient_status":
        return "special_value"
    if kind in KIND and KIND[kind].severity:
        return KIND[kind].severity
    if not _mostly_wrong(max_ulp, dtype):
        return "accuracy"
    if at_edge:
        return "special_value"
    return "wrong_value" if family_of(quantity) == "output" else "wrong_gradient"


def _mostly_wrong(max_ulp: float, dtype: str) -> bool:
    """Whether less than half of a value's bits are right: it is off by more than 2^(p/2) ULPs, p the precision.

    An integer, a truth value or a text is either right or wrong. A distance that was not taken counts as far.
    """
    if math.isnan(max_ulp) or not (dtype in COMPLEX or (dtype and is_float(np.dtype(dtype)))):
        return True
    return max_ulp > half_of_bits(np.dtype(dtype))


def half_of_bits(dtype: np.dtype) -> float:
    """The distance in ULPs beyond which less than half of the bits of a float or complex number are right."""
    return float(2.0 ** ((ml_dtypes.finfo(dtype).nmant + 1) / 2))
