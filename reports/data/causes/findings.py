"""Findings: the records that are not as promised, grouped by spec, verdict, kind and reason."""

from __future__ import annotations

import itertools

import pandas as pd

from tf_opdiff.harness.judge.differences.simplest import TIES, of_texts
from tf_opdiff.reports.data.figures.counts import by_severity
from tf_opdiff.reports.data.run_data.plans import joined, plans
from tf_opdiff.reports.text.verdicts import FAILING_OR_KNOWN


def findings(records: pd.DataFrame) -> pd.DataFrame:
    """One row for each spec × verdict × kind × reason of the records that are not as promised; the failing ones first.

    `reason` is that of the entry by which a failure is known; it is empty where no entry explains the failure.
    `records` counts, `plans`, `dtypes` and `quantities` list where; `first` is the index in `records` of the record
    that represents the rest: one against NumPy where there is one, with the simplest input.
    """
    some = records[records["verdict"].isin(FAILING_OR_KNOWN)]
    some = some.assign(plan=plans(some).astype(str), index=some.index)
    some = some.assign(reason=some["reason"].astype(str).where(some["verdict"].isin(["known", "stale"]), ""))
    some = simplest_first(some)
    keys = ["suite", "spec", "verdict", "kind", "reason"]
    names = [*keys, "quantity", "dtype"]
    some[names] = some[names].astype(str)
    grouped = some.groupby(keys, sort=False)
    table = grouped.agg(
        records=("index", "size"),
        plans=("plan", joined),
        dtypes=("dtype", lambda names: " ".join(sorted(set(names)))),
        quantities=("quantity", lambda names: " ".join(sorted(set(names)))),
        first=("index", "first"),
    ).reset_index()
    table["verdict"] = by_severity(table["verdict"])
    order = ["verdict", "records", "suite", "spec", "kind", "reason"]
    return table.sort_values(order, ascending=[True, False, True, True, True, True]).reset_index(drop=True)


def simplest_first(records: pd.DataFrame) -> pd.DataFrame:
    """The records in the order in which `harness.repro.findings.findings` prefers them to illustrate a finding."""
    order = records[list(TIES)].astype("str")
    order = order.assign(
        other=records["against"].astype(str) != "numpy",
        simple=simplicity(records),
        uncommon=records["dtype"].astype(str) != "float32",
    )
    return records.loc[order.sort_values(["other", "simple", "uncommon", *TIES], kind="stable").index]


def simplicity(records: pd.DataFrame) -> pd.Series:
    """Numbers that sort records by their examples, the one with the simplest input first; see
    `harness.judge.differences.simplest`.

    Equally simple examples have equal numbers.
    """
    texts = records["example"].astype(str)
    simple = of_texts(texts)
    order = sorted(simple, key=simple.__getitem__)
    steps = (a != b for a, b in itertools.pairwise(simple[text] for text in order))
    ranks = itertools.accumulate(steps, initial=0) if order else ()
    return texts.map(dict(zip(order, ranks, strict=True))).astype("int64")
