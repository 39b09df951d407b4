"""Discrepancy words: the numbers and places of a discrepancy in plain words."""

from __future__ import annotations

import math
from collections.abc import Sequence

from tf_opdiff.harness.spec.plan import PlanName
from tf_opdiff.reports.data.discrepancy import Discrepancy
from tf_opdiff.reports.data.tested_places import TestedPlaces
from tf_opdiff.reports.text import sentence

#: The most plans or dtypes that a sentence names.
NAMED = 4


def numbers(one: Discrepancy) -> str:
    """The numbers of its simplest example: `input -0.5, got -0.0, want -1.0`; else the message; empty without both."""
    record = one.example
    values = record["example"] or sentence.values(record) or record["detail"]
    return str(values if one.verdict in ("known", "mismatch") else record["detail"] or values)


def example_place(one: Discrepancy) -> str:
    """The place of its example: `floor-float32-edges, output[0] on cpu/xla, against numpy`."""
    record = one.example
    plan = str(PlanName(record["device"], record["mode"]))
    against = "" if record["against"] == plan else f", against {record['against']}"
    return f"{record['case']}, {record['quantity']} on {plan}{against}"


def distance(one: Discrepancy) -> str:
    """Its largest distance in words; empty if none was taken, or if only kinds of numbers differ."""
    if math.isnan(one.distance) or one.distance == 0:
        return ""
    return one.distance_words or ("infinite" if math.isinf(one.distance) else f"{sentence.number(one.distance)} ULP")


def extent(one: Discrepancy, tested: TestedPlaces) -> str:
    """Its plans and dtypes, out of those on which its specs were tested: `on cpu/xla (1 of 4 plans), in float32`."""
    plans, dtypes = tested.plans(one.specs), tested.dtypes(one.specs)
    everywhere = set(plans) == set(one.plans) and set(dtypes) == set(one.dtypes)
    places = f"on {some('plan', one.plans, plans)}, in {some('dtype', one.dtypes, dtypes)}"
    return f"everywhere: {places}" if everywhere else places


def some(noun: str, names: Sequence[str], tested: Sequence[str]) -> str:
    """`all 4 plans`, or some names out of several: `cpu/xla (1 of 4 plans)`."""
    if len(tested) > 1 and len(names) == len(tested):
        return f"all {len(tested)} {noun}s"
    shown = ", ".join(names[:NAMED]) + (", …" if len(names) > NAMED else "")
    return shown if len(tested) == 1 else f"{shown} ({len(names)} of {len(tested)} {noun}s)"
