"""Notebook: a run in Python and in notebooks: its facts, its discrepancies and its records, with pandas' own types."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd
from markupsafe import Markup

from tf_opdiff.harness.judge.verdicts.severity import SEVERITIES
from tf_opdiff.harness.store.records.record import COLUMNS
from tf_opdiff.harness.store.run_directories.run_info import RunInfo
from tf_opdiff.reports.data.causes.discrepancies import of_run
from tf_opdiff.reports.data.figures import tables
from tf_opdiff.reports.data.run_data import run_environment
from tf_opdiff.reports.data.run_data.load import load
from tf_opdiff.reports.text.sentences.discrepancy_words import numbers
from tf_opdiff.reports.text.sentences.headline import headline
from tf_opdiff.reports.text.sentences.sentence import of_run as state_of_run
from tf_opdiff.reports.text.sentences.tested import soundness, tested, untested

#: The columns of `findings`, in order.
FINDINGS = (
    *("title", "severity", "verdict", "example", "case", "distance", "disagree", "ops", "specs", "plans", "dtypes"),
    *("kinds", "records", "owner", "severity_reason", "reason", "link", "id"),
    *("arguments", "function", "raw_op_only", "fixed"),
)
#: The discrepancies that a run shows in a notebook.
TOP = 10


def findings(run: Path | str) -> pd.DataFrame:
    """The discrepancies of a run, one row each, the one that matters most first; the index is the rank, from 1.

    Columns: `title`, a sentence; `severity`, an ordered category, the most severe first; `verdict`; `example`, the
    numbers of the simplest input, and its `case`; `distance`, the largest one, in ULPs of the result's dtype;
    `disagree`: whether plans disagree, else TensorFlow differs from NumPy; `ops`, `specs`, `plans`, `dtypes` and
    `kinds`, tuples of names; `records`, how many; `owner`, `severity_reason`, `reason` and `link` of the cause; `id`;
    `arguments`, `function` and `fixed` of the cause, and `raw_op_only`: see
    `reports.data.causes.discrepancy.Discrepancy`. Missing values are NA.

    Raises:
      FileNotFoundError: `run` is not the directory of a run.
      ValueError: a file of the run is damaged or of another format.
    """
    ranked = of_run(Path(run), load(run))
    rows = [{name: getattr(one, name, None) for name in FINDINGS} | _example(one) for one in ranked]
    table = pd.DataFrame(rows, columns=list(FINDINGS), index=pd.RangeIndex(1, len(rows) + 1, name="rank"))
    severities = pd.CategoricalDtype([*SEVERITIES], ordered=True)
    table["severity"] = table["severity"].where(table["severity"].isin(SEVERITIES), None)
    texts = ["title", "verdict", "example", "case", "owner", "severity_reason", "reason", "link", "id"]
    texts += ["arguments", "function", "fixed"]
    table = table.astype({**dict.fromkeys(texts, "string"), "severity": severities, "distance": "Float64"})
    table[texts] = table[texts].mask(table[texts] == "")
    return table.astype({"records": "int64", "disagree": "bool", "raw_op_only": "bool"})


def _example(one: Any) -> dict[str, str]:
    return {"example": numbers(one), "case": one.example["case"]}


def records(run: Path | str) -> pd.DataFrame:
    """The records of a run, as `reports.load` gives them, with dates as dates and missing values as NA.

    `started` is a time in UTC; empty texts are NA, in categories too; distances are `Float64` with NA where none was
    taken.

    Raises:
      FileNotFoundError: `run` is not the directory of a run.
      ValueError: a file of the run is damaged or of another format.
    """
    table = load(run)
    columns: dict[str, pd.Series] = {}
    for name in COLUMNS:
        column = table[name]
        if name == "started":
            columns[name] = pd.to_datetime(column.astype("str"), utc=True, errors="coerce", format="ISO8601")
        elif isinstance(column.dtype, pd.CategoricalDtype):
            empty = [""] if "" in column.cat.categories else []
            columns[name] = column.cat.remove_categories(empty)
        elif column.dtype.kind == "f":
            columns[name] = column.astype("Float64")
        elif column.dtype.kind == "i":
            columns[name] = column
        else:
            columns[name] = column.astype("string").mask(column == "")
    return pd.DataFrame(columns)


@dataclass(frozen=True)
class Run:
    """A run, shown in a notebook as its first screen: what was tested, whether it is sound, and what differs most.

    Attributes:
      path: its directory.
    """

    path: Path

    @cached_property
    def info(self) -> RunInfo:
        """Its run.json."""
        return run_environment.info(self.path)

    @cached_property
    def records(self) -> pd.DataFrame:
        """Its records; see `records`."""
        return records(self.path)

    @cached_property
    def findings(self) -> pd.DataFrame:
        """Its discrepancies; see `findings`."""
        return findings(self.path)

    @cached_property
    def _lines(self) -> list[str]:
        plain = load(self.path)
        counts = tables.counts(plain)
        lines = headline(plain, self.info, of_run(self.path, plain)) or [state_of_run(self.info, counts)]
        missing = untested(plain, self.info)
        lines += [tested(plain, self.info), soundness(self.info, counts)]
        return [*lines, *(["Not tested: " + "; ".join(missing) + "."] if missing else [])]

    def __repr__(self) -> str:
        return "\n".join([*self._lines, *(f"{rank}. {row}" for rank, row in self.findings["title"].head(TOP).items())])

    def _repr_html_(self) -> str:
        first, *rest = self._lines
        columns = ["title", "severity", "example", "plans", "dtypes"]
        shown = self.findings[columns].head(TOP)
        for name in ("plans", "dtypes"):
            shown[name] = shown[name].map(", ".join)
        with pd.option_context("display.max_colwidth", None):
            table = Markup(shown.to_html(escape=True))
        lines = Markup("").join(Markup("<p>{}</p>").format(line) for line in rest)
        return str(Markup("<h3>{}</h3>{}{}").format(first, lines, table))


def run(path: Path | str = "runs/latest") -> Run:
    """A run by its directory.

    Raises:
      FileNotFoundError: `path` is not the directory of a run.
    """
    if not Path(path).is_dir():
        raise FileNotFoundError(f"{path}: expected the directory of a run, such as runs/latest")
    return Run(Path(path))
