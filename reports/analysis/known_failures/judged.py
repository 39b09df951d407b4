"""Judged: what today's known failures make of the records of a run."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import pandas as pd

from tf_opdiff.harness.judge.differences.compare import code_in
from tf_opdiff.harness.judge.known_failures.entry import Difference
from tf_opdiff.harness.judge.known_failures.explanation import Explanation
from tf_opdiff.harness.judge.known_failures.known import CELL, Known
from tf_opdiff.harness.judge.known_failures.selectors import EVERY, listed
from tf_opdiff.harness.judge.verdicts.classify import Facts, classify_all
from tf_opdiff.harness.store.records.record import CLAIM
from tf_opdiff.reports.data.figures.several import every_kind

PLACE = (*CELL, "quantity", "against")
#: The columns that a record has in common with the record of the other plan of its comparison.
_OF_BOTH = ("dtype", "attrs", "recipe", "quantity")
#: Stands for a distance that was not taken, among columns whose values are compared.
_UNMEASURED = -1.0


def places(records: pd.DataFrame) -> pd.DataFrame:
    """Where each record stands, as entries select it, and under which `tf`:
    `harness.judge.known_failures.known.place_of` for many."""
    columns = records[[*CELL, "quantity", "tf"]].astype("str")
    against = records["against"].astype("str")
    other = np.where(against.str.startswith(CLAIM), "claim", "plan")
    itself = against == columns["device"] + "/" + columns["mode"]
    columns["against"] = np.select([against == "numpy", itself], ["numpy", "itself"], other)
    return columns


def version(records: pd.DataFrame) -> str:
    """The version of TensorFlow that the records are of.

    Raises:
      ValueError: there is none, or there are several.
    """
    versions = sorted(set(records["tf"].astype(str)))
    if len(versions) != 1:
        raise ValueError(f"records of TensorFlow {', '.join(versions) or '(none)'}: expected those of one run")
    return versions[0]


def code_of(records: pd.DataFrame) -> pd.Series:
    """The code of the error or crash that each record is about; empty where it is about a value."""
    got = records["got"].astype(str)
    code = got.map({text: code_in(text) for text in got.unique()}).astype("str")
    return code.where(records["kind"].astype(str) != "error_code", got)


def judged(records: pd.DataFrame, known: Known) -> pd.DataFrame:
    """The verdicts of `harness.judge.verdicts.verdict.Judge.decide` on the records with these entries.

    Columns: `verdict`; `unexplained`, the kinds that no entry about the place expects; `entries`, those that expect a
    kind that occurs, or excuse one; `unfit`, those that expect a kind that does not occur; and `spent`, those of them
    that must fail at the place. The last four hold tuples, of kinds and of the numbers of entries among all, counted
    from 1.
    """
    was, kinds = records["verdict"].astype(str).to_numpy(), every_kind(records)
    differs = np.isin(was, ["mismatch", "known"]) | (was == "stale") & (kinds != "").to_numpy()
    agrees = np.isin(was, ["match", "contract", "stale"]) & ~differs
    differences = _near(_places_of_both(records), known).assign(
        kinds=kinds.where(differs, ""),
        code=code_of(records),
        max_ulp=records["max_ulp"].where(differs).fillna(_UNMEASURED),
    )
    codes, once = distinct(differences, differences.columns)
    explanations = [_explanation(place, known) for place in once]
    facts = pd.DataFrame([one.facts for one in explanations], columns=["expected", "spent", "excused"])
    each = Facts(differs=differs, contract=was == "contract", **{str(n): facts[n].to_numpy(bool)[codes] for n in facts})
    verdict = np.where(differs | agrees, classify_all(each), was)
    columns = {
        "unexplained": [one.unexplained for one in explanations],
        "entries": [tuple(n for n, _ in one.named("known")) for one in explanations],
        "spent": [tuple(n for n, _ in one.spent) for one in explanations],
        "unfit": [
            tuple(numbered[0] for numbered in one.here if numbered not in one.explaining) for one in explanations
        ],
    }
    tuples = {name: pd.Series(values, dtype=object).to_numpy()[codes] for name, values in columns.items()}
    return pd.DataFrame({"verdict": verdict, **tuples}, index=records.index)


def _places_of_both(records: pd.DataFrame) -> pd.DataFrame:
    """The columns of `places`; and `other_device`, `other_mode` and `other_tf` of the plan that is the oracle."""
    rows = places(records)
    split = records["against"].astype("str").str.rpartition("/").reindex(columns=range(3))  # no record, no column
    tf = rows.drop_duplicates("device").set_index("device")["tf"]
    other = {"other_device": split[0], "other_mode": split[2], "other_tf": split[0].map(tf).fillna("")}
    plans = rows["against"] == "plan"
    return rows.assign(**{name: column.where(plans, "") for name, column in other.items()})


def _near(rows: pd.DataFrame, known: Known) -> pd.DataFrame:
    """The rows, with empty texts where no entry can be about a place or about that of the other plan.

    Most records are of such places. Without their names they are equal, so that they are explained once.
    """
    codes, numbers = {}, {}
    for name in _OF_BOTH:
        codes[name], values = pd.factorize(rows[name])
        numbers[name] = {value: number for number, value in enumerate(values)}
    of_spec = rows.groupby("spec").indices
    near = np.zeros(len(rows), bool)
    for entry in known.entries:
        selectors = {name: listed(getattr(entry, name)) for name in _OF_BOTH}
        selected = {
            name: [numbers[name].get(value, -1) for value in selector]
            for name, selector in selectors.items()
            if EVERY not in selector
        }
        for at in (of_spec[spec] for spec in known.specs_of(entry) if spec in of_spec):
            masks = [np.isin(codes[name][at], chosen) for name, chosen in selected.items()]
            near[at] |= np.logical_and.reduce([np.ones(len(at), bool), *masks])
    return rows.where(pd.Series(near, index=rows.index), "")


def _explanation(place: dict[str, str], known: Known) -> Explanation:
    """The explanation of the differences at a distinct row of `_places_of_both`, with `kinds` and `code`."""
    kinds, code, tf, max_ulp = (place.pop(name) for name in ("kinds", "code", "tf", "max_ulp"))
    device, mode, other_tf = (place.pop(f"other_{name}") for name in ("device", "mode", "tf"))
    excusing = known.about({**place, "device": device, "mode": mode, "against": "numpy"}, other_tf) if device else ()
    distance = np.nan if max_ulp == _UNMEASURED else float(max_ulp)
    difference = Difference(tuple(filter(None, kinds.split(";"))), code, distance)
    return Explanation.of(difference, known.about(place, tf), excusing, between_plans=place["against"] == "plan")


def distinct(rows: pd.DataFrame, names: Collection[str]) -> tuple[np.ndarray, list[dict[str, str]]]:
    """The number of the distinct place of each row, counted from 0, and those places."""
    codes = np.zeros(len(rows), "int64")
    for name in names:
        more, values = pd.factorize(rows[name])
        codes = pd.factorize(codes * len(values) + more)[0]
    once = rows[list(names)].iloc[np.unique(codes, return_index=True)[1]]
    return codes, [dict(zip(names, row, strict=True)) for row in once.to_numpy().tolist()]
