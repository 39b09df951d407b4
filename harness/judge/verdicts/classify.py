"""Classify: the verdict on a comparison, from a table of facts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np


@dataclass(frozen=True, kw_only=True)
class Facts:
    """The facts that decide the verdict on one comparison; or, as bool arrays of one length, on several.

    fault       the run proves nothing, because the suite is at fault.
    lacking     the result is an error, because a kernel is missing.
    differs     the result differs from the promise.
    expected    known failures, at this place or of the other plan, explain every element of the difference.
    spent       an entry at this place names a kind or an error code that does not occur.
    excused     the other plan of the comparison is known to fail at this place, and explains what entries here do not.
    contract    the promise is a side of a documented divergence.
    """

    fault: Any = False
    lacking: Any = False
    differs: Any = False
    expected: Any = False
    spent: Any = False
    excused: Any = False
    contract: Any = False


#: Facts, and the verdict if all of them have these values. The first matching row counts.
RULE: tuple[tuple[Mapping[str, bool], str], ...] = (
    ({"fault": True}, "error"),
    ({"lacking": True}, "unavailable"),
    ({"differs": True, "expected": False}, "mismatch"),
    ({"spent": True, "excused": False}, "stale"),
    ({"differs": True}, "known"),
    ({"contract": True}, "contract"),
    ({}, "match"),
)


def classify(facts: Facts) -> str:
    """The verdict on one comparison."""
    return next(verdict for row, verdict in RULE if all(bool(getattr(facts, name)) is so for name, so in row.items()))


def classify_all(facts: Facts) -> np.ndarray:
    """The verdicts on several comparisons, texts of shape (n,); a fact may be one bool for all of them."""
    columns = np.broadcast_arrays(*(np.atleast_1d(getattr(facts, f.name)) for f in fields(facts)))
    named = {f.name: column.astype(bool) for f, column in zip(fields(facts), columns, strict=True)}
    every = np.ones(columns[0].shape, bool)
    holds = [np.logical_and.reduce([every, *(named[name] == so for name, so in row.items())]) for row, _ in RULE]
    return np.select(holds, [verdict for _, verdict in RULE], default="")
