"""Claim evidence: the programs of a claim, and the records in which it does not hold."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pandas as pd

from tf_opdiff.harness.store.record import FAILING
from tf_opdiff.reports.analysis.claim_verdicts import overall
from tf_opdiff.reports.data import tables
from tf_opdiff.reports.data.plans import in_order, plan_order
from tf_opdiff.reports.text.source_code import listed
from tf_opdiff.reports.text.verdicts import CLAIM_COLUMN_OF, CLAIM_VERDICT_OF

#: The most records that the page shows as evidence.
MOST = 4
#: The columns in which records agree that are shown as one.
_SHARED = ("case", "quantity", "kind", "worst_index", "got", "want")


def evidence(records: pd.DataFrame, denies: Mapping[str, bool]) -> list[dict[str, Any]]:
    """Records in which a claim does not hold, those with the same numbers as one row with all its plans.

    One record counts for each spec and plan: one of float32 or int32 where there is one. `denies` says of each spec
    whether its claim denies something.
    """
    some = records[records["verdict"].isin(["contract", "mismatch"])]
    some = some.assign(plan=tables.plans(some).astype(str), uncommon=~some["dtype"].isin(["float32", "int32"]))
    some = some.sort_values(["uncommon", "case"], kind="stable").drop_duplicates(["spec", "plan"])
    merged: dict[Any, dict[str, Any]] = {}
    for row in tables.rows(some):
        key = tuple(row[name] for name in _SHARED)
        shown = merged.setdefault(key, {**row, "denies": denies.get(row["spec"], False), "plans": []})
        shown["plans"].append(row["plan"])
    for row in merged.values():
        row["plans"].sort(key=plan_order)
    return list(merged.values())[:MOST]


def program(records: pd.DataFrame, claim: Mapping[str, Any]) -> dict[str, Any]:
    """A program of a claim, with the verdict that its own records give."""
    spec, modes = claim["spec"], ", ".join(claim["modes"])
    some = records.sort_values("dtype", key=lambda dtypes: dtypes.astype(str) != "float32", kind="stable")
    rerun = f"pytest suites --case {some['case'].iloc[0]}" if len(some) else f"pytest suites --op {spec}"
    verdict = overall([CLAIM_VERDICT_OF[column] for column in records["verdict"].map(CLAIM_COLUMN_OF).unique()])
    files = {name: listed(text, cpp=True) for name, text in claim["files"].items()}
    facts = {"spec": spec, "modes": modes, "rerun": rerun, "verdict": verdict}
    return facts | {"listing": listed(claim["listing"]), "files": files}


def replacements(parts: Sequence[Mapping[str, Any]], records_of: Callable[[str], pd.DataFrame]) -> list[dict[str, Any]]:
    """The programs that give the result which a claim promises in vain, each with the outcome of its records.

    Args:
      parts: the entries of claims.json about the claim.
      records_of: gives the records of a spec.
    """
    specs = dict.fromkeys(claim["instead"] for claim in parts if claim["instead"])
    listings = {claim["instead"]: claim["instead_listing"] for claim in parts}
    return [{"spec": s, "listing": listed(listings[s]), "tested": _outcome(records_of(s))} for s in specs]


def _outcome(records: pd.DataFrame) -> dict[str, Any]:
    """How many records a program has, how many of them fail, and on which plans it ran."""
    plans = in_order(tables.plans(records).astype(str))
    failing = int(records["verdict"].isin(FAILING).sum())
    return {"records": len(records), "failing": failing, "plans": ", ".join(plans)}
