"""Claim lines: the tables of verdicts on one claim, with a line for each TensorFlow version."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from tf_opdiff.harness.spec.plan import PlanName
from tf_opdiff.reports.analysis.claim_store import HASHES
from tf_opdiff.reports.analysis.claim_verdicts import COLUMNS, COUNTS, KEYS, overall
from tf_opdiff.reports.data.plans import in_order, plan_order, plans

#: Stands in place of a verdict on another version of the program, its inputs or its prediction.
OLDER = "of an older program"


@dataclass
class Cell:
    """The verdict on a claim under one plan with one version; `counts` says how many records say what."""

    plan: str
    verdict: str
    counts: str


@dataclass
class Line:
    """The cells of one version; for verdicts of another run, its date and its machine."""

    tf: str
    cells: list[Cell]
    date: str = ""
    machine: str = ""


def lines(verdicts: pd.DataFrame, *origin: str) -> tuple[list[str], list[Line]]:
    """The plans of some verdicts, and a line for each version, the newest first.

    With the columns `origin`, there is a line for each version and origin.
    """
    names = in_order(plans(verdicts).astype(str)) if len(verdicts) else []
    table = []
    for (tf, *made_by), some in verdicts.groupby(["tf", *origin]):
        rows = {str(PlanName(str(row.device), str(row.mode))): row for row in some.itertuples()}
        table.append(Line(str(tf), [_cell(plan, rows.get(plan)) for plan in names], *map(str, made_by)))
    return names, sorted(table, key=lambda line: _version(line.tf), reverse=True)


def _version(text: str) -> tuple[list[int], str]:
    """The key that sorts versions, which may be any text."""
    return [int(n) for n in re.findall(r"\d{1,18}", text)], text


def _cell(plan: str, row: Any) -> Cell:
    if row is None:
        return Cell(plan, "", "no record")
    counts = {name: getattr(row, name) for name in COUNTS if getattr(row, name)}
    return Cell(plan, row.verdict, ", ".join(f"{n:,} {name}" for name, n in counts.items()))


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


def where(verdicts: pd.DataFrame) -> str:
    """The plans on which a claim holds, and those on which it does not; empty if there is only one sort.

    The versions of TensorFlow are named where the verdict depends on them.
    """
    by_plan = verdicts.groupby(["device", "mode"])["verdict"].nunique()
    depends_on_version = verdicts["tf"].nunique() > 1 and (by_plan > 1).any()
    parts = []
    for verdict in ("confirmed", "refuted", "true only where"):
        some = verdicts[verdicts["verdict"] == verdict]
        if not len(some):
            continue
        versions = some["tf"].astype(str) if depends_on_version else [""] * len(some)
        places = set(zip(plans(some).astype(str), versions, strict=True))
        places_in_order = sorted(places, key=lambda place: (plan_order(place[0]), place[1]))
        words = [f"{plan} with {tf}" if tf else plan for plan, tf in places_in_order]
        parts.append(f"{verdict if verdict != 'true only where' else 'it depends on the case'}: {', '.join(words)}")
    return "; ".join(parts) if len(parts) > 1 else ""
