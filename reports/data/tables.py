"""Tables: what a run's records say, by op, plan, verdict and kind, as DataFrames."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from tf_opdiff.harness.judge.simplest import TIES, of_texts
from tf_opdiff.harness.spec.plan import MODES
from tf_opdiff.harness.spec.spec import SWEEPS
from tf_opdiff.harness.store.record import CLAIM, FAILING, KINDS
from tf_opdiff.harness.store.rundir import RunInfo

#: Verdicts, the one that a reader has to see first in front.
SEVERITY = ("mismatch", "error", "stale", "known", "unavailable", "contract", "match")

#: What rounding once takes of a budget, in ULPs.
ROUNDING = 0.5

#: Families of quantities, in the order in which they are listed.
FAMILIES = ("output", "grad", "jvp", "hvp")


def by_severity(verdicts: pd.Series) -> pd.Series:
    """The verdicts as an ordered category, the worst one lowest."""
    return verdicts.astype(str).astype(pd.CategoricalDtype(list(SEVERITY), ordered=True))


def plan_order(plan: object) -> tuple[bool, str, int, str]:
    """The key that sorts plans: the CPU first, then devices by name; modes as the harness lists them."""
    device, _, mode = str(plan).rpartition("/")
    return device != "cpu", device, *mode_order(mode)


def mode_order(mode: str) -> tuple[int, str]:
    """The key that sorts modes as the harness lists them; others, which a file may name, come last."""
    return MODES.index(mode) if mode in MODES else len(MODES), mode


def plans(records: pd.DataFrame) -> pd.Series:
    """Each record's plan, written `cpu/xla`, as a category in the order of `plan_order`."""
    names = records["device"].astype(str) + "/" + records["mode"].astype(str)
    return names.astype(pd.CategoricalDtype(sorted(names.unique(), key=plan_order)))


def by_verdict(records: pd.DataFrame) -> pd.Series:
    """How many records have each verdict, the verdicts that none has included; the worst first."""
    return records["verdict"].astype(str).value_counts().reindex(SEVERITY, fill_value=0).rename("records")


def rows(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows of a table as plain data."""
    return [{str(name): value for name, value in row.items()} for row in frame.to_dict("records")]


def row(records: pd.DataFrame, index: int) -> dict[str, Any]:
    """One record as plain data."""
    return {str(name): value for name, value in records.loc[index].items()}


def counts(records: pd.DataFrame) -> dict[str, int]:
    """`by_verdict` as a dict."""
    return {str(verdict): int(n) for verdict, n in by_verdict(records).items()}


def counted(records: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """One row for each combination of the columns `by`: these, the `worst` verdict, `records`, a count by verdict."""
    keys = {name: records[name].astype("category") for name in by} | {"verdict": by_severity(records["verdict"])}
    sizes = pd.DataFrame(keys).groupby([*by, "verdict"], observed=True).size().unstack("verdict", fill_value=0)
    return _with_worst(sizes.reset_index().astype(dict.fromkeys(by, "str")))


def _with_worst(sizes: pd.DataFrame) -> pd.DataFrame:
    """Counts by verdict behind the worst of them and their sum; columns that are no verdict come first."""
    by = [name for name in sizes.columns if name not in SEVERITY]
    table = sizes.set_axis(sizes.columns.astype("str"), axis=1).reindex(columns=[*by, *SEVERITY], fill_value=0)
    table = table.astype(dict.fromkeys(SEVERITY, "int64")).rename_axis(columns=None)
    found = table[list(SEVERITY)].to_numpy()
    worst = np.asarray(SEVERITY)[(found > 0).argmax(axis=1)] if len(table) else []
    table.insert(len(by), "worst", pd.Series(worst, index=table.index, dtype="str"))
    table.insert(len(by) + 1, "records", found.sum(axis=1))
    return table


def by_op(records: pd.DataFrame) -> pd.DataFrame:
    """One row for each OpDef × spec: `raw_op`, `spec`, `worst` verdict, `records`, and a count by verdict, worst first.

    A record counts for each of the ops that its graph was found to contain; `raw_op` is empty where none was.
    """
    sizes = _by_each_op(counted(records, ["raw_op", "spec"]).drop(columns=["worst", "records"]))
    return _with_worst(sizes.groupby(["raw_op", "spec"]).sum().reset_index())


def by_spec(records: pd.DataFrame) -> pd.DataFrame:
    """One row for each spec: `suite`, `spec`, `worst` verdict, `records`, and a count by verdict, worst first."""
    return counted(records, ["suite", "spec"])


def by_plan(records: pd.DataFrame) -> pd.DataFrame:
    """One row for each plan, the CPU first: `device`, `mode`, `worst` verdict, `records`, counts by verdict, `seconds`.

    `seconds` is the time in device servers, all runs together; NaN where none was taken.
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

    Records without a kind are left out: matches, and known failures that are gone.
    """
    table = counted(records[records["kind"].astype(str) != ""], ["kind"])
    return table.sort_values("kind", key=lambda kinds: kinds.map(KINDS.index)).reset_index(drop=True)


def _by_each_op(table: pd.DataFrame) -> pd.DataFrame:
    """The rows, each once for every OpDef that its `raw_op` names."""
    return table.assign(raw_op=table["raw_op"].astype("str").str.split(";")).explode("raw_op").astype({"raw_op": "str"})


def coverage(records: pd.DataFrame) -> pd.DataFrame:
    """What really ran: one row for each OpDef × dtype × device × mode.

    Columns: `raw_op`, `dtype`, `device`, `mode`; `specs` and `cases` count; `gradient`: whether one was compared there;
    `quantities` lists the families of what was compared (`output grad jvp hvp`). `raw_op` is empty where no graph was
    seen, as of a promised error. What was `unavailable`, and where the suite itself was at fault, did not run.
    """
    ran = records[~records["verdict"].isin(["unavailable", "error"])]
    place = ["raw_op", "dtype", "device", "mode"]
    family = ran["quantity"].astype("category").map(lambda quantity: str(quantity).partition("[")[0])
    cells = ran[[*place, "spec"]].assign(family=family).drop_duplicates().astype("str")
    cells = _by_each_op(cells).drop_duplicates()
    table = cells.groupby(place).agg(specs=("spec", "nunique"))
    cases = ran[[*place, "case"]].drop_duplicates().groupby(place, observed=True).size().rename("cases").reset_index()
    table["cases"] = _by_each_op(cases).astype(dict.fromkeys(place, "str")).groupby(place)["cases"].sum()
    there = cells[[*place, "family"]].drop_duplicates().assign(there=True)
    there = there.pivot(index=place, columns="family", values="there").reindex(columns=list(FAMILIES)).notna()
    table["gradient"] = there["grad"]
    table["quantities"] = [" ".join(np.asarray(FAMILIES)[row]) for row in there.to_numpy()]
    table = table.astype({"gradient": "bool", "quantities": "str"}).reset_index()
    return table.sort_values(place, key=_modes_in_order, ignore_index=True)


def _modes_in_order(column: pd.Series) -> pd.Series:
    return column.map({mode: i for i, mode in enumerate(MODES)}) if column.name == "mode" else column


def known(records: pd.DataFrame) -> pd.DataFrame:
    """What the known failures cover in a run: one row for each reason, the one with most records first.

    Columns: `reason`, `owner`, `link`; `known`, `stale` and `other` count the records that fail as recorded, that no
    longer fail, and that do something else; `cases` counts; `kinds`, `specs`, `dtypes`, `plans` and `quantities` list
    where. Entries about nothing that ran are not among them.
    """
    verdict = records["verdict"].astype(str)
    told = (records["owner"].astype(str) != "") & ~verdict.isin(["match", "contract"])
    some = records[told | verdict.isin(["known", "stale"])]
    some = some.assign(plan=plans(some), said=verdict.where(verdict.isin(["known", "stale"]), "other"))
    keys = ["reason", "owner", "link"]
    some = some[[*keys, "said", "case", "kind", "spec", "dtype", "plan", "quantity"]].astype("str")
    table = some.groupby([*keys, "said"]).size().unstack("said", fill_value=0)
    table = table.reindex(columns=["known", "stale", "other"], fill_value=0).astype("int64").rename_axis(columns=None)
    groups = some.groupby(keys)
    table["cases"] = groups["case"].nunique()
    lists = {"kind": "kinds", "spec": "specs", "dtype": "dtypes", "plan": "plans", "quantity": "quantities"}
    for one, many in lists.items():
        each = some[[*keys, one]].drop_duplicates().groupby(keys)[one]
        table[many] = each.agg(_joined, order=plan_order if one == "plan" else str).astype("str")
    return table.reset_index().sort_values(
        ["known", "stale", "reason"], ascending=[False, False, True], ignore_index=True
    )


def _joined(names: pd.Series, order: Callable[[str], Any]) -> str:
    return " ".join(sorted(filter(None, names), key=order))


def cells(records: pd.DataFrame, by: list[str] | None = None) -> pd.DataFrame:
    """One row for each of `by` (suite and spec unless told) × plan: `worst` verdict, `records`, a count by verdict."""
    return counted(records.assign(plan=plans(records).astype(str)), [*(by or ["suite", "spec"]), "plan"])


def matrix(records: pd.DataFrame, by: list[str] | None = None) -> pd.DataFrame:
    """The worst verdict of each of `by` (suite and spec unless told) under each plan; empty where nothing ran."""
    by = by or ["suite", "spec"]
    table = cells(records, by).pivot(index=by, columns="plan", values="worst").fillna("")
    return table[sorted(table.columns, key=plan_order)]


def slowest(records: pd.DataFrame, n: int = 10) -> pd.DataFrame:
    """The runs that took longest: case, device, mode, seconds."""
    runs = records.drop_duplicates(["case", "device", "mode"]).dropna(subset="seconds")
    found = runs.nlargest(n, "seconds")[["case", "device", "mode", "seconds"]].reset_index(drop=True)
    return found.astype(dict.fromkeys(("case", "device", "mode"), "str"))


def worst_margins(records: pd.DataFrame, n: int = 10) -> pd.DataFrame:
    """The matches that come nearest to their budget: `used` is the largest `max_ulp` / `budget`, at most 1.

    One row for each spec, dtype, quantity and plan. Budgets of up to half an ULP, which is what rounding takes, leave
    no margin and are left out, and so are claims: one that denies holds where the budget is exceeded. A sweep that has
    a bound tells its largest distance, wherever that is: where it is past the budget, it is no margin either.
    """
    some = records[(records["verdict"] == "match") & (records["budget"] > ROUNDING) & records["max_ulp"].notna()]
    some = some[~some["against"].astype(str).str.startswith(CLAIM)]
    some = some[~(some["recipe"].isin(SWEEPS) & (some["max_ulp"] > some["budget"]))]
    some = some.assign(used=some["max_ulp"] / some["budget"]).sort_values("used", ascending=False, kind="stable")
    best = some.drop_duplicates(["spec", "dtype", "quantity", "device", "mode"]).head(n)
    names = ["spec", "dtype", "quantity", "device", "mode", "against", "used", "max_ulp", "budget", "case"]
    texts = [name for name in names if name not in ("used", "max_ulp", "budget")]
    return best[names].reset_index(drop=True).astype(dict.fromkeys(texts, "str"))


def findings(records: pd.DataFrame) -> pd.DataFrame:
    """What is not as promised, gathered: one row for each spec × verdict × kind × cause, the failing ones first.

    `reason` is that of the entry by which a failure is known; a failure that no entry explains has none. `records`
    counts, `plans`, `dtypes` and `quantities` list where; `first` is the index in `records` of the one that stands for
    the rest: against NumPy where there is one, and with the simplest input.
    """
    some = records[records["verdict"].isin([*FAILING, "known"])]
    some = some.assign(plan=plans(some).astype(str), index=some.index)
    some = some.assign(reason=some["reason"].astype(str).where(some["verdict"].isin(["known", "stale"]), ""))
    some = simplest_first(some)
    keys = ["suite", "spec", "verdict", "kind", "reason"]
    names = [*keys, "quantity", "dtype"]
    some[names] = some[names].astype(str)
    grouped = some.groupby(keys, sort=False)
    table = grouped.agg(
        records=("index", "size"),
        plans=("plan", lambda names: " ".join(sorted(set(names), key=plan_order))),
        dtypes=("dtype", lambda names: " ".join(sorted(set(names)))),
        quantities=("quantity", lambda names: " ".join(sorted(set(names)))),
        first=("index", "first"),
    ).reset_index()
    table["verdict"] = by_severity(table["verdict"])
    order = ["verdict", "records", "suite", "spec", "kind", "reason"]
    return table.sort_values(order, ascending=[True, False, True, True, True, True]).reset_index(drop=True)


def simplest_first(records: pd.DataFrame) -> pd.DataFrame:
    """The records in the order in which `harness.repro.reproduce.findings` prefers them to illustrate a finding."""
    order = records[list(TIES)].astype("str")
    order = order.assign(
        other=records["against"].astype(str) != "numpy",
        simple=simplicity(records),
        uncommon=records["dtype"].astype(str) != "float32",
    )
    return records.loc[order.sort_values(["other", "simple", "uncommon", *TIES], kind="stable").index]


def simplicity(records: pd.DataFrame) -> pd.Series:
    """Numbers that sort records by their examples, the one with the simplest input first; see `harness.judge.simplest`.

    Equally simple examples have equal numbers.
    """
    texts = records["example"].astype(str)
    simple = of_texts(texts)
    order = sorted(simple, key=simple.__getitem__)
    steps = (a != b for a, b in itertools.pairwise(simple[text] for text in order))
    places = itertools.accumulate(steps, initial=0) if order else ()
    return texts.map(dict(zip(order, places, strict=True))).astype("int64")


def not_run(info: RunInfo) -> pd.DataFrame:
    """The planned cells without a result, and why: case, device, mode, why."""
    return pd.DataFrame(info.not_run, columns=["case", "device", "mode", "why"]).fillna("").astype("str")
