"""Suggest: known failures for what fails in a run: entries, and the ids of their causes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import count
from typing import Any

import numpy as np
import pandas as pd
from packaging.version import InvalidVersion, Version

from tf_opdiff.harness.device.repeat import SELF_CHECKS
from tf_opdiff.harness.judge.known_failures.known import Known
from tf_opdiff.harness.spec.catalog import Catalog
from tf_opdiff.harness.spec.spec import BY_PATTERNS, Spec
from tf_opdiff.reports.analysis.known_failures import judged, selector_cover
from tf_opdiff.reports.analysis.known_failures.known_entry import FIELDS, Suggestion

_DEVICE = re.compile(r"[a-z][a-z0-9_]*(:\d+)?")
_BY = ["suite", "kind", "code", "quantities", "plans"]


def suggest(records: pd.DataFrame, known: Known, catalog: Catalog) -> tuple[list[Suggestion], pd.Series]:
    """Entries that make the `mismatch` records of a run `known`, and none `stale`; and why, by index, some have none.

    Today's known failures decide which records are a `mismatch`.

    A record that fails by several kinds needs an entry for each. Specs of a suite whose records differ by the same kind
    and code, in the same quantities and on the same plans, have one cause and come together; where their entry would
    select another record, it is split. A selector is left out where it would name every value in the catalog or among
    the records; devices never are.

    Raises:
      ValueError: the version of TensorFlow is none.
    """
    places, tf = judged.places(records), _version(records)
    today = judged.judged(records, known)
    failing = today["verdict"] == "mismatch"
    failures = places[failing].assign(
        suite=records[failing]["suite"].astype(str), code=judged.code_of(records[failing])
    )
    failures["kind"] = today["unexplained"][failing]
    why = _cannot(failures, places[~failing], today["unfit"], known, catalog)
    failures = failures.explode("kind").astype({"kind": "str"})
    suggestions: list[Suggestion] = []
    ids = {entry.cause.id for entry in known.entries}
    for key, alike in _in_places(failures[~failures.index.isin(why.index)]).groupby(_BY, sort=True):
        _, kind, code, *_ = map(str, key)
        near = places[
            places["spec"].isin(set(alike["spec"])) & ((places["against"] == "itself") == (kind in SELF_CHECKS))
        ]
        near = near[near["against"] != "claim"]
        columns = [name for name in FIELDS if name != "against" or kind not in SELF_CHECKS]
        wanted = near.index.isin(alike.index)
        cause = _new_id(f"{min(alike['spec'])}-{kind}", ids)
        for box in selector_cover.cover(near[columns], wanted):
            rows = near.index[selector_cover.holds(near, box)]
            selectors = _selectors(box, near[columns], wanted, catalog.specs)
            suggestions.append(Suggestion(cause, selectors, kind, code, tf, rows))
    covered = records.index[(records["verdict"].astype(str) == "mismatch") & ~failing]
    today_known = pd.Series("the known failures cover it by now", index=covered, dtype="str")
    return suggestions, pd.concat([why, today_known])


def _in_places(failures: pd.DataFrame) -> pd.DataFrame:
    """The failures with the quantities and the plans in which their spec fails by the same kind and code."""
    failures = failures.assign(plan=failures["device"] + "/" + failures["mode"])
    by_spec = failures.groupby(["suite", "spec", "kind", "code"])
    for one, many in (("quantity", "quantities"), ("plan", "plans")):
        failures[many] = by_spec[one].transform(lambda names: " ".join(sorted(set(names))))
    return failures


def _new_id(words: str, ids: set[str]) -> str:
    """The id of a new cause, made of words; adds it to the ids that exist."""
    base = "-".join(re.findall(r"[a-z0-9]+", words.lower()))
    new = next(name for n in count(1) if (name := base if n == 1 else f"{base}-{n}") not in ids)
    ids.add(new)
    return new


def _cannot(
    failures: pd.DataFrame, others: pd.DataFrame, unfit: pd.Series, known: Known, catalog: Catalog
) -> pd.Series:
    """Why no new entry can be about a failure, by its index, for those where none can.

    `kind` in `failures` is a tuple of kinds; `unfit` has the entries about a failure whose kind does not occur there.
    """
    why: dict[Any, str] = {}
    if not len(failures):
        return pd.Series(why, index=failures.index, dtype="str")
    specs = catalog.specs
    about = unfit.loc[failures.index]
    passing = set(map(tuple, others[list(FIELDS)].to_numpy().tolist()))
    kinds = failures.groupby(list(FIELDS))[["kind", "code"]].transform("nunique").max(axis=1)
    rows = zip(failures.index, failures[list(FIELDS)].to_numpy().tolist(), failures["code"], kinds, about, strict=True)
    for index, place, code, several, entry in rows:
        at = dict(zip(FIELDS, place, strict=True))
        spec = specs.get(at["spec"])
        if at["against"] == "claim":
            why[index] = "a comparison with a claim is never known"
        elif spec is None:
            why[index] = "the suites have no such spec any more"
        elif not _has_case(spec, at):
            why[index] = "the spec has no such case any more"
        elif not _DEVICE.fullmatch(at["device"]):
            why[index] = "an entry can't name that device"
        elif entry:
            first = known.stands(entry[0])
            why[index] = f"{first} is about it already, and expects another kind or code: narrow that one first"
        elif tuple(place) in passing:
            why[index] = "the same place, against another plan, does not fail"
        elif several > 1:
            why[index] = "the same place, against another plan, fails otherwise"
        elif not re.fullmatch(r"[A-Za-z0-9_]*", code):
            why[index] = "its error has no plain code"
    return pd.Series(why, dtype="str")


def _has_case(spec: Spec, at: Mapping[str, str]) -> bool:
    """Whether a spec still has the case at a place."""
    recipes = (*spec.recipes, *BY_PATTERNS)
    return at["dtype"] in spec.dtypes and at["attrs"] in spec.labels and at["recipe"] in recipes


def _selectors(
    box: selector_cover.Box, near: pd.DataFrame, wanted: np.ndarray, specs: Mapping[str, Spec]
) -> dict[str, str | list[str]]:
    """A box as selectors: a name, a list of names, or left out where the box has every name that exists."""
    own = [specs[name] for name in box["spec"]]
    same_specs = near[near["spec"].isin(box["spec"])]
    every = {
        "dtype": {dtype for spec in own for dtype in spec.dtypes},
        "attrs": {label for spec in own for label in spec.labels},
        "recipe": {recipe for spec in own for recipe in spec.recipes},
        "mode": {mode for spec in own for mode in spec.modes},
        **{name: set(same_specs[name]) for name in ("quantity", "against") if name in near.columns},
    }
    selectors = dict(box)
    for name, values in every.items():
        wider = {other: allowed for other, allowed in selectors.items() if other != name}
        if values <= set(box[name]) and not (selector_cover.holds(near, wider) & ~wanted).any():
            selectors = wider
    return {name: allowed[0] if len(allowed) == 1 else allowed for name, allowed in selectors.items()}


def _version(records: pd.DataFrame) -> str:
    """The specifier of the version that ran, and of its patches alone."""
    text = judged.version(records)
    try:
        version = Version(text)
    except InvalidVersion as error:
        raise ValueError(f"TensorFlow {text!r}: expected a version") from error
    first = ".dev0" if version.is_prerelease else ""
    return f">={version.major}.{version.minor}{first},<{version.major}.{version.minor + 1}"
