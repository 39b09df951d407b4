"""History page: a timeline of runs as text for the terminal, as Markdown, and as a page."""

from __future__ import annotations

import os
from itertools import groupby
from pathlib import Path
from typing import Any
from urllib.parse import quote

from tf_opdiff.harness.spec.plan import PlanName
from tf_opdiff.reports.analysis.comparisons.noise import LEAST
from tf_opdiff.reports.analysis.histories.timeline import Timeline
from tf_opdiff.reports.data.figures import tables
from tf_opdiff.reports.pages.template import render
from tf_opdiff.reports.text.lines import plain
from tf_opdiff.reports.text.sentences.markdown import escape, table
from tf_opdiff.reports.text.verdicts import VERDICTS

#: The most flaky rows of a page, specs at the terminal, and rows of other lists at the terminal.
FLAKY, ROWS, FEW = 500, 12, 5


def text(timeline: Timeline) -> list[str]:
    """The timeline for the terminal: the runs, specs × runs, flaky records, and new verdicts of the newest run."""
    runs = timeline.runs
    lines = [f"{len(runs)} runs, {plain(runs[-1]['started'], 25)} to {plain(runs[0]['started'], 25)}; newest first"]
    lines += [f"left out: {plain(f'{name}: {reason}', 200)}" for name, reason in timeline.left_out.items()]
    groups = [(key, len(list(some))) for key, some in groupby(runs, lambda run: (run["tf"], run["host"]))]
    lines.append("columns: " + ", then ".join(plain(f"{n} of {tf} on {host}", 60) for (tf, host), n in groups))
    lines += _red(timeline)
    lines += [f"partial: {plain(run['name'] + ': ' + run['partial'], 200)}" for run in runs if run["partial"]]
    lines += ["", *_grid(timeline)]
    lines += [f"{timeline.quiet:,} rows were always match or contract", ""]
    for row in timeline.flaky[:FEW]:
        lines.append(plain(f"flaky: {_rate(row)} {row['case']} {row['quantities']} on {row['plans']}"))
    lines += [f"flaky: {len(timeline.flaky) - FEW:,} more"] if len(timeline.flaky) > FEW else []
    changed = timeline.changed
    for row in tables.rows(changed.head(FEW)):
        plan = PlanName(row["device"], row["mode"])
        lines.append(plain(f"new: {row['verdict']} {row['kinds']} {row['case']} on {plan}"))
    return lines + ([f"new: {len(changed) - FEW:,} more"] if len(changed) > FEW else [])


def _red(timeline: Timeline) -> list[str]:
    """A line about the specs that turned red in the newest run, and one about drift where noise is known."""
    names = [spec.name for spec in timeline.turned]
    more = f" and {len(names) - FEW:,} more" if len(names) > FEW else ""
    words = f"turned red: {', '.join(names[:FEW])}{more}" if names else "turned red: no spec"
    lines = [plain(f"{words} (in the newest run)", 200)]
    if first := [spec.name for spec in timeline.first]:
        more = f" and {len(first) - FEW:,} more" if len(first) > FEW else ""
        lines.append(plain(f"failing where no earlier run tested: {', '.join(first[:FEW])}{more}", 200))
    if timeline.measured:
        lines.append(f"drifted beyond their own noise: {len(timeline.drifted):,} of {timeline.measured:,} records")
    return lines


def _grid(timeline: Timeline) -> list[str]:
    """Specs × runs with a letter for each verdict, and the legend."""
    specs = timeline.specs[:ROWS]
    width = max((len(plain(f"{s.suite}/{s.name}", 44)) for s in specs), default=0)
    lines = [f"{'':{width}}  {''.join('*' if run['partial'] else ' ' for run in timeline.runs)}".rstrip()]
    for spec in specs:
        cells = "".join(VERDICTS[v].letter if v else " " for v in spec.cells)
        lines.append(f"{plain(f'{spec.suite}/{spec.name}', 44):{width}}  {cells}".rstrip())
    lines += [f"and {len(timeline.specs) - ROWS:,} more specs"] if len(timeline.specs) > ROWS else []
    legend = ", ".join(f"{verdict.letter} {verdict.name}" for verdict in VERDICTS.values())
    return [*lines, f"({legend}, blank: no record, * partial run)"]


def _rate(row: dict[str, Any]) -> str:
    return f"{row['rate']:.0%} ({row['changes']} of {row['opportunities']})"


def markdown(timeline: Timeline) -> str:
    """The timeline in Markdown: the runs, specs × runs, flaky records, and failing rows with the runs since when."""
    lines = [f"# tf-opdiff: {len(timeline.runs)} runs, the newest first", ""]
    lines += [f"- left out: {escape(name)}: {escape(reason)}" for name, reason in timeline.left_out.items()]
    heads = ["", "run", "started", "TensorFlow", "host", "records", "partial"]
    facts = [[run[name] for name in ("run", "started", "tf", "host", "records", "partial")] for run in timeline.runs]
    lines += ["", *table(heads, [[str(i), *map(escape, row)] for i, row in enumerate(facts, 1)]), ""]
    cells = [
        [escape(f"{spec.suite}/{spec.name}"), *(VERDICTS[v].symbol if v else "" for v in spec.cells)]
        for spec in timeline.specs
    ]
    lines += [*(escape(line) for line in _red(timeline)), ""]
    lines += ["## The worst verdict of each spec", "", *table(["spec", *map(str, range(1, len(facts) + 1))], cells), ""]
    lines += [", ".join(f"{v.symbol} {v.name}" for v in VERDICTS.values()) + "; empty: no record", ""]
    lines += [f"{timeline.quiet:,} rows were always match or contract.", "", "## Flaky", ""]
    return "\n".join([*lines, *_flaky(timeline), *_seen(timeline)]) + "\n"


def _flaky(timeline: Timeline) -> list[str]:
    names = ["case", "quantities", "plans"]
    rows = [[escape(_rate(row)), *(escape(row[name]) for name in names)] for row in timeline.flaky[:FLAKY]]
    lines = [*table(["flip rate", *names], rows), ""] if rows else ["Nothing.", ""]
    return lines + ([f"And {len(timeline.flaky) - FLAKY:,} more.", ""] if len(timeline.flaky) > FLAKY else [])


def _seen(timeline: Timeline) -> list[str]:
    names = ["verdict", "kinds", "case", "device", "mode", "since", "first", "last", "bad", "runs"]
    rows = [[escape(row[name]) for name in names] for row in tables.rows(timeline.seen.head(FLAKY))]
    lines = ["## Failing and known, the latest changed first", "", *(table(names, rows) if rows else ["Nothing."])]
    return lines + (["", f"And {len(timeline.seen) - FLAKY:,} more."] if len(timeline.seen) > FLAKY else [])


def html(timeline: Timeline, folder: Path, page: Path) -> str:
    """The page, without scripts; it links to the page of each run that has one."""
    for run in timeline.runs:
        own = folder / run["name"] / "index.html"
        run["link"] = quote(os.path.relpath(own, page.parent)) if own.exists() else ""
    heads = [(tf, len(list(some))) for tf, some in groupby(timeline.runs, lambda run: run["tf"])]
    return render(
        "history.html",
        timeline=timeline,
        heads=heads,
        hosts=len({run["host"] for run in timeline.runs}) > 1,
        flaky=timeline.flaky[:FLAKY],
        drifted=tables.rows(timeline.drifted.head(FLAKY)),
        still=timeline.still,
        least=LEAST,
        rate=_rate,
    )
