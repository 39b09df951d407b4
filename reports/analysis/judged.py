"""Judged: what today's known failures make of the records of a run."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import pandas as pd

from tf_opdiff.harness.judge.classify import Facts, classify_all
from tf_opdiff.harness.judge.compare import code_in
from tf_opdiff.harness.judge.known import CELL, Known
from tf_opdiff.harness.judge.selectors import listed
from tf_opdiff.harness.store.record import CLAIM

PLACE = (*CELL, "quantity", "against")


def places(records: pd.DataFrame) -> pd.DataFrame:
    """Where each record stands, as entries select it, and under which `tf`: `harness.judge.known.place_of` for many."""
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


def numbers(rows: pd.DataFrame, known: Known) -> np.ndarray:
    """The number of the entry that `Known.find` finds for each row of `places`, under its `tf`; 0: none."""
    found = np.zeros(len(rows), "int64")
    some = np.flatnonzero(rows["spec"].isin({spec for entry in known.entries for spec in listed(entry.spec)}))
    codes, once = distinct(rows.iloc[some], (*PLACE, "tf"))
    entries = [known.find(place, place.pop("tf")) for place in once]
    found[some] = np.asarray([entry[0] if entry else 0 for entry in entries], dtype="int64")[codes]
    return found


def judged(records: pd.DataFrame, known: Known) -> pd.DataFrame:
    """The verdicts of `harness.judge.verdict.Judge.decide` on the records with these entries.

    Columns: `verdict`, and `entry`, the number of the entry among all, counted from 1 (0: none).
    """
    place, code = places(records), code_of(records)
    number = numbers(place, known)
    was, kind = records["verdict"].astype(str).to_numpy(), records["kind"].astype(str).to_numpy()
    split = records["against"].astype("str").str.rpartition("/")
    tf = place.drop_duplicates("device").set_index("device")["tf"]
    other = place.assign(device=split[0], mode=split[2], against="numpy", tf=split[0].map(tf).fillna(""))
    others = np.zeros(len(records), "int64")
    plans = place["against"] == "plan"
    others[plans.to_numpy()] = numbers(other[plans], known)
    both = others > 0
    loose = plans.to_numpy() & np.asarray([False, *(e.against == "*" for e in known.entries)])[number]
    number = np.where((number == 0) & np.isin(records["verdict"].astype(str), ["mismatch", "known"]), others, number)
    about = np.asarray([("", ""), *((e.kind, e.code) for e in known.entries)], dtype=object)
    fits = (about[number, 0] == kind) & ((about[number, 1] == "") | (about[number, 1] == code.to_numpy()))
    differs, agrees = np.isin(was, ["mismatch", "known"]), np.isin(was, ["match", "contract", "stale"])
    contract = was == "contract"
    facts = Facts(differs=differs, entry=number > 0, expected=fits, excused=both, loose=loose, contract=contract)
    verdict = np.where(differs | agrees, classify_all(facts), was)
    return pd.DataFrame({"verdict": verdict, "entry": number}, index=records.index)


def distinct(rows: pd.DataFrame, names: Collection[str]) -> tuple[np.ndarray, list[dict[str, str]]]:
    """The number of the distinct place of each row, counted from 0, and those places."""
    codes = np.zeros(len(rows), "int64")
    for name in names:
        more, values = pd.factorize(rows[name])
        codes = pd.factorize(codes * len(values) + more)[0]
    once = rows[list(names)].iloc[np.unique(codes, return_index=True)[1]]
    return codes, [dict(zip(names, row, strict=True)) for row in once.to_numpy().tolist()]
