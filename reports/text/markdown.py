"""Markdown: a run as a page for code hosts, such as a job summary."""

from __future__ import annotations

import re
from typing import Any

import pandas as pd

from tf_opdiff.harness.spec.plan import PlanName
from tf_opdiff.harness.store.processor import described
from tf_opdiff.harness.store.record import FAILING
from tf_opdiff.harness.store.run_info import RunInfo
from tf_opdiff.reports.data import run_environment, tables
from tf_opdiff.reports.text import sentence
from tf_opdiff.reports.text.headline import headline
from tf_opdiff.reports.text.lines import plain
from tf_opdiff.reports.text.summary import duration
from tf_opdiff.reports.text.verdicts import VERDICTS

#: The most findings of a section.
LISTED = 30


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


def summary(records: pd.DataFrame, info: RunInfo) -> str:
    """The run in Markdown.

    In this order: the headline, the state of the run, its environment and devices, records by verdict, specs × plans,
    the findings, the cells without a result, and the slowest runs.
    """
    counts = tables.counts(records)
    first, *more = [*headline(records, info), sentence.of_run(info, counts)]
    lines = [f"**{escape(first, 500)}**", "", *(line for text in more for line in (escape(text, 500), ""))]
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
    findings = tables.findings(records)
    lines += _section("Failing", records, findings[findings["verdict"].isin(FAILING)])
    lines += _section("Known failures", records, findings[findings["verdict"] == "known"])
    lines += _not_run(info)
    slow = [[escape(r["case"]), _plan(r), f"{r['seconds']:.2f}"] for r in tables.rows(tables.slowest(records))]
    return "\n".join([*lines, "## Slowest", "", *table(["case", "plan", "seconds"], slow), ""])


def _section(title: str, records: pd.DataFrame, findings: pd.DataFrame) -> list[str]:
    lines = [f"## {title}", "", *(_finding(records, row) for row in tables.rows(findings.head(LISTED)))]
    lines += [f"- and {len(findings) - LISTED:,} more in the report"] if len(findings) > LISTED else []
    return [*lines, "" if len(findings) else "None.", ""]


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


def _finding(records: pd.DataFrame, row: dict[str, Any]) -> str:
    record = tables.row(records, row["first"])
    title = f"- {VERDICTS[record['verdict']].emoji} **{escape(record['spec'])}** {escape(record['kind'])}"
    lines = [f"{title}, {row['records']:,} on {escape(row['plans'])}: {escape(sentence.of_record(record))}"]
    values = sentence.values(record)
    lines += [f"  - {code(values)}"] if values else []
    lines += [f"  - {escape(text)}" for text in dict.fromkeys([record["detail"], record["reason"]]) if text]
    link = str(record["link"])
    if re.fullmatch(r"https://[A-Za-z0-9./_#?=&%:+-]+", link):
        lines.append(f"  - <{link}>")
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
