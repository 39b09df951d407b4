"""Row severity: the severity that the numbers of one record show, without regard to its cause."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache
from typing import Any

from tf_opdiff.harness.judge.differences.wording import ulps_in
from tf_opdiff.harness.judge.verdicts.severity import of_difference

#: The severities of wrong numbers.
_WRONG = ("wrong_value", "wrong_gradient")


def severity_of_row(row: Mapping[str, Any]) -> str:
    """The severity of a record: the recorded one if nobody has explained it, else the one by the rule.

    `row` has the columns of a record.
    """
    if row["verdict"] != "known" and row["severity"]:
        return str(row["severity"])
    return _by_rule(row["kind"], row["quantity"], distance_of_row(row), row["dtype"])


def shows(row: Mapping[str, Any], severity: str) -> bool:
    """Whether the numbers of a record fit a severity, so that the record can illustrate a group of that severity.

    A NaN or an infinity in place of a number fits a wrong value and a wrong gradient: the rule does not know which
    inputs are ordinary, and the cause does.
    """
    own = severity_of_row(row)
    if own == severity or row["verdict"] != "known":
        return own == severity
    return severity in _WRONG and (own in _WRONG or row["kind"] in ("nan", "inf"))


def distance_of_row(row: Mapping[str, Any]) -> float:
    """The distance of the worst element that a record shows, in ULPs, or else the largest one of all elements.

    A record does not show elements at the edge of the normal numbers beside others; see
    `harness.judge.differences.edge`.
    """
    shown = ulps_in(row["distance"])
    return float(row["max_ulp"]) if math.isnan(shown) else shown


@cache
def _by_rule(kind: str, quantity: str, max_ulp: float, dtype: str) -> str:
    """`harness.judge.verdicts.severity.of_difference`; a dtype that NumPy does not know counts as one that is not
    floating."""
    try:
        return of_difference(kind, quantity, max_ulp, dtype)
    except (TypeError, ValueError):
        return of_difference(kind, quantity, max_ulp, "")
