"""Page data: the records and programs that the scripts of a run's page read."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from markupsafe import Markup

from tf_opdiff.harness.judge.verdicts.severity import SEVERITIES
from tf_opdiff.harness.spec.plan import PlanName
from tf_opdiff.harness.store.records.record import CLAIM
from tf_opdiff.reports.analysis.grid import OPENED, STATES, Grid
from tf_opdiff.reports.analysis.ops.plans_at_worst import ValuesByPlan
from tf_opdiff.reports.data.figures import tables
from tf_opdiff.reports.pages import embed
from tf_opdiff.reports.text.sentences import sentence
from tf_opdiff.reports.text.verdicts import VERDICTS

#: The columns that a finding and its program share.
FINDING = ("spec", "verdict", "kind", "reason")
#: The columns that a sentence about a record is made of.
_OF_SENTENCE = (
    *("quantity", "device", "mode", "against", "verdict", "kind", "kinds", "size", "mismatched", "max_ulp", "budget"),
)
#: Stands in place of the case in a command.
_CASE = "{case}"
#: Columns that the page leaves out: the id of a case decides its seed, and `records.parquet` has it.
_LEFT_OUT = ("seed",)
#: The most characters of a program on the page; a longer one is mostly compressed numbers.
_LONGEST = 10_000


def page_data(
    records: pd.DataFrame,
    repros: Sequence[Mapping[str, Any]],
    by_plan: ValuesByPlan,
    matrix: Grid,
    spec_links: Mapping[str, str],
) -> Markup:
    """The records with their sentences, the plans, the programs of findings, and the values of every plan, encoded.

    The matrix contributes its columns, its states, and the cells that did not run; the page counts the records itself.

    Args:
      records: those of a run, as `reports.load` gives them, with `commands` in the column `rerun`.
      repros: the programs of findings, as `reports.data.run_data.load.load_repros` gives them.
      by_plan: what `reports.analysis.ops.plans_at_worst.values` gives.
      matrix: the matrix of the run, as `reports.analysis.grid.grid` gives it.
      spec_links: the address of the page of each spec's op, relative to the page; specs without a page are absent.
    """
    shown = records.drop(columns=[*_LEFT_OUT]).assign(
        seconds=_rounded(records["seconds"], 3),
        max_abs=_rounded(records["max_abs"], 4),
        max_ulp=_rounded(records["max_ulp"], 6),
        budget=_rounded(records["budget"], 6),
        sentence=sentences(records),
    )
    return Markup(
        embed.encode(
            shown,
            verdicts={name: verdict.symbol for name, verdict in VERDICTS.items()},
            plans=list(tables.plans(records).cat.categories),
            programs=_programs(repros),
            beside=by_plan,
            severities={name: severity.title for name, severity in SEVERITIES.items()},
            claim=CLAIM,
            matrix=_matrix(matrix) | {"pages": dict(spec_links)},
        )
    )


def sentences(records: pd.DataFrame) -> pd.Categorical:
    """The sentence of each record, as `_with_places` writes it; many records share one."""
    names = list(_OF_SENTENCE)
    group = records.groupby(names, observed=True, sort=False, dropna=False).ngroup().to_numpy()
    numbers, first = np.unique(group, return_index=True)
    distinct = [_with_places(row) for row in tables.rows(records[names].iloc[first])]
    codes, texts = pd.factorize(pd.Series(distinct, dtype="str"))
    code_of_group = np.empty(len(numbers), np.int64)
    code_of_group[numbers] = codes
    return pd.Categorical.from_codes(code_of_group[group], texts)


def _with_places(row: Mapping[str, Any]) -> str:
    """`~` and the sentence of a record with `{quantity}`, `{max_ulp}` and the like, or `=` and the whole sentence."""
    text = sentence.without_case(row)
    if "{" in text:
        return "=" + text
    ulps, budget = sentence.number(row["max_ulp"]), sentence.number(row["budget"])
    parts = {
        f"{row['quantity']} on {PlanName(row['device'], row['mode'])}: ": "{quantity} on {plan}: ",
        f" in {row['mismatched']:,} of {row['size']:,} elements": " in {mismatched} of {size} elements",
        f", at most {ulps} ULP off, {budget} allowed": ", at most {max_ulp} ULP off, {budget} allowed",
    }
    for part, places in parts.items():
        text = text.replace(part, places, 1)
    return "~" + text


def _rounded(numbers: pd.Series, digits: int) -> pd.Series:
    """The numbers with so many significant digits, so that the page stays small."""
    distinct = {number: float(f"{number:.{digits - 1}e}") for number in numbers.unique()}
    return numbers.map(distinct)


def commands(records: pd.DataFrame) -> pd.Series:
    """The column `rerun` with few values: `~` and a command with `{case}` for its case, or `=` and a whole command."""
    names = ["rerun", "case"]
    group = records.groupby(names, observed=True, sort=False, dropna=False).ngroup().to_numpy()
    numbers, first = np.unique(group, return_index=True)
    distinct = records[names].iloc[first].astype("str").itertuples(index=False)
    codes, texts = pd.factorize(pd.Series([_without_case(*pair) for pair in distinct], dtype="str"))
    code_of_group = np.empty(len(numbers), np.int64)
    code_of_group[numbers] = codes
    return pd.Series(pd.Categorical.from_codes(code_of_group[group], texts), records.index)


def _without_case(command: str, case: str) -> str:
    if case and case in command and _CASE not in command:
        return "~" + command.replace(case, _CASE)
    return "=" + command


def _matrix(matrix: Grid) -> dict[str, Any]:
    """The plans in the order of the columns, every state, the suites that are open at first, and what did not run."""
    return {
        "plans": [[device, mode] for device, modes in matrix.devices.items() for mode in modes],
        "states": [{"name": s.name, "symbol": s.symbol, "prominent": s.prominent} for s in STATES.values()],
        "opened": [row.name for row in matrix.opened],
        "limit": OPENED,
        "not_run": matrix.not_run.to_numpy().tolist(),
    }


def _programs(repros: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """For the script of each finding: the finding, the outcome in words, the text, and points to plot."""
    programs = []
    for repro in repros:
        words, path = sentence.of_repro(repro)
        about = {name: repro.get(name, "") for name in (*FINDING, "case", "device", "mode", "quantity")}
        points_by_name = repro.get("marked", {}).items()
        marked = {name: point for name, point in points_by_name if drawable([[value] for value in point])}
        text, points = repro.get("text", "") if path else "", drawable(repro["points"])
        if len(text) > _LONGEST:
            text, words = "", f"{words}. It has {len(text):,} characters; it is the file {path} of the run"
        programs.append(about | {"marked": marked, "said": words, "path": path, "text": text, "points": points})
    return programs


def drawable(points: Sequence[Sequence[float]]) -> list[list[float]]:
    """The points of `harness.judge.differences.error_points` whose two numbers are finite; none if the two lists are
    malformed."""
    if len(points) != 2 or len(points[0]) != len(points[1]):
        return []
    rounded = [[float(f"{value:.4g}") for value in side] for side in points]  # nobody sees more in a plot
    pairs = [pair for pair in zip(*rounded, strict=True) if all(map(math.isfinite, pair))]
    return [list(side) for side in zip(*pairs, strict=True)]
