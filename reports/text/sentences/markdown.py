"""Markdown: a run as a page for code hosts, such as a job summary."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import pandas as pd

from tf_opdiff.harness.spec.plan import PlanName
from tf_opdiff.harness.store.run_directories.run_info import RunInfo
from tf_opdiff.harness.system.processor import described
from tf_opdiff.reports.data.causes.discrepancy import Discrepancy
from tf_opdiff.reports.data.figures import tables
from tf_opdiff.reports.data.run_data import run_environment
from tf_opdiff.reports.text.lines import is_address, plain
from tf_opdiff.reports.text.sentences import sentence
from tf_opdiff.reports.text.sentences.discrepancy_words import of_programs
from tf_opdiff.reports.text.sentences.headline import headline
from tf_opdiff.reports.text.sentences.summary import duration
from tf_opdiff.reports.text.sentences.tested import hidden, other_processor, soundness, tested, untested
from tf_opdiff.reports.text.verdicts import VERDICTS

#: The most discrepancies of a section.
LISTED = 10


def escape(text: object, width: int = 300) -> str:
    """A text that Markdown and HTML show unchanged, on one line."""
    line = plain(str(text), width).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    line = re.sub(r"([\\`*_{}\[\]()#!|~$])", r"\\\1", line)
    return line.replace("://", ":&#47;&#47;").replace("@", "&#64;")


def code(text: object) -> str:
    """A text as code on one line; the text may hold backticks."""
    line = plain(str(text), 500).replace("|", "\\|")
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", line)), default=0))
    return f"{fence} {line} {fence}"


def summary(records: pd.DataFrame, info: RunInfo, ranked: Sequence[Discrepancy]) -> str:
    """The run in Markdown.

    In this order: the headline, what was tested, whether the run is sound, the failures that nobody has explained, the
    known discrepancies that matter most, its environment and devices, records by verdict, specs × plans, the cells
    without a result, and the slowest runs.

    Args:
      records: those of the run.
      info: its run.json.
      ranked: its discrepancies, as `reports.data.causes.discrepancies.discrepancies` gives them.
    """
    counts = tables.counts(records)
    first, *more = [*headline(records, info, ranked), sentence.of_run(info, counts)]
    more += [tested(records, info), *_untested(records, info), soundness(info, counts)]
    more += filter(None, (hidden(records), other_processor(records)))
    lines = [f"**{escape(first, 500)}**", "", *(line for text in more for line in (escape(text, 500), ""))]
    lines += _section("Failing, and not explained", [one for one in ranked if not one.known])
    lines += _section("Known discrepancies, the ones that matter most first", [one for one in ranked if one.known])
    lines += [f"# tf-opdiff run {escape(info.run)}", ""]
    tensorflow = ", ".join(filter(None, [info.tf, run_environment.cuda(info)]))
    facts = {"TensorFlow": tensorflow, "host": info.host, "processor": described(info.machine), "started": info.started}
    facts["suite"] = info.versions.get("suite commit", "")
    facts["took"] = duration(info)
    lines += [", ".join(f"{name} {escape(value)}" for name, value in facts.items() if value), ""]
    for name, about in info.devices.items():
        state = "requested" if run_environment.requested(about) else "**not requested, not run**"
        lines.append(f"- {escape(name)}: {state} {escape(run_environment.device_facts(about))}".rstrip())
    numbers = [[f"{VERDICTS[verdict].emoji} {verdict}", f"{n:,}"] for verdict, n in counts.items()]
    lines += ["", *table(["verdict", "records"], numbers), ""]
    lines += _matrix(records)
    lines += _not_run(info)
    slow = [[escape(r["case"]), _plan(r), f"{r['seconds']:.2f}"] for r in tables.rows(tables.slowest(records))]
    return "\n".join([*lines, "## Slowest", "", *table(["case", "plan", "seconds"], slow), ""])


def _untested(records: pd.DataFrame, info: RunInfo) -> list[str]:
    phrases = untested(records, info)
    return [f"Not tested: {'; '.join(phrases)}."] if phrases else []


def _section(title: str, ranked: Sequence[Discrepancy]) -> list[str]:
    lines = [f"## {title}", "", *map(_discrepancy, ranked[:LISTED])]
    lines += [f"- and {len(ranked) - LISTED:,} more in the report"] if len(ranked) > LISTED else []
    return [*lines, "" if ranked else "None.", ""]


def _not_run(info: RunInfo) -> list[str]:
    """The cells without a result, by reason and plan."""
    absent = tables.not_run(info)
    if not len(absent):
        return []
    reasons = absent.groupby(["why", "device", "mode"]).size().reset_index(name="cells")
    rows = [[escape(r["why"]), _plan(r), f"{r['cells']:,}"] for r in tables.rows(reasons)]
    return ["## Not run", "", *table(["why", "plan", "cells"], rows), ""]


def _plan(row: dict[str, Any]) -> str:
    return escape(PlanName(row["device"], row["mode"]))


def _discrepancy(one: Discrepancy) -> str:
    record, emoji = one.example, VERDICTS[one.verdict].emoji
    lines = [f"- {emoji} **{escape(one.severity_title)}** {escape(one.title)}: {escape(sentence.of_record(record))}"]
    lines += [f"  - {escape(text)}" for text in of_programs(one)]
    values = sentence.values(record)
    lines += [f"  - {code(values)}"] if values else []
    texts = dict.fromkeys([record["detail"], one.reason])
    lines += [f"  - {escape(text)}" for text in texts if text and text not in one.title]
    if is_address(one.link):
        lines.append(f"  - <{one.link}>")
    return "\n".join([*lines, f"  - {code(record['rerun'])}"])


def _matrix(records: pd.DataFrame) -> list[str]:
    if not len(records):
        return []
    rows = ["spec"] if records["spec"].nunique() <= 15 else ["suite"]
    grid = tables.matrix(records, rows)
    body = zip(map(str, grid.index), grid.to_numpy().tolist(), strict=True)
    lines = [[escape(name), *(VERDICTS[v].emoji if v else "" for v in values)] for name, values in body]
    return [f"## By {rows[0]} and plan: the worst verdict", "", *table([*rows, *map(escape, grid.columns)], lines), ""]


def table(heads: list[str], rows: list[list[str]]) -> list[str]:
    """The lines of a table; the caller escapes the cells."""
    return ["| " + " | ".join(line) + " |" for line in (heads, ["---"] * len(heads), *rows)]
