"""Plans at worst: the values of every plan at the element where one of them is off."""

from __future__ import annotations

from typing import Any

import pandas as pd

from tf_opdiff.harness.device.observation import Result
from tf_opdiff.harness.judge.differences.compare import summary
from tf_opdiff.harness.spec.plan import PlanName
from tf_opdiff.harness.store.records.element_index import parse_index
from tf_opdiff.reports.data.figures import tables
from tf_opdiff.reports.data.run_data import frame
from tf_opdiff.reports.text.bounded import bounded
from tf_opdiff.reports.text.verdicts import FAILING_OR_KNOWN

#: The most cases × quantities with values, failing ones first, so that a page stays small where everything fails.
MOST = 2000

#: case → quantity → index (empty for the whole quantity) → plan → value: `{"cpu/xla": "-0.0"}` and so on.
ValuesByPlan = dict[str, dict[str, dict[str, dict[str, str]]]]


def values(records: pd.DataFrame, observations: pd.DataFrame) -> ValuesByPlan:
    """The value of each plan at the element of a record's example, or the error that came instead of a value.

    Args:
      records: those of a run; the ones that fail or are known count, worst first.
      observations: those of the same run, as `reports.load_observations` gives them. A case without observations, such
        as a sweep, is left out, and so is an element that a plan's array does not have.
    """
    off = records[records["verdict"].isin(FAILING_OR_KNOWN)]
    off = off.iloc[tables.by_severity(off["verdict"]).argsort(kind="stable")]
    indices: dict[
        tuple[str, str], dict[str, None]
    ] = {}  # in the order of the records, so that a page is the same again
    names = ["case", "quantity", "example_index", "worst_index"]
    for case, quantity, simplest, worst in off[names].astype("str").itertuples(index=False):
        key = (case, quantity)
        if key in indices or len(indices) < MOST:
            indices.setdefault(key, {})[simplest or worst] = None
    some = observations[observations["case"].isin({case for case, _ in indices})]
    by_case: ValuesByPlan = {}
    for row in tables.rows(some):
        case, quantity = str(row["case"]), str(row["quantity"])
        for index in indices.get((case, quantity), ()):
            text = _value(row, index)
            if text:
                by_plan = by_case.setdefault(case, {}).setdefault(quantity, {}).setdefault(index, {})
                by_plan[str(PlanName(row["device"], row["mode"]))] = text
    return by_case


def _value(row: dict[str, Any], index: str) -> str:
    value, position = frame.array(row), parse_index(index)
    if value is None or row["status"] != "value" or position is None:
        return summary(Result(str(row["status"]), value, code=str(row["code"])))
    inside = len(position) == value.ndim and all(i < n for i, n in zip(position, value.shape, strict=True))
    return bounded(str(value[position])) if inside else ""
