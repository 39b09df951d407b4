"""Claim evidence: the programs of a claim, and the records in which it does not hold."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tf_opdiff.harness.store.records.record import FAILING
from tf_opdiff.reports.analysis.claim_tables.claim_verdicts import REFUTING, overall
from tf_opdiff.reports.data.run_data.plans import in_order, plan_order
from tf_opdiff.reports.text.source_code import listed
from tf_opdiff.reports.text.verdicts import CLAIM_COLUMN_OF, CLAIM_VERDICT_OF, CLAIM_WORD_OF

#: The most records that the page shows as evidence.
MOST = 4
#: How a record writes its simplest element; see `harness.judge.differences.wording.numbers`.
_EXAMPLE = re.compile(r"(?:input (.*), )?got (.*), want (.*)", re.DOTALL)
#: The columns in which records agree that are shown as one.
_SHARED = ("case", "quantity", "kind", "worst_index", "got", "want")


@dataclass(frozen=True)
class ShownElement:
    """An element of a result and of the prediction: its index, its inputs by name, and the two values."""

    index: str
    inputs: list[tuple[str, str]]
    got: str
    want: str


def evidence(records: Iterable[Mapping[str, Any]], claims: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Records in which a claim does not hold, those with the same numbers as one row with all its plans.

    One record counts for each spec and plan: one of float32 or int32 where there is one. `records` have the column
    `plan`, and `claims` has the entries of claims.json about the claim. A row has the columns of a record and `denies`,
    `plans`, `about` (the quantity in words) and `elements`: the worst element and, where it is another one, the
    simplest.
    """
    of_spec = {claim["spec"]: claim for claim in claims}
    refuting = [row for row in records if row["verdict"] in REFUTING]
    of_place: dict[tuple[str, str], Mapping[str, Any]] = {}
    for row in sorted(refuting, key=lambda row: (row["dtype"] not in ("float32", "int32"), row["case"])):
        of_place.setdefault((row["spec"], row["plan"]), row)
    merged: dict[Any, dict[str, Any]] = {}
    for row in of_place.values():
        key = tuple(row[name] for name in _SHARED)
        claim = of_spec.get(row["spec"], {})
        names = claim.get("parameters", [])
        about = {"denies": claim.get("denies", False), "about": _in_words(row["quantity"], names)}
        shown = merged.setdefault(key, {**row, **about, "plans": [], "elements": _elements(row, names)})
        shown["plans"].append(row["plan"])
    for shown in merged.values():
        shown["plans"].sort(key=plan_order)
    return list(merged.values())[:MOST]


def _in_words(quantity: str, names: Sequence[str]) -> str:
    """A quantity in words: `gradient of x` where the program's input has that name."""
    of_gradient = re.fullmatch(r"grad\[(\d{1,3})\]", quantity)
    if of_gradient and int(of_gradient[1]) < len(names):
        return f"gradient of {names[int(of_gradient[1])]}"
    return quantity


def _elements(row: Mapping[str, Any], names: Sequence[str]) -> list[ShownElement]:
    """The elements that a record shows: the simplest and the worst, in the order of their indices."""
    got, want = ("None" if row[name] == "unconnected" else row[name] for name in ("got", "want"))
    elements = [ShownElement(row["worst_index"], _named(row["input"], names), got, want)]
    example = _EXAMPLE.fullmatch(row["example"])
    if example and row["example_index"] != row["worst_index"]:
        elements.insert(0, ShownElement(row["example_index"], _named(example[1] or "", names), example[2], example[3]))
    return elements


def _named(text: str, names: Sequence[str]) -> list[tuple[str, str]]:
    """The inputs in a text such as `0.5, [1, 2]` with their names; without names if their numbers differ."""
    depth, values = 0, [""]
    for letter in text:
        depth += (letter in "[(") - (letter in ")]")
        if letter == "," and not depth:
            values.append("")
        else:
            values[-1] += letter
    if not text:
        return []
    if len(values) != len(names):
        return [("", text)]
    return [(name, value.strip()) for name, value in zip(names, values, strict=True)]


def program(records: Sequence[Mapping[str, Any]], claim: Mapping[str, Any]) -> dict[str, Any]:
    """A program of a claim, with the verdict that its own records give."""
    spec, modes = claim["spec"], ", ".join(claim["modes"])
    first = min(records, key=lambda row: row["dtype"] != "float32", default=None)
    rerun = f"pytest suites --case {first['case']}" if first else f"pytest suites --op {spec}"
    columns = {CLAIM_COLUMN_OF[row["verdict"]] for row in records}
    verdict = overall([CLAIM_VERDICT_OF[column] for column in columns])
    files = {name: listed(text, cpp=True) for name, text in claim["files"].items()}
    facts = {"spec": spec, "modes": modes, "rerun": rerun, "word": CLAIM_WORD_OF.get(verdict, verdict)}
    return facts | {"listing": listed(claim["listing"]), "files": files}


def replacements(
    parts: Sequence[Mapping[str, Any]], records_of: Callable[[str], Sequence[Mapping[str, Any]]]
) -> list[dict[str, Any]]:
    """The programs that give the result which a claim promises in vain, each with the outcome of its records.

    Args:
      parts: the entries of claims.json about the claim.
      records_of: gives the records of a spec.
    """
    specs = dict.fromkeys(claim["instead"] for claim in parts if claim["instead"])
    listings = {claim["instead"]: claim["instead_listing"] for claim in parts}
    return [{"spec": s, "listing": listed(listings[s]), "tested": _outcome(records_of(s))} for s in specs]


def _outcome(records: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """How many records a program has, how many of them fail, and on which plans it ran."""
    plans = in_order(row["plan"] for row in records)
    failing = sum(row["verdict"] in FAILING for row in records)
    return {"records": len(records), "failing": failing, "plans": ", ".join(plans)}
