"""Summary: a run in at most forty lines of plain text."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pandas as pd

from tf_opdiff.harness.spec.plan import PlanName
from tf_opdiff.harness.spec.variant import ONEDNN
from tf_opdiff.harness.store.processor import described
from tf_opdiff.harness.store.record import FAILING
from tf_opdiff.harness.store.run_info import RunInfo
from tf_opdiff.harness.system.terminal import safe
from tf_opdiff.reports.data import run_environment, tables
from tf_opdiff.reports.data.missing_kernels import expected
from tf_opdiff.reports.text import sentence
from tf_opdiff.reports.text.counted import many
from tf_opdiff.reports.text.headline import headline
from tf_opdiff.reports.text.lines import WIDTH, plain
from tf_opdiff.reports.text.verdicts import SEVERITY, VERDICTS

__all__ = ["LINES", "ROWS", "WIDTH", "duration", "plain", "terminal"]

LINES = 40
#: The most rows of the grid.
ROWS = 15


def duration(info: RunInfo) -> str:
    """The duration of a run, as `3 min 20 s`; empty if its start or end is missing."""
    try:
        seconds = int((datetime.fromisoformat(info.ended) - datetime.fromisoformat(info.started)).total_seconds())
    except (ValueError, TypeError):
        return ""
    hours, minutes = divmod(seconds // 60, 60)
    parts = [(hours, "h"), (minutes, "min"), (seconds % 60, "s")]
    return " ".join(f"{n} {unit}" for n, unit in parts if n) or "0 s"


def terminal(records: pd.DataFrame, info: RunInfo, directory: Path | None = None) -> list[str]:
    """A run in at most 40 lines.

    In this order: the headline, the state of the run, the grid of specs × plans, the findings (failing before known),
    missing kernels, the slowest runs, and the path of the report.
    """
    counts = tables.counts(records)
    lines = [*(plain(line, 220) for line in headline(records, info)), plain(sentence.of_run(info, counts), 200)]
    lines += [plain(", ".join(f"{n:,} {verdict}" for verdict, n in counts.items() if n), 200)] if len(records) else []
    lines += _environment(info)
    lines += ["", *_grid(records), ""] if len(records) else []
    findings = tables.findings(records)
    missing = expected(records, 2)
    room = (LINES - len(lines) - len(missing) - 7) // 3
    lines += _findings(records, findings[findings["verdict"].isin(FAILING)], "fail [new]", min(room, 5))
    lines += _findings(records, findings[findings["verdict"] == "known"], "known", 2)
    lines += map(plain, missing)
    for row in tables.rows(tables.slowest(records, 2)):
        lines.append(plain(f"slow: {row['seconds']:.2f} s  {row['case']} on {PlanName(row['device'], row['mode'])}"))
    lines.append(safe(f"report: {(directory or Path('runs') / info.run) / 'index.html'}"))
    return lines


def _environment(info: RunInfo) -> list[str]:
    """TensorFlow, the host and the duration; the processor; the devices."""
    took = duration(info)
    where = [f"TensorFlow {info.tf}", run_environment.cuda(info), info.host, took and f"took {took}"]
    lines = [plain(", ".join(filter(None, where)))]
    lines += [plain(f"processor: {processor}", 200)] if (processor := described(info.machine)) else []
    others = [name for name, about in info.devices.items() if not run_environment.requested(about)]
    requested = [name for name in info.devices if name not in others]
    words = [f"{name} (oneDNN {on})" if (on := info.devices[name].get(ONEDNN)) else name for name in requested]
    return [*lines, plain(f"devices: {', '.join(words) or 'none'}; not requested: {', '.join(others) or 'none'}")]


def _findings(records: pd.DataFrame, findings: pd.DataFrame, title: str, most: int) -> list[str]:
    lines = []
    for row in tables.rows(findings.head(most)):
        record = tables.row(records, row["first"])
        lines.append(plain(f"{title}: {row['spec']} {row['kind']}, {many(row['records'], 'record')} on {row['plans']}"))
        if title != "known":
            text = f"{sentence.of_record(record)} {sentence.values(record)} {record['detail']}"
            lines.append("    " + plain(text, 200))
            lines.append("    rerun: " + plain(str(record["rerun"]), 200))
    if len(findings) > most:
        lines.append(f"{title}: {len(findings) - most:,} more findings in the report")
    return lines


def _grid(records: pd.DataFrame) -> list[str]:
    """Specs × plans; suites × plans for many specs, and × devices for many plans."""
    rows = "spec" if records["spec"].nunique() <= ROWS else "suite"
    counts = tables.cells(records, [rows]).rename(columns={"plan": "column"})
    lines = _aligned(rows, counts)
    if max(map(len, lines)) > WIDTH:
        device = counts["column"].map(_device)
        merged = counts.assign(column=device).groupby([rows, "column"])[list(SEVERITY)].sum()
        lines = _aligned(rows, merged.reset_index())
    present = [v for v in VERDICTS.values() if (records["verdict"] == v.name).any()]
    more = [f"and {len(lines) - 1 - ROWS} more rows in the report"] if len(lines) - 1 > ROWS else []
    legend = "(" + ", ".join(f"{v.letter} {v.name}" for v in present) + ", - no record)"
    return [*lines[: ROWS + 1], *more, legend]


def _device(plan: str) -> str:
    name = PlanName.parse(plan)
    return name.device if name else plan


def _aligned(rows: str, counts: pd.DataFrame) -> list[str]:
    """A line of heads and one line for each row, with the counts in each cell."""
    texts = [
        " ".join(f"{n}{verdict.letter}" for name, verdict in VERDICTS.items() if (n := c[name]))
        for c in tables.rows(counts)
    ]
    grid = counts.assign(text=texts).pivot(index=rows, columns="column", values="text").fillna("-")
    by_device = not any("/" in str(name) for name in grid.columns)
    grid = grid[sorted(grid.columns, key=lambda name: tables.plan_order(f"{name}/" if by_device else name))]
    body = zip(map(str, grid.index), grid.to_numpy().tolist(), strict=True)
    table = [[rows, *map(str, grid.columns)], *([name, *line] for name, line in body)]
    cells = [[plain(text, 30) for text in line] for line in table]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return ["  ".join(text.ljust(w) for text, w in zip(line, widths, strict=True)).rstrip() for line in cells]
