"""Claims: what a run's records say of the claims that people make, as a table and as a page to read."""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
from markupsafe import Markup
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import CppLexer, PythonLexer

from harness.processor import described
from harness.record import CLAIM, FAILING
from harness.rundir import RunInfo
from reports import tables
from reports.files import show
from reports.load import load, load_claims
from reports.page import POLICY, environment, style

#: Verdicts of other runs, which the page shows apart from the run's own.
KEPT = Path(__file__).parent.parent / "recordings" / "claims.csv"
COLUMNS = ("claim", "tf", "device", "mode", "verdict", "held", "refuted", "unavailable", "faulty")
KEYS = ["claim", "tf", "device", "mode"]
#: A verdict is about a claim while these hashes are the same.
HASHES = ("program", "inputs", "prediction")
#: A row of `KEPT`: the verdict on a claim by one program under one plan; when, by which run and on which machine.
KEPT_COLUMNS = ("claim", "spec", *COLUMNS[1:], "made", "machine", *HASHES)
KEPT_KEYS = ["claim", "spec", "tf", "device", "mode"]
#: What a record's verdict says of the claim that it is held against.
_SAYS = {
    **dict.fromkeys(("match", "stale"), "held"),
    **dict.fromkeys(("contract", "mismatch"), "refuted"),
    "unavailable": "unavailable",
    "error": "faulty",
}
_VERDICTS = {"held": "confirmed", "refuted": "refuted", "unavailable": "unavailable", "faulty": "faulty"}
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


def verdicts(records: pd.DataFrame, keys: Sequence[str] = KEYS) -> pd.DataFrame:
    """The verdict on each claim for each TensorFlow version and plan, worked out from the records.

    Columns: the `keys`, which are `claim`, `tf`, `device` and `mode`, and may have `spec` among them; `verdict`, one of
    `confirmed`, `refuted`, `true only where`, `unavailable` and `faulty`; how many records `held`, `refuted`, were
    `unavailable` or `faulty`. A record is a claim × case × plan.
    """
    some = records[records["against"].astype(str).str.startswith(CLAIM)]
    told = some[[key for key in keys if key != "claim"]].astype(str)
    told["claim"] = some["against"].astype(str).str.removeprefix(CLAIM)
    told["says"] = some["verdict"].astype(str).map(_SAYS)
    counts = told.groupby([*keys, "says"]).size().unstack("says", fill_value=0)
    counts = counts.reindex(columns=list(COLUMNS[5:]), fill_value=0).rename_axis(columns=None).reset_index()
    each = counts[list(COLUMNS[5:])].to_dict("records")
    found = [overall([_VERDICTS[str(says)] for says, n in row.items() if n]) for row in each]
    counts.insert(len(keys), "verdict", found)
    return counts


def overall(found: Sequence[str]) -> str:
    """One verdict out of those on several cases, plans or versions."""
    told = {v for v in found if v != "unavailable"}
    if not told:
        return "unavailable" if found else "not run in this run"
    return "faulty" if "faulty" in told else told.pop() if len(told) == 1 else "true only where"


def kept(path: Path = KEPT) -> pd.DataFrame:
    """The verdicts of other runs; columns are `KEPT_COLUMNS`.

    Raises:
      ValueError: the file has other columns.
    """
    if not path.exists():
        return pd.DataFrame(columns=list(KEPT_COLUMNS))
    found = pd.read_csv(path, dtype="str", keep_default_na=False)
    if tuple(found.columns) != KEPT_COLUMNS:
        raise ValueError(f"{path}: expected the columns {', '.join(KEPT_COLUMNS)}; it has {', '.join(found.columns)}")
    return found


def keep(records: pd.DataFrame, info: RunInfo, claims: Sequence[Mapping[str, Any]], path: Path = KEPT) -> int:
    """Adds a run's verdicts to a file, in place of those on the same claim, program, version and plan.

    A program of which the run lacks cases is left out, and so is what a recording refused to answer, and a verdict that
    is the suite's own fault. Returns how many verdicts the file has.

    Raises:
      ValueError: the run has no hashes of its claims.
    """
    if not all(name in c for c in claims for name in HASHES):
        raise ValueError(f"run {info.run}: expected hashes of {', '.join(HASHES)} in claims.json: run the claims again")
    found = verdicts(records, KEPT_KEYS)
    known = pd.DataFrame(
        [(c["id"], *(c[k] for k in ("spec", "cases", *HASHES))) for c in claims],
        columns=["claim", "spec", "cases", *HASHES],
    )
    found = found.merge(known, on=["claim", "spec"])
    recorded = found["device"].str.contains("@")
    whole = found[list(COLUMNS[5:])].sum(axis=1) == found["cases"]
    found = found[whole & (found["faulty"] == 0) & ~(recorded & (found["unavailable"] > 0))]
    found = found.assign(
        made=[_made(info, device)[0] for device in found["device"]],
        machine=[_made(info, device)[1] for device in found["device"]],
        device=found["device"].str.split("@").str[0],
    )
    both = pd.concat([kept(path), found[list(KEPT_COLUMNS)].astype(str)])
    both = both.drop_duplicates(KEPT_KEYS, keep="last").sort_values(KEPT_KEYS)
    path.parent.mkdir(exist_ok=True)
    both.to_csv(path, index=False, lineterminator="\n")
    return len(both)


def _made(info: RunInfo, device: str) -> tuple[str, str]:
    """When and by which run the observations of a device were made, and on which machine."""
    about = info.devices.get(device, {})
    if "recorded" in about:
        return str(about["recorded"]), str(about.get("processor") or about.get("host", ""))
    return f"{info.started}, run {info.run}", described(info.machine) or info.host


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
    verdict = overall([_VERDICTS[says] for says in here["verdict"].map(_SAYS).unique()])
    files = {name: listed(text, cpp=True) for name, text in claim["files"].items()}
    told = {"spec": spec, "modes": modes, "rerun": rerun, "verdict": verdict}
    return told | {"listing": listed(claim["listing"]), "files": files}


@cache
def listed(source: str, *, cpp: bool = False) -> Markup:
    """Python or C++ source as HTML, its tokens as classes; escaped by Pygments."""
    return Markup(highlight(source, CppLexer() if cpp else PythonLexer(), HtmlFormatter(nowrap=True)))


def token_style() -> Markup:
    """The colours of the tokens, light and dark."""
    light = HtmlFormatter(style="default").get_style_defs(".code")
    dark = HtmlFormatter(style="github-dark").get_style_defs(".code")
    light, dark = ("\n".join(r for r in p.splitlines() if "background" not in r) for p in (light, dark))
    return Markup(f"{light}\n@media (prefers-color-scheme: dark) {{\n{dark}\n}}")


def counts(found: Sequence[Chapter]) -> dict[str, int]:
    """How many claims have each verdict."""
    each = [claim.verdict for chapter in found for claim in chapter.claims]
    return {verdict: each.count(verdict) for verdict in LOOKS}


def html(
    records: pd.DataFrame, info: RunInfo, claims: Sequence[Mapping[str, Any]], others: pd.DataFrame | None = None
) -> str:
    """The page of the claims; no script runs in it, and whatever is not ours is escaped."""
    found = chapters(records, info, claims, kept() if others is None else others)
    return (
        environment()
        .get_template("claims.html")
        .render(
            info=info,
            chapters=found,
            counts=counts(found),
            looks=LOOKS,
            style=style(),
            tokens=token_style(),
            policy=POLICY,
        )
    )


def add_options(parser: argparse.ArgumentParser) -> None:
    """What `python -m harness claims` takes."""
    parser.add_argument("run", type=Path, metavar="RUN", help="the directory of a run, such as runs/latest")
    kept_in = f"{KEPT.parent.name}/{KEPT.name}"
    parser.add_argument("--keep", action="store_true", help=f"keep them in {kept_in}, for the pages of other runs")


def main(options: argparse.Namespace) -> int:
    """Prints a line for each claim and plan; 1 where one is faulty or not as expected, else 0."""
    records = load(options.run)
    found = verdicts(records)
    for row in tables.rows(found):
        plan = f"{row['device']}/{row['mode']}"
        show(f"{row['claim']:6} {row['tf']:9} {plan:14} {row['verdict']}\n")
    if options.keep:
        print(f"{keep(records, RunInfo.load(options.run), load_claims(options.run))} verdicts are kept in {KEPT}")
    told = records["against"].astype(str).str.startswith(CLAIM)
    return int(records[told]["verdict"].isin(FAILING).any())
