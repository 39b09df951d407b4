"""Claim verdicts: what a run's records say of each claim, and verdicts of other runs that are stored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from tf_opdiff.harness.paths import ROOT
from tf_opdiff.harness.store.processor import described
from tf_opdiff.harness.store.record import CLAIM
from tf_opdiff.harness.store.rundir import RunInfo

#: Verdicts of other runs, which the page shows apart from the run's own.
KEPT = ROOT / "recordings" / "claims.csv"


COLUMNS = ("claim", "tf", "device", "mode", "verdict", "held", "refuted", "unavailable", "faulty")


KEYS = ["claim", "tf", "device", "mode"]


#: A verdict is about a claim while these hashes are the same.
HASHES = ("program", "inputs", "prediction")


#: A row of `KEPT`: the verdict on a claim by one program under one plan; when, by which run and on which machine.
KEPT_COLUMNS = ("claim", "spec", *COLUMNS[1:], "made", "machine", *HASHES)


KEPT_KEYS = ["claim", "spec", "tf", "device", "mode"]


#: What a record's verdict says of the claim that it is held against.
SAYS = {
    **dict.fromkeys(("match", "stale"), "held"),
    **dict.fromkeys(("contract", "mismatch"), "refuted"),
    "unavailable": "unavailable",
    "error": "faulty",
}


VERDICTS = {"held": "confirmed", "refuted": "refuted", "unavailable": "unavailable", "faulty": "faulty"}


def verdicts(records: pd.DataFrame, keys: Sequence[str] = KEYS) -> pd.DataFrame:
    """The verdict on each claim for each TensorFlow version and plan, worked out from the records.

    Columns: the `keys`, which are `claim`, `tf`, `device` and `mode`, and may have `spec` among them; `verdict`, one of
    `confirmed`, `refuted`, `true only where`, `unavailable` and `faulty`; how many records `held`, `refuted`, were
    `unavailable` or `faulty`. A record is a claim × case × plan.
    """
    some = records[records["against"].astype(str).str.startswith(CLAIM)]
    told = some[[key for key in keys if key != "claim"]].astype(str)
    told["claim"] = some["against"].astype(str).str.removeprefix(CLAIM)
    told["says"] = some["verdict"].astype(str).map(SAYS)
    counts = told.groupby([*keys, "says"]).size().unstack("says", fill_value=0)
    counts = counts.reindex(columns=list(COLUMNS[5:]), fill_value=0).rename_axis(columns=None).reset_index()
    each = counts[list(COLUMNS[5:])].to_dict("records")
    found = [overall([VERDICTS[str(says)] for says, n in row.items() if n]) for row in each]
    counts.insert(len(keys), "verdict", found)
    return counts


def overall(found: Sequence[str]) -> str:
    """One verdict out of those on several cases, plans or versions."""
    told = {v for v in found if v != "unavailable"}
    if not told:
        return "unavailable" if found else "not run in this run"
    return "faulty" if "faulty" in told else told.pop() if len(told) == 1 else "true only where"


def kept(path: Path = KEPT) -> pd.DataFrame:
    """The verdicts of other runs; columns are `KEPT_COLUMNS`.

    Raises:
      ValueError: the file has other columns.
    """
    if not path.exists():
        return pd.DataFrame(columns=list(KEPT_COLUMNS))
    found = pd.read_csv(path, dtype="str", keep_default_na=False)
    if tuple(found.columns) != KEPT_COLUMNS:
        raise ValueError(f"{path}: expected the columns {', '.join(KEPT_COLUMNS)}; it has {', '.join(found.columns)}")
    return found


def keep(records: pd.DataFrame, info: RunInfo, claims: Sequence[Mapping[str, Any]], path: Path = KEPT) -> int:
    """Adds a run's verdicts to a file, in place of those on the same claim, program, version and plan.

    A program of which the run lacks cases is left out, and so is what a recording refused to answer, and a verdict that
    is the suite's own fault. Returns how many verdicts the file has.

    Raises:
      ValueError: the run has no hashes of its claims.
    """
    if not all(name in c for c in claims for name in HASHES):
        raise ValueError(f"run {info.run}: expected hashes of {', '.join(HASHES)} in claims.json: run the claims again")
    found = verdicts(records, KEPT_KEYS)
    known = pd.DataFrame(
        [(c["id"], *(c[k] for k in ("spec", "cases", *HASHES))) for c in claims],
        columns=["claim", "spec", "cases", *HASHES],
    )
    found = found.merge(known, on=["claim", "spec"])
    recorded = found["device"].str.contains("@")
    whole = found[list(COLUMNS[5:])].sum(axis=1) == found["cases"]
    found = found[whole & (found["faulty"] == 0) & ~(recorded & (found["unavailable"] > 0))]
    found = found.assign(
        made=[_made(info, device)[0] for device in found["device"]],
        machine=[_made(info, device)[1] for device in found["device"]],
        device=found["device"].str.split("@").str[0],
    )
    both = pd.concat([kept(path), found[list(KEPT_COLUMNS)].astype(str)])
    both = both.drop_duplicates(KEPT_KEYS, keep="last").sort_values(KEPT_KEYS)
    path.parent.mkdir(exist_ok=True)
    both.to_csv(path, index=False, lineterminator="\n")
    return len(both)


def _made(info: RunInfo, device: str) -> tuple[str, str]:
    """When and by which run the observations of a device were made, and on which machine."""
    about = info.devices.get(device, {})
    if "recorded" in about:
        return str(about["recorded"]), str(about.get("processor") or about.get("host", ""))
    return f"{info.started}, run {info.run}", described(info.machine) or info.host
