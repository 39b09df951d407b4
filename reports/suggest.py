"""Suggest: entries of known.toml for what fails in a run, and which of those that there are it has no more use for."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from packaging.version import InvalidVersion, Version

from harness.again import AGAIN
from harness.catalog import Catalog
from harness.known import Known, KnownError, load
from harness.rundir import RunInfo
from harness.spec import SWEEPS, Spec
from reports import box, files, ledger, sentence, stanza, tables
from reports.ledger import entries, places
from reports.load import load as load_records
from reports.stanza import FIELDS, Suggestion
from reports.summary import plain

_DEVICE = re.compile(r"[a-z][a-z0-9_]*(:\d+)?")
_BY = ["suite", "kind", "code", "quantities", "plans"]

__all__ = ["Suggestion", "entries", "suggest"]


def suggest(records: pd.DataFrame, known: Known, catalog: Catalog) -> tuple[list[Suggestion], pd.Series]:
    """Entries that make the `mismatch` records of a run `known`, and none `stale`; and why, by index, some have none.

    Records count as known.toml, as it is now, judges them.

    Specs of a suite whose records differ by the same kind and code, in the same quantities and on the same plans, come
    together; where what they select would hold another record, they are split. A selector is left out where every
    value that there is, in the catalog or among the records, is meant; devices never are.

    Raises:
      ValueError: the version of TensorFlow is none.
    """
    there, tf = places(records), _version(records)
    now = ledger.judged(records, known)
    failing = now["verdict"] == "mismatch"
    some = records[failing]
    told = there[failing].assign(suite=some["suite"].astype(str), kind=some["kind"].astype(str))
    told["code"] = ledger.code_of(some)
    why = _cannot(told, there[~failing], now["entry"], catalog)
    told = told[~told.index.isin(why.index)]
    told["plan"] = told["device"] + "/" + told["mode"]
    by_spec = told.groupby(["suite", "spec", "kind", "code"])
    told["quantities"] = by_spec["quantity"].transform(lambda names: " ".join(sorted(set(names))))
    told["plans"] = by_spec["plan"].transform(lambda names: " ".join(sorted(set(names))))
    made = []
    for key, alike in told.groupby(_BY, sort=True):
        _, kind, code, *_ = map(str, key)
        near = there[there["spec"].isin(set(alike["spec"])) & ((there["against"] == "itself") == (kind in AGAIN))]
        near = near[near["against"] != "claim"]
        columns = [name for name in FIELDS if name != "against" or kind not in AGAIN]
        wanted = near.index.isin(alike.index)
        for found in box.cover(near[columns], wanted):
            rows = near.index[box.holds(near, found)]
            made.append(Suggestion(_selectors(found, near[columns], wanted, catalog.specs), kind, code, tf, rows))
    past = records.index[(records["verdict"].astype(str) == "mismatch") & ~failing]
    return made, pd.concat([why, pd.Series("known.toml makes it known by now", index=past, dtype="str")])


def _cannot(told: pd.DataFrame, others: pd.DataFrame, number: pd.Series, catalog: Catalog) -> pd.Series:
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
            why[index] = f"entry {n} is about it already, and expects another kind or code: narrow that one first"
        elif tuple(place) in passing:
            why[index] = "the same place, against another plan, does not fail"
        elif several > 1:
            why[index] = "the same place, against another plan, fails otherwise"
        elif not re.fullmatch(r"[A-Za-z0-9_]*", code):
            why[index] = "its error has no plain code"
    return pd.Series(why, dtype="str")


def _selectors(
    found: box.Box, near: pd.DataFrame, wanted: np.ndarray, specs: Mapping[str, Spec]
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
        if values <= set(found[name]) and not (box.holds(near, wider) & ~wanted).any():
            kept = wider
    return {name: allowed[0] if len(allowed) == 1 else allowed for name, allowed in kept.items()}


def _version(records: pd.DataFrame) -> str:
    """The specifier of exactly the version that ran, patches aside."""
    text = ledger.version(records)
    try:
        version = Version(text)
    except InvalidVersion as error:
        raise ValueError(f"TensorFlow {text!r}: expected a version") from error
    first = ".dev0" if version.is_prerelease else ""
    return f">={version.major}.{version.minor}{first},<{version.major}.{version.minor + 1}"


def add_options(parser: argparse.ArgumentParser) -> None:
    """What `python -m harness suggest` takes."""
    parser.add_argument("run", type=Path, metavar="RUN", help="the directory of a run, such as runs/latest")
    parser.add_argument("--known", type=Path, metavar="FILE", default=Path("suites/known.toml"), help="the entries")
    parser.add_argument("--prune", action="store_true", help="name entries that the run shows to be spent, instead")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write there, not to the terminal")
    parser.add_argument("--in-place", action="store_true", help="with --prune: take spent entries out of known.toml")


def main(options: argparse.Namespace) -> int:
    """Writes entries for what fails in a run, or names those that are spent and writes the file without them; 0."""
    if options.in_place and (not options.prune or options.out):
        raise ValueError("--in-place: expected with --prune, and without --out")
    catalog = Catalog.load("suites")
    try:
        known = load(options.known, catalog)
    except KnownError as error:
        raise ValueError(str(error)) from error
    records = load_records(options.run)
    if not len(records):
        raise LookupError(f"{options.run}: expected a run with records; it has none")
    if (options.run / "run.json").exists() and (missing := sentence.shortfalls(RunInfo.load(options.run))):
        print(f"Partial run: {plain('; '.join(missing), 200)}", file=sys.stderr)
    if options.prune:
        return _prune(records, known, options)
    made, why = suggest(records, known, catalog)
    told = stanza.text(made, why, records) if made or len(why) else "# Nothing to suggest: no record is a mismatch.\n"
    if options.out:
        files.replace_text(options.out, told)
        print(f"{len(made)} entries for {sum(len(one.rows) for one in made):,} records are in {options.out}")
    else:
        files.show(told)
    return 0


def _prune(records: pd.DataFrame, known: Known, options: argparse.Namespace) -> int:
    table = entries(records, known)
    for row in tables.rows(table[table["state"].isin(["stale", "narrow", "idle"])]):
        told = f"entry {row['entry']} ({row['spec']}, {row['kind']}): {ledger.TOLD[row['state']].format(**row)}"
        files.show(plain(told) + "\n")
    spent = table[table["state"].isin(["stale", "idle"])]["entry"].tolist()
    target = options.known if options.in_place else options.out
    files.show(f"{len(spent)} of {len(table)} entries are spent{f'; {target} is without them' if target else ''}\n")
    if target:
        whole = options.known.read_bytes().decode()
        files.replace_text(target, ledger.without(whole, spent))
    return 0
