"""Silent changes: numbers that changed between two runs without a change of verdict."""

from __future__ import annotations

import pandas as pd

from tf_opdiff.reports.analysis.comparisons.bits import KEYS
from tf_opdiff.reports.data.run_data.plans import joined, plans

_COLUMNS = [
    *("spec", "dtype", "what", "erratic", "plans", "quantities", "cases", "differing", "size", "apart", "worst"),
]


def silent(changes: pd.DataFrame, numbers: pd.DataFrame) -> pd.DataFrame:
    """The numerics changelog: numbers that differ although the verdicts and the inputs are the same.

    One row for each spec × dtype × `what` differs × erratic or not. The row with the largest distance comes first.

    Columns: `spec`, `dtype`, `what`; `erratic`: whether the result also differs between two runs of the same program;
    `plans`, `quantities`; `cases`, a count; `differing` out of `size` elements; `apart`, the largest distance in ULPs
    (NaN where none was measured); `worst`, the case with that distance.

    Args:
      changes: the result of `reports.analysis.comparisons.changes.diff`.
      numbers: the result of `reports.analysis.comparisons.bits.compared`.
    """
    some = numbers[(numbers["numbers"] == "differ").to_numpy()].astype(dict.fromkeys(KEYS, "str"))
    reported = changes[changes["change"].isin(["new", "changed", "fixed"]) | changes["inputs_changed"]]
    some = some[~_in(some, reported)]
    about = changes.drop_duplicates("case").set_index("case")[["spec", "dtype"]].astype("str")
    some = some.join(about.set_axis(about.index.astype("str")), on="case").dropna(subset="spec")
    nondeterministic = (changes["kind"] == "nondeterministic") | (changes["kind_before"] == "nondeterministic")
    some = some.assign(plan=plans(some).astype("str"), erratic=_in(some, changes[nondeterministic]))
    some = some.sort_values("apart", ascending=False, kind="stable")
    keys = ["spec", "dtype", "what", "erratic"]
    rows = [
        dict(zip(keys, key, strict=True))
        | {"plans": joined(group["plan"]), "quantities": " ".join(sorted(set(group["quantity"])))}
        | {"cases": group["case"].nunique()}
        | {"differing": int(group["differing"].sum()), "size": int(group["size"].sum())}
        | {"apart": group["apart"].iloc[0], "worst": group["case"].iloc[0]}
        for key, group in some.groupby(keys, sort=False, observed=True)
    ]
    return pd.DataFrame(rows, columns=_COLUMNS)


def _in(some: pd.DataFrame, others: pd.DataFrame) -> pd.Series:
    """Whether the cell of each row is among the cells of the others."""
    cells = pd.MultiIndex.from_frame(others[KEYS].astype("str"))
    return pd.Series(pd.MultiIndex.from_frame(some[KEYS]).isin(cells), index=some.index)
