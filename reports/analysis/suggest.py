"""Suggest: known failures for what fails in a run: entries, and the ids of their causes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import count
from typing import Any

import numpy as np
import pandas as pd
from packaging.version import InvalidVersion, Version

from tf_opdiff.harness.device.repeat import AGAIN
from tf_opdiff.harness.judge.known import Known
from tf_opdiff.harness.spec.catalog import Catalog
from tf_opdiff.harness.spec.spec import SWEEPS, Spec
from tf_opdiff.reports.analysis import judged, selector_cover
from tf_opdiff.reports.analysis.known_entry import FIELDS, Suggestion

_DEVICE = re.compile(r"[a-z][a-z0-9_]*(:\d+)?")
_BY = ["suite", "kind", "code", "quantities", "plans"]


def suggest(records: pd.DataFrame, known: Known, catalog: Catalog) -> tuple[list[Suggestion], pd.Series]:
    """Entries that make the `mismatch` records of a run `known`, and none `stale`; and why, by index, some have none.

    Records count as today's known failures judge them.

    Specs of a suite whose records differ by the same kind and code, in the same quantities and on the same plans, have
    one cause and come together; where their entry would select another record, it is split. A selector is left out
    where it would name every value in the catalog or among the records; devices never are.

    Raises:
      ValueError: the version of TensorFlow is none.
    """
    there, tf = judged.places(records), _version(records)
    now = judged.judged(records, known)
    failing = now["verdict"] == "mismatch"
    some = records[failing]
    told = there[failing].assign(suite=some["suite"].astype(str), kind=some["kind"].astype(str))
    told["code"] = judged.code_of(some)
    why = _cannot(told, there[~failing], now["entry"], known, catalog)
    told = told[~told.index.isin(why.index)]
    told["plan"] = told["device"] + "/" + told["mode"]
    by_spec = told.groupby(["suite", "spec", "kind", "code"])
    told["quantities"] = by_spec["quantity"].transform(lambda names: " ".join(sorted(set(names))))
    told["plans"] = by_spec["plan"].transform(lambda names: " ".join(sorted(set(names))))
    made: list[Suggestion] = []
    ids = {entry.cause.id for entry in known.entries}
    for key, alike in told.groupby(_BY, sort=True):
        _, kind, code, *_ = map(str, key)
        near = there[there["spec"].isin(set(alike["spec"])) & ((there["against"] == "itself") == (kind in AGAIN))]
        near = near[near["against"] != "claim"]
        columns = [name for name in FIELDS if name != "against" or kind not in AGAIN]
        wanted = near.index.isin(alike.index)
        cause = _new_id(f"{min(alike['spec'])}-{kind}", ids)
        for found in selector_cover.cover(near[columns], wanted):
            rows = near.index[selector_cover.holds(near, found)]
            selectors = _selectors(found, near[columns], wanted, catalog.specs)
            made.append(Suggestion(cause, selectors, kind, code, tf, rows))
    past = records.index[(records["verdict"].astype(str) == "mismatch") & ~failing]
    return made, pd.concat([why, pd.Series("the known failures cover it by now", index=past, dtype="str")])


def _new_id(words: str, ids: set[str]) -> str:
    """The id of a new cause, made of words; adds it to the ids that exist."""
    base = "-".join(re.findall(r"[a-z0-9]+", words.lower()))
    new = next(name for n in count(1) if (name := base if n == 1 else f"{base}-{n}") not in ids)
    ids.add(new)
    return new


def _cannot(told: pd.DataFrame, others: pd.DataFrame, number: pd.Series, known: Known, catalog: Catalog) -> pd.Series:
    """Why no entry that is added can be about a record, by its index, for those where none can."""
    why: dict[Any, str] = {}
    if not len(told):
        return pd.Series(why, index=told.index, dtype="str")
    specs = catalog.specs
    about = number.loc[told.index]
    passing = set(map(tuple, others[list(FIELDS)].to_numpy().tolist()))
    kinds = told.groupby(list(FIELDS))[["kind", "code"]].transform("nunique").max(axis=1)
    rows = zip(told.index, told[list(FIELDS)].to_numpy().tolist(), told["code"], kinds, about, strict=True)
    for index, place, code, several, n in rows:
        at = dict(zip(FIELDS, place, strict=True))
        spec = specs.get(at["spec"])
        if at["against"] == "claim":
            why[index] = "what is held against a claim is never known"
        elif spec is None:
            why[index] = "the suites have no such spec any more"
        elif at["dtype"] not in spec.dtypes or at["recipe"] not in (*spec.recipes, *SWEEPS):
            why[index] = "the spec has no such case any more"
        elif not _DEVICE.fullmatch(at["device"]):
            why[index] = "an entry can't name that device"
        elif n:
            why[index] = (
                f"{known.stands(n)} is about it already, and expects another kind or code: narrow that one first"
            )
        elif tuple(place) in passing:
            why[index] = "the same place, against another plan, does not fail"
        elif several > 1:
            why[index] = "the same place, against another plan, fails otherwise"
        elif not re.fullmatch(r"[A-Za-z0-9_]*", code):
            why[index] = "its error has no plain code"
    return pd.Series(why, dtype="str")


def _selectors(
    found: selector_cover.Box, near: pd.DataFrame, wanted: np.ndarray, specs: Mapping[str, Spec]
) -> dict[str, str | list[str]]:
    """A box as selectors: a name, a list of names, or left out where all that there are are meant."""
    own = [specs[name] for name in found["spec"]]
    here = near[near["spec"].isin(found["spec"])]
    every = {
        "dtype": {dtype for spec in own for dtype in spec.dtypes},
        "recipe": {recipe for spec in own for recipe in spec.recipes},
        "mode": {mode for spec in own for mode in spec.modes},
        **{name: set(here[name]) for name in ("quantity", "against") if name in near.columns},
    }
    kept = dict(found)
    for name, values in every.items():
        wider = {other: allowed for other, allowed in kept.items() if other != name}
        if values <= set(found[name]) and not (selector_cover.holds(near, wider) & ~wanted).any():
            kept = wider
    return {name: allowed[0] if len(allowed) == 1 else allowed for name, allowed in kept.items()}


def _version(records: pd.DataFrame) -> str:
    """The specifier of exactly the version that ran, patches aside."""
    text = judged.version(records)
    try:
        version = Version(text)
    except InvalidVersion as error:
        raise ValueError(f"TensorFlow {text!r}: expected a version") from error
    first = ".dev0" if version.is_prerelease else ""
    return f">={version.major}.{version.minor}{first},<{version.major}.{version.minor + 1}"
