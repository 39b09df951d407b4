"""Claim lines: the tables of verdicts on one claim, with a line for each TensorFlow version."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from tf_opdiff.harness.spec.claim import INEXPRESSIBLE
from tf_opdiff.harness.spec.plan import PlanName
from tf_opdiff.reports.analysis.claim_store import HASHES
from tf_opdiff.reports.analysis.claim_verdicts import COLUMNS, COUNTS, KEYS, overall
from tf_opdiff.reports.analysis.claim_words import Words, version_order
from tf_opdiff.reports.data import tables
from tf_opdiff.reports.data.plans import in_order, plan_order, plans
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


def lines(verdicts: pd.DataFrame, words: Words, *origin: str) -> tuple[list[str], list[Line]]:
    """The plans of some verdicts, and a line for each version, the newest first.

    With the columns `origin`, there is a line for each version and origin. Without, the plans that cannot express the
    claim have cells, too.
    """
    if not len(verdicts):
        return [], []
    modes = () if origin else words.other_modes
    devices = verdicts["device"].unique()
    others = {str(PlanName(device, mode)) for device in devices for mode in modes}
    names = in_order([*plans(verdicts).astype(str), *others])
    table = []
    for (tf, *made_by), some in verdicts.groupby(["tf", *origin]):
        rows = {str(PlanName(row["device"], row["mode"])): row for row in tables.rows(some)}
        cells = [_cell(plan, rows.get(plan), words, expressible=plan not in others) for plan in names]
        table.append(Line(str(tf), cells, *map(str, made_by)))
    return names, sorted(table, key=lambda line: version_order(line.tf), reverse=True)


def _cell(plan: str, row: Mapping[str, Any] | None, words: Words, *, expressible: bool) -> Cell:
    if row is None:
        return Cell(plan, "", "no record") if expressible else Cell(plan, INEXPRESSIBLE, "no program has this mode")
    counts = {name: row[name] for name in COUNTS if row[name]}
    word = words.of_plan(row["tf"], row["device"], row["mode"], row["verdict"])
    return Cell(plan, word, ", ".join(f"{n:,} {name}" for name, n in counts.items()))


def elsewhere(others: pd.DataFrame, own: pd.DataFrame, claims: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """The verdicts of other runs for versions and plans that this run lacks.

    The columns are those of `own`, this run's verdicts, and `made` and `machine`. `verdict` is `OLDER` where the
    program, its inputs or the prediction have changed since.
    """
    current = {(claim["id"], claim["spec"], *(claim.get(name) for name in HASHES)) for claim in claims}
    present = set(own[KEYS].itertuples(index=False, name=None))
    rows: list[dict[str, Any]] = []
    groups = others.groupby([*KEYS, "made", "machine"]) if len(others) else ()
    for key, some in groups:
        if key[: len(KEYS)] in present:
            continue
        hashes = some[["claim", "spec", *HASHES]].itertuples(index=False, name=None)
        verdict = overall(some["verdict"].tolist()) if all(row in current for row in hashes) else OLDER
        counts = {name: some[name].astype(int).sum() for name in COUNTS}
        rows.append({**dict(zip([*KEYS, "made", "machine"], key, strict=True)), "verdict": verdict, **counts})
    return pd.DataFrame(rows, columns=[*COLUMNS, "made", "machine"])


def where(verdicts: pd.DataFrame, words: Words) -> str:
    """The plans on which a claim has each word, such as `confirmed: cpu/graph; false: cpu/eager`; empty if all agree.

    The versions of TensorFlow are named where the word depends on them.
    """
    rows = [row | {"word": words.of_plan(*(row[k] for k in _PLACE))} for row in tables.rows(verdicts)]
    by_plan: dict[str, set[str]] = {}
    for row in rows:
        by_plan.setdefault(str(PlanName(row["device"], row["mode"])), set()).add(row["word"])
    depends_on_version = len({row["tf"] for row in rows}) > 1 and any(len(some) > 1 for some in by_plan.values())
    parts: dict[str, set[tuple[str, str]]] = {}
    for row in rows:
        place = str(PlanName(row["device"], row["mode"])), row["tf"] if depends_on_version else ""
        parts.setdefault(row["word"], set()).add(place)
    texts = []
    for word in (word for word in CLAIM_WORDS if word in parts and word not in _UNTESTED):
        places = sorted(parts[word], key=lambda place: (plan_order(place[0]), place[1]))
        texts.append(f"{word}: " + ", ".join(f"{plan} with {tf}" if tf else plan for plan, tf in places))
    return "; ".join(texts) if len(texts) > 1 else ""
