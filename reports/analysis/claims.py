"""Claims: what a run's records say of the claims that people make, as a table and as a page to read."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from tf_opdiff.harness.store.record import CLAIM, FAILING
from tf_opdiff.harness.store.rundir import RunInfo
from tf_opdiff.reports.analysis.claim_verdicts import COLUMNS, HASHES, KEYS, SAYS, VERDICTS, overall, verdicts
from tf_opdiff.reports.data import tables
from tf_opdiff.reports.text.source_code import listed

#: A verdict's colour, which is that of a record's verdict, its symbol and what it means.
LOOKS = {
    "confirmed": ("match", "✓", "what the claim predicts came, in every case"),
    "refuted": ("refuted", "✗", "something else came, in every case"),
    "true only where": ("known", "◐", "it depends: on the mode, the device, the version or the case"),
    "unavailable": ("unavailable", "∅", "it could not run there"),
    "faulty": ("error", "!", "the suite itself is at fault"),
    "not run in this run": ("unavailable", "?", "this run has no record of it; verdicts of other runs stand apart"),
}
#: What stands in place of a verdict that another program led to, or other inputs, or another prediction.
OLDER = "of an older program"
EVIDENCE = 4
#: The columns that the page is made of.
_TEXTS = (
    *("spec", "case", "dtype", "recipe", "device", "mode", "against", "quantity", "verdict", "kind", "worst_index"),
    *("input", "got", "want", "reason"),
)
_SHOWN = (*_TEXTS, "size", "mismatched")


@dataclass
class Cell:
    """The verdict on a claim under one plan with one version."""

    plan: str
    verdict: str
    told: str


@dataclass
class Line:
    """A version's cells; when and where they were made, where that was in another run."""

    tf: str
    cells: list[Cell]
    made: str = ""
    machine: str = ""


@dataclass
class Shown:
    """All that the page says of one claim."""

    id: str
    says: str
    verdict: str
    where: str
    plans: list[str]
    lines: list[Line]
    kept_plans: list[str]
    kept: list[Line]
    whys: dict[str, list[str]]
    evidence: list[dict[str, Any]]
    programs: list[dict[str, Any]]
    instead: list[dict[str, Any]]
    unexpected: list[str]


@dataclass
class Chapter:
    """A topic and its claims; `first` names, for each spec, the claim beside which its program is shown."""

    topic: Mapping[str, str]
    claims: list[Shown] = field(default_factory=list)
    first: dict[str, str] = field(default_factory=dict)


def chapters(
    records: pd.DataFrame, info: RunInfo, claims: Sequence[Mapping[str, Any]], others: pd.DataFrame
) -> list[Chapter]:
    """The topics in order, each with its claims: this run's verdicts and, apart from them, `others` of other runs."""
    found = verdicts(records)
    instead = {claim["instead"] for claim in claims}
    few = records[records["against"].astype(str).str.startswith(CLAIM) | records["spec"].isin(instead)]
    few = few[list(_SHOWN)].astype(dict.fromkeys(_TEXTS, "object"))  # many small selections follow
    by_claim: dict[Any, pd.DataFrame] = dict(list(few.groupby("against")))
    by_spec: dict[Any, pd.DataFrame] = dict(list(few.groupby("spec")))
    elsewhere = _elsewhere(others, found, claims)
    made: dict[str, Chapter] = {}
    by_id: dict[str, list[Mapping[str, Any]]] = {}
    for claim in claims:
        by_id.setdefault(claim["id"], []).append(claim)
    for name, told in sorted(by_id.items()):
        chapter = made.setdefault(told[0]["topic"]["id"], Chapter(told[0]["topic"]))
        here = by_claim.get(CLAIM + name, few.head(0))
        shown = _shown(name, told, here, by_spec, found[found["claim"] == name], elsewhere[elsewhere["claim"] == name])
        chapter.claims.append(shown)
        for program in (*shown.programs, *shown.instead):
            chapter.first.setdefault(program["spec"], name)
    return list(made.values())


def _shown(
    name: str,
    told: Sequence[Mapping[str, Any]],
    here: pd.DataFrame,
    by_spec: Mapping[str, pd.DataFrame],
    found: pd.DataFrame,
    elsewhere: pd.DataFrame,
) -> Shown:
    """What the page says of a claim: `here` are its records, `found` the verdicts on it, by version and plan, and
    `elsewhere` those of other runs."""
    plans, lines = _lines(found)
    kept_plans, kept_lines = _lines(elsewhere, "made", "machine")
    whys: dict[str, list[str]] = {}
    for row in here[here["verdict"].isin(["contract", "mismatch"])].itertuples():
        names = whys.setdefault(str(row.reason) or "nobody expected it: see the run's findings", [])
        names += [plan for plan in [f"{row.device}/{row.mode}"] if plan not in names]
    specs = dict.fromkeys(claim["instead"] for claim in told if claim["instead"])
    listings = {claim["instead"]: claim["instead_listing"] for claim in told}
    return Shown(
        id=name,
        says=told[0]["says"],
        verdict=overall(found["verdict"].tolist()),
        where=_where(found),
        plans=plans,
        lines=lines,
        kept_plans=kept_plans,
        kept=kept_lines,
        whys={why: sorted(names, key=tables.plan_order) for why, names in whys.items()},
        evidence=_evidence(here, {claim["spec"]: claim["denies"] for claim in told}),
        programs=[_program(here[here["spec"] == claim["spec"]], claim) for claim in told],
        instead=[
            {"spec": s, "listing": listed(listings[s]), "tested": _tested(by_spec.get(s, here.head(0)))} for s in specs
        ],
        unexpected=sorted({f"{r.device}/{r.mode}" for r in here[here["verdict"].isin(FAILING)].itertuples()}),
    )


def _version(text: str) -> tuple[list[int], str]:
    """The key that sorts versions, whatever stands in them."""
    return [int(n) for n in re.findall(r"\d{1,18}", text)], text


def _lines(found: pd.DataFrame, *made: str) -> tuple[list[str], list[Line]]:
    """The plans of some verdicts, and a line for each version; for each run that made them, too, where `made` says so.

    The newest version comes first.
    """
    plans = sorted({f"{r.device}/{r.mode}" for r in found.itertuples()}, key=tables.plan_order)
    lines = []
    for (tf, *run), some in found.groupby(["tf", *made]):
        rows = {f"{r.device}/{r.mode}": r for r in some.itertuples()}
        lines.append(Line(str(tf), [_cell(plan, rows.get(plan)) for plan in plans], *map(str, run)))
    return plans, sorted(lines, key=lambda line: _version(line.tf), reverse=True)


def _elsewhere(others: pd.DataFrame, found: pd.DataFrame, claims: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """The verdicts of other runs on versions and plans of which this run has none; columns as of `verdicts`, and
    `made` and `machine`.

    Where a program, its inputs or the prediction have changed since, `verdict` says `of an older program`.
    """
    now = {(c["id"], c["spec"], *(c.get(name) for name in HASHES)) for c in claims}
    mine = set(found[KEYS].itertuples(index=False, name=None))
    rows: list[dict[str, Any]] = []
    groups = others.groupby([*KEYS, "made", "machine"]) if len(others) else ()
    for key, some in groups:
        if key[: len(KEYS)] not in mine:
            current = all(row in now for row in some[["claim", "spec", *HASHES]].itertuples(index=False, name=None))
            verdict = overall(some["verdict"].tolist()) if current else OLDER
            counts = {name: some[name].astype(int).sum() for name in COLUMNS[5:]}
            rows.append({**dict(zip([*KEYS, "made", "machine"], key, strict=True)), "verdict": verdict, **counts})
    return pd.DataFrame(rows, columns=[*COLUMNS, "made", "machine"])


def _cell(plan: str, row: Any) -> Cell:
    if row is None:
        return Cell(plan, "", "no record")
    counts = {name: getattr(row, name) for name in COLUMNS[5:] if getattr(row, name)}
    return Cell(plan, row.verdict, ", ".join(f"{n:,} {name}" for name, n in counts.items()))


def _where(found: pd.DataFrame) -> str:
    """Where a claim holds, and where not, by plan; by version too, where that matters."""
    versions = found["tf"].nunique() > 1 and (found.groupby(["device", "mode"])["verdict"].nunique() > 1).any()
    parts = []
    for verdict in ("confirmed", "refuted", "true only where"):
        some = found[found["verdict"] == verdict]
        names = some["device"] + "/" + some["mode"]
        names = names + " with " + some["tf"] if versions else names
        if len(names):
            parts.append(f"{verdict if verdict != 'true only where' else 'it depends on the case'}: ")
            parts[-1] += ", ".join(sorted(set(names), key=lambda n: tables.plan_order(n.split(" ")[0])))
    return "; ".join(parts) if len(parts) > 1 else ""


def _evidence(here: pd.DataFrame, denied: Mapping[str, bool]) -> list[dict[str, Any]]:
    """The numbers side by side where a claim does not hold: one record for each way, and its plans."""
    some = here[here["verdict"].isin(["contract", "mismatch"])]
    some = some.assign(plan=tables.plans(some).astype(str), narrow=~some["dtype"].isin(["float32", "int32"]))
    some = some.sort_values(["narrow", "case"], kind="stable")
    made: dict[Any, dict[str, Any]] = {}
    for row in tables.rows(some):
        same = made.setdefault((row["spec"], row["plan"]), row)
        if same is row:
            row["denied"] = denied.get(row["spec"], False)
    merged: dict[Any, dict[str, Any]] = {}
    for row in made.values():
        key = tuple(row[name] for name in ("case", "quantity", "kind", "worst_index", "got", "want"))
        merged.setdefault(key, {**row, "plans": []})["plans"].append(row["plan"])
    for row in merged.values():
        row["plans"].sort(key=tables.plan_order)
    return list(merged.values())[:EVIDENCE]


def _tested(some: pd.DataFrame) -> dict[str, Any]:
    """What became of the spec that does what was wanted, by its records: how many, how many fail, on which plans."""
    plans = sorted(set(tables.plans(some).astype(str)), key=tables.plan_order)
    return {"records": len(some), "failing": int(some["verdict"].isin(FAILING).sum()), "plans": ", ".join(plans)}


def _program(here: pd.DataFrame, claim: Mapping[str, Any]) -> dict[str, Any]:
    """A program that a claim is about, with the verdict that its own records give."""
    spec, modes = claim["spec"], ", ".join(claim["modes"])
    some = here.sort_values("dtype", key=lambda dtypes: dtypes.astype(str) != "float32", kind="stable")
    rerun = f"pytest suites --case {some['case'].iloc[0]}" if len(some) else f"pytest suites --op {spec}"
    verdict = overall([VERDICTS[says] for says in here["verdict"].map(SAYS).unique()])
    files = {name: listed(text, cpp=True) for name, text in claim["files"].items()}
    told = {"spec": spec, "modes": modes, "rerun": rerun, "verdict": verdict}
    return told | {"listing": listed(claim["listing"]), "files": files}
