"""Claim lines: the tables of verdicts on one claim, with a line for each TensorFlow version."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from tf_opdiff.harness.spec.claim import INEXPRESSIBLE
from tf_opdiff.harness.spec.plan import PlanName
from tf_opdiff.reports.analysis.claim_tables.claim_store import HASHES
from tf_opdiff.reports.analysis.claim_tables.claim_verdicts import COUNTS, KEYS, overall
from tf_opdiff.reports.analysis.claim_tables.claim_words import Words, version_order
from tf_opdiff.reports.data.run_data.plans import in_order, plan_order
from tf_opdiff.reports.data.run_data.rows import rows as rows_of
from tf_opdiff.reports.text.verdicts import CLAIM_WORDS

_PLACE = ("tf", "device", "mode", "verdict")
_UNTESTED = ("unavailable", "faulty")
#: Stands in place of a verdict on another version of the program, its inputs or its prediction.
OLDER = "of an older program"


@dataclass
class Cell:
    """The word on a claim under one plan with one version; `counts` says how many records say what."""

    plan: str
    word: str
    counts: str


@dataclass
class Line:
    """The cells of one version; for verdicts of another run, its date and its machine."""

    tf: str
    cells: list[Cell]
    date: str = ""
    machine: str = ""


def lines(verdicts: Sequence[Mapping[str, Any]], words: Words, *origin: str) -> tuple[list[str], list[Line]]:
    """The plans of some verdicts, and a line for each version, the newest first.

    With the columns `origin`, there is a line for each version and origin. Without, the plans that cannot express the
    claim have cells, too.
    """
    modes = () if origin else words.other_modes
    others = {str(PlanName(device, mode)) for device in {row["device"] for row in verdicts} for mode in modes}
    by_source: dict[tuple[str, ...], dict[str, Mapping[str, Any]]] = {}
    for row in verdicts:
        source = tuple(row[name] for name in ("tf", *origin))
        by_source.setdefault(source, {})[_plan_of(row)] = row
    names = in_order([*map(_plan_of, verdicts), *others])
    table = []
    for (tf, *made_by), rows in sorted(by_source.items()):
        cells = [_cell(plan, rows.get(plan), words, expressible=plan not in others) for plan in names]
        table.append(Line(tf, cells, *made_by))
    return names, sorted(table, key=lambda line: version_order(line.tf), reverse=True)


def _plan_of(row: Mapping[str, Any]) -> str:
    return str(PlanName(row["device"], row["mode"]))


def _cell(plan: str, row: Mapping[str, Any] | None, words: Words, *, expressible: bool) -> Cell:
    if row is None:
        return Cell(plan, "", "no record") if expressible else Cell(plan, INEXPRESSIBLE, "no program has this mode")
    counts = {name: row[name] for name in COUNTS if row[name]}
    word = words.of_plan(row["tf"], row["device"], row["mode"], row["verdict"])
    return Cell(plan, word, ", ".join(f"{n:,} {name}" for name, n in counts.items()))


def elsewhere(
    others: pd.DataFrame, own: pd.DataFrame, claims: Sequence[Mapping[str, Any]]
) -> dict[str, list[dict[str, Any]]]:
    """For each claim the verdicts of other runs for versions and plans that this run lacks.

    A row has the columns of `own`, this run's verdicts, and `made` and `machine`. `verdict` is `OLDER` where the
    program, its inputs or the prediction have changed since.
    """
    current = {(claim["id"], claim["spec"], *(claim.get(name) for name in HASHES)) for claim in claims}
    present = set(own[KEYS].itertuples(index=False, name=None))
    keys = (*KEYS, "made", "machine")
    groups: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for row in rows_of(others):
        groups.setdefault(tuple(row[name] for name in keys), []).append(row)
    by_claim: dict[str, list[dict[str, Any]]] = {}
    for key, some in sorted(groups.items()):
        if key[: len(KEYS)] in present:
            continue
        is_current = all(tuple(row[name] for name in ("claim", "spec", *HASHES)) in current for row in some)
        verdict = overall([row["verdict"] for row in some]) if is_current else OLDER
        counts = {name: sum(int(row[name]) for row in some) for name in COUNTS}
        merged = {**dict(zip(keys, key, strict=True)), "verdict": verdict, **counts}
        by_claim.setdefault(key[keys.index("claim")], []).append(merged)
    return by_claim


def where(verdicts: Sequence[Mapping[str, Any]], words: Words) -> str:
    """The plans on which a claim has each word, such as `confirmed: cpu/graph; false: cpu/eager`; empty if all agree.

    The versions of TensorFlow are named where the word depends on them.
    """
    places = [(_plan_of(row), row["tf"], words.of_plan(*(row[k] for k in _PLACE))) for row in verdicts]
    by_plan: dict[str, set[str]] = {}
    for plan, _, word in places:
        by_plan.setdefault(plan, set()).add(word)
    depends_on_version = len({tf for _, tf, _ in places}) > 1 and any(len(some) > 1 for some in by_plan.values())
    parts: dict[str, set[tuple[str, str]]] = {}
    for plan, tf, word in places:
        parts.setdefault(word, set()).add((plan, tf if depends_on_version else ""))
    texts = []
    for word in (word for word in CLAIM_WORDS if word in parts and word not in _UNTESTED):
        in_text = sorted(parts[word], key=lambda place: (plan_order(place[0]), place[1]))
        texts.append(f"{word}: " + ", ".join(f"{plan} with {tf}" if tf else plan for plan, tf in in_text))
    return "; ".join(texts) if len(texts) > 1 else ""
