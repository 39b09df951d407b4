"""Run page: a run as one HTML file that opens anywhere, offline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import pandas as pd
from markupsafe import Markup

from tf_opdiff.harness.store.run_directories.run_info import RunInfo
from tf_opdiff.harness.system.processor import described
from tf_opdiff.reports.analysis.comparisons.changelog import Changelog
from tf_opdiff.reports.analysis.grid import STATES, grid
from tf_opdiff.reports.analysis.ops.plans_at_worst import ValuesByPlan
from tf_opdiff.reports.data.causes.discrepancies import discrepancies
from tf_opdiff.reports.data.causes.discrepancy import Discrepancy
from tf_opdiff.reports.data.figures import tables
from tf_opdiff.reports.data.names.op_names import OpNames
from tf_opdiff.reports.data.run_data import run_environment
from tf_opdiff.reports.pages import embed
from tf_opdiff.reports.pages.menu import INDEX, Menu
from tf_opdiff.reports.pages.page_data import commands, page_data
from tf_opdiff.reports.pages.run_pages import extra_pages, run_overview
from tf_opdiff.reports.pages.run_pages.extra_pages import ExtraPage
from tf_opdiff.reports.pages.scripts import enclosed, hash_of, script
from tf_opdiff.reports.pages.template import HERE, LISTED, POLICY, render
from tf_opdiff.reports.text.braced import braced
from tf_opdiff.reports.text.sentences import sentence
from tf_opdiff.reports.text.sentences.change_words import title
from tf_opdiff.reports.text.sentences.summary import duration

_SCRIPTS = (
    *("dom.js", "unpack.js", "data.js", "filters.js", "table.js", "plot.js", "detail.js"),
    *("cells.js", "matrix.js", "main.js"),
)


@dataclass(frozen=True, kw_only=True)
class Supplement:
    """The parts of a run's page that come neither from its records nor from run.json.

    Attributes:
      pages: the extra pages of the run, to which its page links.
      ranked: the discrepancies of the run; see `reports.data.causes.discrepancies`. If None, they are made of the
        records.
      shown: these discrepancies in words; if None, they are made of the records.
      names: the pages of ops.
      spec_links: the address of the page of each spec's op, relative to the folder of the run.
      repros: the programs of findings, as `reports.data.run_data.load.load_repros` gives them.
      entries: the known failures; see `reports.analysis.known_failures.ledger.entries`.
      by_plan: the values of every plan at failing elements; see `reports.analysis.ops.plans_at_worst.values`.
      since: the changes since an earlier run, or the reason why the two can't be compared; see
        `reports.analysis.comparisons.since_last_run`.
    """

    pages: Sequence[ExtraPage] = ()
    ranked: Sequence[Discrepancy] | None = None
    shown: Sequence[run_overview.Shown] | None = None
    names: OpNames = field(default_factory=OpNames)
    spec_links: Mapping[str, str] = field(default_factory=dict)
    repros: Sequence[Mapping[str, Any]] = ()
    entries: pd.DataFrame | None = None
    by_plan: ValuesByPlan = field(default_factory=dict)
    since: Changelog | str | None = None


def html(records: pd.DataFrame, info: RunInfo, supplement: Supplement | None = None) -> str:
    """The whole page. All text from TensorFlow or from files is escaped, and a policy bars foreign scripts."""
    supplement = supplement or Supplement()
    order = tables.by_severity(records["verdict"]).argsort(kind="stable")
    ranked = discrepancies(records.iloc[order], {}) if supplement.ranked is None else supplement.ranked
    records = records.assign(rerun=commands(records)).iloc[order].reset_index(drop=True)
    shown = supplement.shown
    if shown is None:
        shown = run_overview.shown(records, ranked, supplement.repros, supplement.names)
    entries, since = supplement.entries, supplement.since
    matrix = grid(records, info)
    return render(
        "index.html",
        **_assets(),
        **_about(records, info),
        **run_overview.about(records, info, ranked),
        pages=supplement.pages,
        menu=Menu(INDEX, extra_pages.links(supplement.pages)),
        run_page="",
        since=since,
        title=title,
        news=[c for c in since.causes if c["worse"]] if isinstance(since, Changelog) else [],
        states=STATES,
        matrix=matrix,
        spec_links=supplement.spec_links,
        devices=_devices(records, info),
        failing=[one for one in shown if not one.of.known],
        known=[one for one in shown if one.of.known],
        entries=[] if entries is None else tables.rows(entries[entries["state"] != "not run"]),
        slowest=tables.rows(tables.slowest(records)),
        margins=tables.rows(tables.worst_margins(records)),
        data=page_data(records, supplement.repros, supplement.by_plan, matrix, supplement.spec_links),
    )


def _about(records: pd.DataFrame, info: RunInfo) -> dict[str, Any]:
    """The state of the run, and where and how it ran."""
    counts = tables.counts(records)
    return {
        "info": info,
        "cuda": run_environment.cuda(info),
        "processor": described(info.machine),
        "took": duration(info),
        "status": sentence.of_run(info, counts, brief=True),
        "shortfalls": sentence.shortfalls(info),
        "counts": counts,
        "not_run": _not_run(info),
        "missing": info.not_run[:LISTED],
        "deselected": braced(info.deselected),
        "listed": LISTED,
    }


def _assets() -> dict[str, Any]:
    """The page's style sheets and scripts, ours and those of libraries, and the policy that admits these scripts."""
    library = Markup("\n").join(script(HERE / "vendor" / name) for name in ("tabulator.min.js", "uplot.min.js"))
    own = enclosed(script(HERE / "templates" / name) for name in _SCRIPTS)
    library_style = Markup("\n").join(
        Markup((HERE / "vendor" / name).read_text().partition("\n/*#")[0])
        for name in ("tabulator_simple.min.css", "uplot.min.css")
    )
    policy = f"{POLICY}; script-src {hash_of(library)} {hash_of(own)}"
    return {"library_style": library_style, "packed_library": _packed(library), "own": own, "policy": policy}


@cache
def _packed(script: Markup) -> Markup:
    """A script, compressed; the page adds it when it has been painted. Its hash is in the policy."""
    return Markup(embed.packed(script))


def _devices(records: pd.DataFrame, info: RunInfo) -> list[dict[str, str]]:
    """The state of every device that TensorFlow lists, that the run requested, or that has records."""
    devices = []
    for name in dict.fromkeys([*info.devices, *records["device"].astype(str).unique()]):
        about = info.devices.get(name, {"asked": True})
        verdicts = records.loc[records["device"] == name, "verdict"]
        requested, ran = run_environment.requested(about), bool((verdicts != "unavailable").any())
        state = "requested, but nothing ran there" if requested else "not requested, not run"
        if ran:
            remote = f"ran, in the server {about['server']}" if "server" in about else "ran"
            state = "recorded elsewhere" if "recorded" in about else remote
        tone = "good" if ran else "bad" if requested else "quiet"
        facts = run_environment.device_facts(about)
        devices.append({"name": name, "state": state, "records": f"{len(verdicts):,}", "about": facts, "tone": tone})
    return devices


def _not_run(info: RunInfo) -> list[dict[str, Any]]:
    cells = tables.not_run(info)
    return tables.rows(cells.groupby(["why", "device", "mode"]).size().reset_index(name="cells"))
