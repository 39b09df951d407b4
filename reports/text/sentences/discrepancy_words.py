"""Discrepancy words: the numbers and places of a discrepancy in plain words."""

from __future__ import annotations

import math
from collections.abc import Sequence

from tf_opdiff.harness.spec.plan import PlanName
from tf_opdiff.reports.data.causes.discrepancy import Discrepancy
from tf_opdiff.reports.data.figures.tested_places import TestedPlaces
from tf_opdiff.reports.text.sentences import sentence

#: The most plans or dtypes that a sentence names.
NAMED = 4
#: The largest distance, in ULPs, that a sentence gives.
FAR = 1e6


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


def of_programs(one: Discrepancy) -> list[str]:
    """What its cause says of the programs that meet it, a sentence each: first whether a later version fixes it."""
    sentences = {
        f"Fixed upstream by {one.fixed}, in a later version than the one of this run.": one.fixed,
        "Only for arguments that the documentation does not allow.": one.arguments == "invalid",
        "A raw op only: no public function reaches it.": one.raw_op_only,
    }
    return [sentence for sentence, holds in sentences.items() if holds]


def distance(one: Discrepancy) -> str:
    """Its largest distance in words; empty if none was taken, or if it says less than the example.

    Distances of different kinds of differences can't be compared. Nor does a number of ULPs beyond `FAR` tell more than
    that no digit is right.
    """
    if math.isnan(one.distance) or one.distance == 0 or set(one.kinds) - {"value", "position"}:
        return ""
    return one.distance_words or (f"{sentence.number(one.distance)} ULP" if one.distance <= FAR else "")


def extent(one: Discrepancy, tested: TestedPlaces) -> str:
    """Its plans and dtypes, out of those on which its specs were tested: `on cpu/xla (1 of 4 plans), in float32`."""
    plans, dtypes = tested.plans(one.specs), tested.dtypes(one.specs)
    everywhere = set(plans) == set(one.plans) and set(dtypes) == set(one.dtypes)
    unlike = ", but not alike" if one.disagree and len(plans) > 1 and set(plans) == set(one.plans) else ""
    places = f"on {some('plan', one.plans, plans)}{unlike}, in {some('dtype', one.dtypes, dtypes)}"
    return f"everywhere: {places}" if everywhere and not unlike else places


def some(noun: str, names: Sequence[str], tested: Sequence[str]) -> str:
    """`all 4 plans`, or some names out of several: `cpu/xla (1 of 4 plans)`."""
    if len(tested) > 1 and len(names) == len(tested):
        return f"both {noun}s" if len(tested) == 2 else f"all {len(tested)} {noun}s"
    shown = ", ".join(names[:NAMED]) + (", …" if len(names) > NAMED else "")
    return shown if len(tested) == 1 else f"{shown} ({len(names)} of {len(tested)} {noun}s)"
