"""Page: a run as one HTML file that opens anywhere, offline."""

from __future__ import annotations

import base64
import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from tf_opdiff.harness.store.processor import described
from tf_opdiff.harness.store.record import FAILING
from tf_opdiff.harness.store.rundir import RunInfo
from tf_opdiff.reports.analysis.changelog import Changelog, title
from tf_opdiff.reports.analysis.grid import MEANS, SYMBOLS, grid
from tf_opdiff.reports.analysis.plans_at_worst import Beside
from tf_opdiff.reports.data import run_environment, tables
from tf_opdiff.reports.pages import embed
from tf_opdiff.reports.text import sentence
from tf_opdiff.reports.text.headline import headline
from tf_opdiff.reports.text.summary import duration

_HERE = Path(__file__).parent
_SCRIPTS = ("dom.js", "data.js", "filters.js", "table.js", "plot.js", "detail.js", "main.js")
LISTED = 500
#: What a finding and its program have in common.
_FINDING = ("spec", "verdict", "kind", "reason")
#: What a page may load and run that has no script: its own style, and nothing else.
POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def environment() -> Environment:
    """Where the templates are, and the filters that they use; everything is escaped."""
    made = Environment(
        loader=FileSystemLoader(_HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["number"] = lambda n: f"{n:,}"
    made.filters["ulp"] = sentence.number
    return made


def style() -> Markup:
    """The style sheet that all pages share."""
    return Markup((_HERE / "templates" / "style.css").read_text())


@dataclass(frozen=True, kw_only=True)
class Supplement:
    """What the page of a run shows besides its records and its circumstances.

    `claims` says whether the run has a page of claims, to link to. `repros` are what became of the programs of
    findings. `entries` are those of the known failures; see `reports.analysis.ledger.entries`. `beside` is what every
    plan gave where one is off; see `reports.beside.values`. `since` is what changed since an earlier run, or why the
    two can't be compared; see `reports.since`.
    """

    claims: bool = False
    repros: Sequence[Mapping[str, Any]] = ()
    entries: pd.DataFrame | None = None
    beside: Beside = field(default_factory=dict)
    since: Changelog | str | None = None


def html(records: pd.DataFrame, info: RunInfo, supplement: Supplement | None = None) -> str:
    """The whole page. Whatever comes from TensorFlow or from files is escaped, and a policy bars any other script."""
    supplement = supplement or Supplement()
    order = tables.by_severity(records["verdict"]).argsort(kind="stable")
    rows = records.iloc[order].reset_index(drop=True)
    counts, findings, since = tables.counts(rows), _findings(rows, supplement.repros), supplement.since
    entries = supplement.entries
    return (
        environment()
        .get_template("index.html")
        .render(
            **_assets(),
            info=info,
            cuda=run_environment.cuda(info),
            processor=described(info.machine),
            claims=supplement.claims,
            took=duration(info),
            since=since,
            title=title,
            news=[c for c in since.causes if c["worse"]] if isinstance(since, Changelog) else [],
            headline=headline(rows, info),
            status=sentence.of_run(info, counts, brief=True),
            shortfalls=sentence.shortfalls(info),
            counts=counts,
            symbols=SYMBOLS,
            means=MEANS,
            matrix=grid(rows, info),
            devices=_devices(rows, info),
            failing=[f for f in findings if f[0]["verdict"] in FAILING],
            known=[f for f in findings if f[0]["verdict"] == "known"],
            entries=[] if entries is None else tables.rows(entries[entries["state"] != "not run"]),
            not_run=_not_run(info),
            missing=info.not_run[:LISTED],
            slowest=tables.rows(tables.slowest(rows)),
            margins=tables.rows(tables.worst_margins(rows)),
            kinds=[k for k in rows["kind"].cat.categories if k and (rows["kind"] == k).any()],
            data=_data(rows, supplement),
        )
    )


def _assets() -> dict[str, Any]:
    """The page's style sheets and scripts, our own and the libraries', and the policy that lets these scripts run."""
    library = Markup("\n").join(_script(_HERE / "vendor" / name) for name in ("tabulator.min.js", "uplot.min.js"))
    own = Markup("(() => {\n%s\n})();") % Markup("\n".join(_script(_HERE / "templates" / name) for name in _SCRIPTS))
    library_style = Markup("\n").join(
        Markup((_HERE / "vendor" / name).read_text().partition("\n/*#")[0])
        for name in ("tabulator_simple.min.css", "uplot.min.css")
    )
    policy = f"{POLICY}; script-src {_hash(library)} {_hash(own)}"
    return {"style": style(), "library_style": library_style, "library": library, "own": own, "policy": policy}


def _findings(records: pd.DataFrame, repros: Sequence[Mapping[str, Any]]) -> list[tuple[Any, ...]]:
    """Each finding with the record that stands for it, its sentence, its values, and what became of its program."""
    programs = {tuple(repro.get(name, "") for name in _FINDING): repro for repro in repros}
    findings = []
    for finding in tables.rows(tables.findings(records)):
        record = tables.row(records, finding["first"])
        repro = sentence.of_repro(programs.get(tuple(finding[name] for name in _FINDING)))
        findings.append((finding, record, sentence.of_record(record), sentence.values(record), repro))
    return findings


def _data(records: pd.DataFrame, supplement: Supplement) -> Markup:
    """What the page's scripts read: the records with their sentences, the plans, and the programs of findings."""
    with np.errstate(over="ignore"):
        shown = records.assign(seconds=records["seconds"].round(6), sentence=sentences(records))
    return Markup(
        embed.encode(
            shown,
            verdicts=_verdicts(),
            plans=list(tables.plans(records).cat.categories),
            programs=_programs(supplement.repros),
            beside=supplement.beside,
        )
    )


def sentences(records: pd.DataFrame) -> pd.Categorical:
    """`sentence.without_case` of each record; many records share one."""
    names = ["quantity", "device", "mode", "against", "verdict", "kind", "size", "mismatched", "max_ulp", "budget"]
    alike = records.groupby(names, observed=True, sort=False, dropna=False).ngroup().to_numpy()
    numbers, first = np.unique(alike, return_index=True)
    told = pd.Series([sentence.without_case(row) for row in tables.rows(records[names].iloc[first])], dtype="str")
    codes, texts = pd.factorize(told)
    of_group = np.empty(len(numbers), np.int64)
    of_group[numbers] = codes
    return pd.Categorical.from_codes(of_group[alike], texts)


def _programs(repros: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """What the page shows of each finding's script: the finding, what became of it, its text, and points to plot."""
    found = []
    for one in repros:
        said, path = sentence.of_repro(one)
        place = {name: one.get(name, "") for name in (*_FINDING, "case", "device", "mode", "quantity")}
        place["marked"] = {name: p for name, p in one.get("marked", {}).items() if _drawable([[v] for v in p])}
        found.append(
            place | {"said": said, "path": path, "text": one.get("text", ""), "points": _drawable(one["points"])}
        )
    return found


def _drawable(points: Sequence[Sequence[float]]) -> list[list[float]]:
    """The points of `harness.judge.error_points` that can be drawn: both numbers are finite; none of lists of other
    lengths."""
    if len(points) != 2 or len(points[0]) != len(points[1]):
        return []
    pairs = [pair for pair in zip(*points, strict=True) if all(map(math.isfinite, pair))]
    return [list(side) for side in zip(*pairs, strict=True)]


def _verdicts() -> dict[str, str]:
    return {verdict: symbol for verdict, symbol in SYMBOLS.items() if verdict in tables.SEVERITY}


def _devices(records: pd.DataFrame, info: RunInfo) -> list[dict[str, str]]:
    """What became of every device that TensorFlow lists, or that was asked for, or that has records."""
    found = []
    for name in dict.fromkeys([*info.devices, *records["device"].astype(str).unique()]):
        about = info.devices.get(name, {"asked": True})
        here = records.loc[records["device"] == name, "verdict"]
        ran = int((here != "unavailable").sum())
        state = "asked for, but nothing ran there" if about.get("asked") else "not asked for, not run"
        if ran:
            state = "recorded elsewhere" if "recorded" in about else "ran"
        facts = ", ".join(f"{key} {value}" for key, value in about.items() if key != "asked")
        tone = "good" if ran else "bad" if about.get("asked") else "quiet"
        found.append({"name": name, "state": state, "records": f"{len(here):,}", "about": facts, "tone": tone})
    return found


def _not_run(info: RunInfo) -> list[dict[str, Any]]:
    lost = tables.not_run(info)
    return tables.rows(lost.groupby(["why", "device", "mode"]).size().reset_index(name="cells"))


def _script(path: Path) -> Markup:
    """A script of ours or a vendored one, fit to stand in a page."""
    text = path.read_text().partition("\n//# sourceMappingURL")[0]
    if "</script" in text.lower() or "<!--" in text:
        raise ValueError(f"{path}: a script that ends its own element can't stand in a page")
    return Markup(text)


def _hash(script: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"
