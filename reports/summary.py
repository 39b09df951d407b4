"""Summary: a run in at most forty lines of plain text."""

from __future__ import annotations

import re
from datetime import datetime
from pathlib import Path

import pandas as pd

from harness.record import FAILING
from harness.rundir import RunInfo
from reports import sentence, tables

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
    """One printable line: control characters (which a terminal would obey) become spaces; cut at `width`."""
    text = " ".join(re.sub(r"[^\x20-\x7e\xa1-\u2027\u2030-\u2065\u2070-\ud7ff\ue000-\ufefe\uff00-\U0010ffff]", " ", text).split())
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
    """At most 40 lines: how the run stands, specs × plans, findings (failing before known), slowest, where to read on."""
    counts = tables.by_verdict(records)
    lines = [plain(sentence.of_run(info, counts.to_dict()), 200)]
    lines.append(plain("   ".join(f"{n:,} {verdict}" for verdict, n in counts.items() if n), 200))
    took = duration(info)
    where = [f"TensorFlow {info.tf}", info.cuda and f"CUDA {info.cuda}", info.host, took and f"took {took}"]
    lines.append(plain(", ".join(filter(None, where))))
    unasked = [name for name, about in info.devices.items() if not about.get("asked")]
    asked = [name for name in info.devices if name not in unasked]
    lines.append(plain(f"devices: {', '.join(asked) or 'none'}; not asked for: {', '.join(unasked) or 'none'}"))
    lines += ["", *_grid(records), ""] if len(records) else []
    found = tables.findings(records)
    room = (LINES - len(lines) - 7) // 3
    lines += _findings(records, found[found["verdict"].isin(FAILING)], "fail [new]", min(room, 5))
    lines += _findings(records, found[found["verdict"] == "known"], "known", 2)
    for row in tables.slowest(records, 2).itertuples():
        lines.append(plain(f"slow: {row.seconds:.2f} s  {row.case} on {row.device}/{row.mode}"))
    lines.append(f"report: {(directory or Path('runs') / info.run) / 'index.html'}")
    return lines


def _findings(records: pd.DataFrame, found: pd.DataFrame, title: str, most: int) -> list[str]:
    lines = []
    for row in found.head(most).itertuples():
        record = records.loc[row.first]
        head = f"{title}: {row.spec} {row.kind}, {row.records:,} {'record' if row.records == 1 else 'records'} on {row.plans}"
        lines.append(plain(head))
        if title != "known":
            lines.append("    " + plain(f"{sentence.of_record(record)} {sentence.values(record)} {record['detail']}", 200))
            lines.append("    rerun: " + plain(str(record["rerun"]), 200))
    if len(found) > most:
        lines.append(f"{title}: {len(found) - most:,} more findings in the report")
    return lines


def _grid(records: pd.DataFrame) -> list[str]:
    """Specs × plans; suites × plans when there are many specs, and × devices when there are many plans."""
    rows = "spec" if records["spec"].nunique() <= ROWS else "suite"
    counts = tables.cells(records, [rows])
    text = pd.Series(
        [" ".join(f"{getattr(c, v)}{LETTERS[v]}" for v in tables.SEVERITY if getattr(c, v)) for c in counts.itertuples()],
        dtype="str",
    )
    grid = counts.assign(text=text).pivot(index=rows, columns="plan", values="text").fillna("-")
    grid = grid[sorted(grid.columns, key=tables.plan_order)]
    if grid.map(len).max().sum() + 3 * len(grid.columns) + 20 > WIDTH:
        narrow = counts.assign(text=[LETTERS[w] if w != "match" else "." for w in counts["worst"]])
        grid = narrow.pivot(index=rows, columns="plan", values="text").fillna("-")[grid.columns]
    names = [plain(str(name), 30) for name in grid.index]
    columns = [plain(str(plan), 16) for plan in grid.columns]
    widths = [max(len(c), *(len(t) for t in grid[plan])) for c, plan in zip(columns, grid.columns, strict=True)]
    first = max(len(rows), *map(len, names))
    lines = ["  ".join([rows.ljust(first), *(c.ljust(w) for c, w in zip(columns, widths, strict=True))]).rstrip()]
    for name, texts in list(zip(names, grid.to_numpy().tolist(), strict=True))[:ROWS]:
        lines.append("  ".join([name.ljust(first), *(t.ljust(w) for t, w in zip(texts, widths, strict=True))]).rstrip())
    if len(names) > ROWS:
        lines.append(f"and {len(names) - ROWS} more rows in the report")
    used = [v for v in tables.SEVERITY if any(LETTERS[v] in t for t in grid.to_numpy().ravel())]
    return [*lines, "(" + ", ".join(f"{LETTERS[v]} {v}" for v in used) + ", - no record)"]
