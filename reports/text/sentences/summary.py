"""Summary: a run in at most forty lines of plain text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import pandas as pd

from tf_opdiff.harness.spec.plan import PlanName
from tf_opdiff.harness.spec.settings.variant import ONEDNN
from tf_opdiff.harness.store.run_directories.run_info import RunInfo
from tf_opdiff.harness.system.processor import described
from tf_opdiff.harness.system.terminal import safe
from tf_opdiff.reports.data.causes.discrepancy import Discrepancy
from tf_opdiff.reports.data.causes.missing_kernels import expected
from tf_opdiff.reports.data.figures import tables
from tf_opdiff.reports.data.run_data import run_environment
from tf_opdiff.reports.text.lines import WIDTH, plain
from tf_opdiff.reports.text.program_address import record_address
from tf_opdiff.reports.text.sentences import sentence
from tf_opdiff.reports.text.sentences.headline import headline
from tf_opdiff.reports.text.verdicts import SEVERITY, VERDICTS

__all__ = ["LINES", "ROWS", "WIDTH", "duration", "plain", "terminal"]

LINES = 40
#: The most rows of the grid.
ROWS = 15
#: The most known discrepancies.
TOP = 10


def duration(info: RunInfo) -> str:
    """The duration of a run, as `3 min 20 s`; empty if its start or end is missing."""
    try:
        seconds = int((datetime.fromisoformat(info.ended) - datetime.fromisoformat(info.started)).total_seconds())
    except (ValueError, TypeError):
        return ""
    hours, minutes = divmod(seconds // 60, 60)
    parts = [(hours, "h"), (minutes, "min"), (seconds % 60, "s")]
    return " ".join(f"{n} {unit}" for n, unit in parts if n) or "0 s"


def terminal(
    records: pd.DataFrame,
    info: RunInfo,
    ranked: Sequence[Discrepancy],
    directory: Path | None = None,
    outcomes: Sequence[Mapping[str, Any]] = (),
) -> list[str]:
    """A run in at most 40 lines.

    In this order: the headline, the state of the run, the grid of specs × plans, the failures that nobody has
    explained, the known discrepancies that matter most, missing kernels, the slowest runs, and the path of the report.

    Args:
      records: those of the run.
      info: its run.json.
      ranked: its discrepancies, as `reports.data.causes.discrepancies.discrepancies` gives them.
      directory: the directory of the run; by default that in `runs`.
      outcomes: those of its programs.
    """
    directory = directory or Path("runs") / info.run
    counts = tables.counts(records)
    lines = [*(plain(line, 220) for line in headline(records, info, ranked)), plain(sentence.of_run(info, counts), 200)]
    lines += [plain(", ".join(f"{n:,} {verdict}" for verdict, n in counts.items() if n), 200)] if len(records) else []
    lines += _environment(info)
    lines += ["", *_grid(records), ""] if len(records) else []
    missing = expected(records, 2)
    room = LINES - len(lines) - len(missing) - 5  # those of the slowest runs, of the report, and of rows left out
    failing = [one for one in ranked if not one.known]
    blocks = [_failure(one, directory, outcomes) for one in failing[: min(room // 5, 5)]]
    shown = failing[: len(blocks)]
    lines += [line for block in blocks for line in block]
    lines += [f"fail: {len(failing) - len(shown):,} more findings in the report"] if len(failing) > len(shown) else []
    known = [one for one in ranked if one.known]
    top = known[: max(2, min(room - sum(map(len, blocks)), TOP))]
    lines += [plain(f"known: {one.severity_title}: {one.title}", WIDTH) for one in top]
    lines += [f"known: {len(known) - len(top):,} more in the report"] if len(known) > len(top) else []
    lines += map(plain, missing)
    for row in tables.rows(tables.slowest(records, 2)):
        lines.append(plain(f"slow: {row['seconds']:.2f} s  {row['case']} on {PlanName(row['device'], row['mode'])}"))
    lines.append(safe(f"report: {directory / 'index.html'}"))
    return lines


def _environment(info: RunInfo) -> list[str]:
    """TensorFlow, the host and the duration; the processor; the devices."""
    took = duration(info)
    where = [f"TensorFlow {info.tf}", run_environment.cuda(info), info.host, took and f"took {took}"]
    lines = [plain(", ".join(filter(None, where)))]
    lines += [plain(f"processor: {processor}", 200)] if (processor := described(info.machine)) else []
    others = [name for name, about in info.devices.items() if not run_environment.requested(about)]
    requested = [name for name in info.devices if name not in others]
    words = [_device_in_words(name, info.devices[name]) for name in requested]
    return [*lines, plain(f"devices: {', '.join(words) or 'none'}; not requested: {', '.join(others) or 'none'}")]


def _device_in_words(name: str, about: Mapping[str, Any]) -> str:
    """A device, with whether it uses oneDNN, and with the software and the machine of a remote one."""
    remote = [f"TensorFlow {about['tensorflow']} on {about['host']}"] if "server" in about else []
    words = [*remote, *([f"oneDNN {on}"] if (on := about.get(ONEDNN)) else [])]
    return f"{name} ({', '.join(words)})" if words else name


def _failure(one: Discrepancy, directory: Path, outcomes: Sequence[Mapping[str, Any]]) -> list[str]:
    """A failure as one block: its title and plans, its example, its command, its program, and its record's address."""
    record = one.example
    text = f"{sentence.of_record(record)} {sentence.values(record)} {record['detail']}"
    alike = [o for o in outcomes if all(o[name] == record[name] for name in ("spec", "verdict", "kind"))]
    programs = [path for outcome in alike if (path := sentence.of_repro(outcome)[1])]
    return [
        plain(f"fail: {one.severity_title}: {one.title}, on {' '.join(one.plans)}"),
        f"    {plain(text, 200)}",
        f"    rerun: {plain(str(record['rerun']), 200)}",
        *([f"    program: {plain(str(directory / programs[0]), 200)}"] if programs else []),
        f"    record: {plain(f'{directory}/{record_address(record)}', 200)}",
    ]


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
