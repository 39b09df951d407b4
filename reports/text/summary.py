"""Summary: a run in at most forty lines of plain text."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pandas as pd

from tf_opdiff.harness.spec.variant import ONEDNN
from tf_opdiff.harness.store.processor import described
from tf_opdiff.harness.store.record import FAILING
from tf_opdiff.harness.store.rundir import RunInfo
from tf_opdiff.harness.system.terminal import safe
from tf_opdiff.reports.data import run_environment, tables
from tf_opdiff.reports.data.missing_kernels import expected
from tf_opdiff.reports.text import sentence
from tf_opdiff.reports.text.headline import headline

#: One character a verdict, for the terminal.
LETTERS = {
    "mismatch": "X",
    "error": "E",
    "stale": "S",
    "known": "k",
    "unavailable": "u",
    "contract": "c",
    "match": ".",
}
LINES = 40
ROWS = 15
WIDTH = 120


def plain(text: str, width: int = WIDTH) -> str:
    """One printable line that no terminal and no CI obeys: control characters become spaces; cut at `width`."""
    text = safe(" ".join("".join(c if c.isprintable() else " " for c in text).split()))
    return text if len(text) <= width else text[: width - 1] + "…"


def duration(info: RunInfo) -> str:
    """How long a run took, as `3 min 20 s`; empty when that is not known."""
    try:
        seconds = int((datetime.fromisoformat(info.ended) - datetime.fromisoformat(info.started)).total_seconds())
    except (ValueError, TypeError):
        return ""
    hours, minutes = divmod(seconds // 60, 60)
    parts = [(hours, "h"), (minutes, "min"), (seconds % 60, "s")]
    return " ".join(f"{n} {unit}" for n, unit in parts if n) or "0 s"


def terminal(records: pd.DataFrame, info: RunInfo, directory: Path | None = None) -> list[str]:
    """At most 40 lines: what is wrong, and an example; how the run stands; specs × plans, findings (failing before
    known), slowest, where it is.
    """
    counts = tables.counts(records)
    lines = [*(plain(line, 220) for line in headline(records, info)), plain(sentence.of_run(info, counts), 200)]
    lines += [plain(", ".join(f"{n:,} {verdict}" for verdict, n in counts.items() if n), 200)] if len(records) else []
    took = duration(info)
    where = [f"TensorFlow {info.tf}", run_environment.cuda(info), info.host, took and f"took {took}"]
    lines.append(plain(", ".join(filter(None, where))))
    lines += [plain(f"processor: {processor}", 200)] if (processor := described(info.machine)) else []
    unasked = [name for name, about in info.devices.items() if not about.get("asked")]
    asked = [name for name in info.devices if name not in unasked]
    named = [f"{name} (oneDNN {on})" if (on := info.devices[name].get(ONEDNN)) else name for name in asked]
    lines.append(plain(f"devices: {', '.join(named) or 'none'}; not asked for: {', '.join(unasked) or 'none'}"))
    lines += ["", *_grid(records), ""] if len(records) else []
    found = tables.findings(records)
    awaited = expected(records, 2)
    room = (LINES - len(lines) - len(awaited) - 7) // 3
    lines += _findings(records, found[found["verdict"].isin(FAILING)], "fail [new]", min(room, 5))
    lines += _findings(records, found[found["verdict"] == "known"], "known", 2)
    lines += map(plain, awaited)
    for row in tables.rows(tables.slowest(records, 2)):
        lines.append(plain(f"slow: {row['seconds']:.2f} s  {row['case']} on {row['device']}/{row['mode']}"))
    lines.append(safe(f"report: {(directory or Path('runs') / info.run) / 'index.html'}"))
    return lines


def _findings(records: pd.DataFrame, found: pd.DataFrame, title: str, most: int) -> list[str]:
    lines = []
    for row in tables.rows(found.head(most)):
        record = tables.row(records, row["first"])
        many = f"{row['records']:,} {'record' if row['records'] == 1 else 'records'}"
        lines.append(plain(f"{title}: {row['spec']} {row['kind']}, {many} on {row['plans']}"))
        if title != "known":
            told = f"{sentence.of_record(record)} {sentence.values(record)} {record['detail']}"
            lines.append("    " + plain(told, 200))
            lines.append("    rerun: " + plain(str(record["rerun"]), 200))
    if len(found) > most:
        lines.append(f"{title}: {len(found) - most:,} more findings in the report")
    return lines


def _grid(records: pd.DataFrame) -> list[str]:
    """Specs × plans; suites × plans when there are many specs, and × devices when there are many plans."""
    rows = "spec" if records["spec"].nunique() <= ROWS else "suite"
    counts = tables.cells(records, [rows]).rename(columns={"plan": "column"})
    lines = _aligned(rows, counts)
    if max(map(len, lines)) > WIDTH:
        device = counts["column"].str.rpartition("/")[0]
        merged = counts.assign(column=device).groupby([rows, "column"])[list(tables.SEVERITY)].sum()
        lines = _aligned(rows, merged.reset_index())
    used = [v for v in tables.SEVERITY if (records["verdict"] == v).any()]
    more = [f"and {len(lines) - 1 - ROWS} more rows in the report"] if len(lines) - 1 > ROWS else []
    return [*lines[: ROWS + 1], *more, "(" + ", ".join(f"{LETTERS[v]} {v}" for v in used) + ", - no record)"]


def _aligned(rows: str, counts: pd.DataFrame) -> list[str]:
    """A line of heads and one for each row, with what was counted in each cell."""
    texts = [" ".join(f"{n}{LETTERS[v]}" for v in tables.SEVERITY if (n := c[v])) for c in tables.rows(counts)]
    grid = counts.assign(text=texts).pivot(index=rows, columns="column", values="text").fillna("-")
    by_device = not any("/" in str(name) for name in grid.columns)
    grid = grid[sorted(grid.columns, key=lambda name: tables.plan_order(f"{name}/" if by_device else name))]
    body = zip(map(str, grid.index), grid.to_numpy().tolist(), strict=True)
    table = [[rows, *map(str, grid.columns)], *([name, *line] for name, line in body)]
    cells = [[plain(text, 30) for text in line] for line in table]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return ["  ".join(text.ljust(w) for text, w in zip(line, widths, strict=True)).rstrip() for line in cells]
