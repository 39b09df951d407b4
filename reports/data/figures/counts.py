"""Counts: how many records have each verdict, by op, spec, plan and kind."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from tf_opdiff.harness.spec.kinds import KINDS
from tf_opdiff.reports.data.figures.several import by_each_kind
from tf_opdiff.reports.data.run_data.plans import plan_order, plans
from tf_opdiff.reports.text.verdicts import SEVERITY


def by_severity(verdicts: pd.Series) -> pd.Series:
    """The verdicts as an ordered category, the worst one lowest."""
    return verdicts.astype(str).astype(pd.CategoricalDtype(list(SEVERITY), ordered=True))


def by_verdict(records: pd.DataFrame) -> pd.Series:
    """How many records have each verdict, the worst verdict first; 0 for a verdict that no record has."""
    return records["verdict"].astype(str).value_counts().reindex(SEVERITY, fill_value=0).rename("records")


def counts(records: pd.DataFrame) -> dict[str, int]:
    """`by_verdict` as a dict."""
    return {str(verdict): int(n) for verdict, n in by_verdict(records).items()}


def counted(records: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """One row for each combination of the columns `by`: these, the `worst` verdict, `records`, a count by verdict."""
    keys = {name: records[name].astype("category") for name in by} | {"verdict": by_severity(records["verdict"])}
    sizes = pd.DataFrame(keys).groupby([*by, "verdict"], observed=True).size().unstack("verdict", fill_value=0)
    return _with_worst(sizes.reset_index().astype(dict.fromkeys(by, "str")))


def _with_worst(sizes: pd.DataFrame) -> pd.DataFrame:
    """The other columns first, then the worst verdict, the sum of the counts, and the counts by verdict."""
    by = [name for name in sizes.columns if name not in SEVERITY]
    table = sizes.set_axis(sizes.columns.astype("str"), axis=1).reindex(columns=[*by, *SEVERITY], fill_value=0)
    table = table.astype(dict.fromkeys(SEVERITY, "int64")).rename_axis(columns=None)
    numbers = table[list(SEVERITY)].to_numpy()
    worst = np.asarray(SEVERITY)[(numbers > 0).argmax(axis=1)] if len(table) else []
    table.insert(len(by), "worst", pd.Series(worst, index=table.index, dtype="str"))
    table.insert(len(by) + 1, "records", numbers.sum(axis=1))
    return table


def by_op(records: pd.DataFrame) -> pd.DataFrame:
    """One row for each OpDef × spec: `raw_op`, `spec`, `worst` verdict, `records`, and a count by verdict, worst first.

    A record counts for each op that its executed graph contained; `raw_op` is empty where the graph was not seen.
    """
    sizes = by_each_op(counted(records, ["raw_op", "spec"]).drop(columns=["worst", "records"]))
    return _with_worst(sizes.groupby(["raw_op", "spec"]).sum().reset_index())


def by_each_op(table: pd.DataFrame) -> pd.DataFrame:
    """The rows, each once for every OpDef that its `raw_op` names."""
    return table.assign(raw_op=table["raw_op"].astype("str").str.split(";")).explode("raw_op").astype({"raw_op": "str"})


def by_spec(records: pd.DataFrame) -> pd.DataFrame:
    """One row for each spec: `suite`, `spec`, `worst` verdict, `records`, and a count by verdict, worst first."""
    return counted(records, ["suite", "spec"])


def by_plan(records: pd.DataFrame) -> pd.DataFrame:
    """One row for each plan, the CPU first: `device`, `mode`, `worst` verdict, `records`, counts by verdict, `seconds`.

    `seconds` is the time in device servers, all runs together; NaN where no time was measured.
    """
    table = counted(records.assign(plan=plans(records)), ["plan", "device", "mode"])
    runs = records.drop_duplicates(["case", "device", "mode"])
    seconds = runs["seconds"].groupby([runs["device"].astype(str), runs["mode"].astype(str)]).sum(min_count=1)
    seconds = seconds.rename("seconds").rename_axis(["device", "mode"])
    table = table.join(seconds, on=["device", "mode"])
    order = sorted(table.index, key=lambda i: plan_order(table.at[i, "plan"]))
    return table.loc[order].drop(columns="plan").reset_index(drop=True)


def by_kind(records: pd.DataFrame) -> pd.DataFrame:
    """One row for each kind, in their order: `kind`, `worst` verdict, `records`, and a count by verdict, worst first.

    A record counts for each kind by which it differs. Records without a kind are left out: matches, and known failures
    that no longer fail.
    """
    table = counted(by_each_kind(records[records["kind"].astype(str) != ""]), ["kind"])
    return table.sort_values("kind", key=lambda kinds: kinds.map(KINDS.index)).reset_index(drop=True)


def cells(records: pd.DataFrame, by: list[str] | None = None) -> pd.DataFrame:
    """One row for each of `by` × plan: `worst` verdict, `records`, a count by verdict.

    `by` lists columns; without it, `suite` and `spec`.
    """
    return counted(records.assign(plan=plans(records).astype(str)), [*(by or ["suite", "spec"]), "plan"])


def matrix(records: pd.DataFrame, by: list[str] | None = None) -> pd.DataFrame:
    """The worst verdict of each of `by` under each plan; empty where nothing ran. `by` is that of `cells`."""
    by = by or ["suite", "spec"]
    table = cells(records, by).pivot(index=by, columns="plan", values="worst").fillna("")
    return table[sorted(table.columns, key=plan_order)]
