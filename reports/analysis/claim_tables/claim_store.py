"""Claim store: a file with verdicts on claims from other runs, which a page shows apart from its own run's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from tf_opdiff.harness.paths import ROOT
from tf_opdiff.harness.store.run_directories.run_info import RunInfo
from tf_opdiff.harness.system.processor import described
from tf_opdiff.reports.analysis.claim_tables.claim_verdicts import COUNTS, verdicts

FILE = ROOT / "recordings" / "claims.csv"
#: A stored verdict is about a claim while these hashes are the same.
HASHES = ("program", "inputs", "prediction")
#: The columns that identify a stored verdict: one on a claim by one program under one plan.
KEYS = ["claim", "spec", "tf", "device", "mode"]
#: The columns of `FILE`; `made` is the date and the run, `machine` the machine.
COLUMNS = (*KEYS, "verdict", *COUNTS, "made", "machine", *HASHES)


def stored_verdicts(path: Path = FILE) -> pd.DataFrame:
    """The verdicts of other runs; columns are `COLUMNS`.

    Raises:
      ValueError: the file has other columns.
    """
    if not path.exists():
        return pd.DataFrame(columns=list(COLUMNS))
    table = pd.read_csv(path, dtype="str", keep_default_na=False)
    if tuple(table.columns) != COLUMNS:
        raise ValueError(f"{path}: expected the columns {', '.join(COLUMNS)}; it has {', '.join(table.columns)}")
    return table


def store(records: pd.DataFrame, info: RunInfo, claims: Sequence[Mapping[str, Any]], path: Path = FILE) -> int:
    """Adds a run's verdicts to a file; they replace those on the same claim, program, version and plan.

    Three sorts of verdicts are left out: those by a program whose cases the run lacks, those that a recording could
    not answer, and those that are the suite's own fault. Returns how many verdicts the file has now.

    Raises:
      ValueError: the run has no hashes of its claims.
    """
    if not all(name in claim for claim in claims for name in HASHES):
        raise ValueError(f"run {info.run}: expected hashes of {', '.join(HASHES)} in claims.json: run the claims again")
    table = verdicts(records, KEYS)
    programs = pd.DataFrame(
        [(claim["id"], *(claim[key] for key in ("spec", "cases", *HASHES))) for claim in claims],
        columns=["claim", "spec", "cases", *HASHES],
    )
    table = table.merge(programs, on=["claim", "spec"])
    recorded = table["device"].str.contains("@")
    whole = table[list(COUNTS)].sum(axis=1) == table["cases"]
    table = table[whole & (table["faulty"] == 0) & ~(recorded & (table["unavailable"] > 0))]
    origins = [_origin(info, device) for device in table["device"]]
    table = table.assign(
        made=[date for date, _ in origins],
        machine=[machine for _, machine in origins],
        device=table["device"].str.split("@").str[0],
    )
    both = pd.concat([stored_verdicts(path), table[list(COLUMNS)].astype(str)])
    both = both.drop_duplicates(KEYS, keep="last").sort_values(KEYS)
    path.parent.mkdir(exist_ok=True)
    both.to_csv(path, index=False, lineterminator="\n")
    return len(both)


def _origin(info: RunInfo, device: str) -> tuple[str, str]:
    """The date and run of a device's observations, and the machine."""
    about = info.devices.get(device, {})
    if "recorded" in about:
        return str(about["recorded"]), str(about.get("processor") or about.get("host", ""))
    machine = str(about.get("processor") or about.get("host", "")) if "server" in about else described(info.machine)
    return f"{info.started}, run {info.run}", machine or info.host
