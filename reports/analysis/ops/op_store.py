"""Op store: a file with the worst verdicts on ops under other TensorFlow versions, from other runs.

To make it again, judge `suites/ops` and `suites/programs` on the recordings, with `--device cpu@2.18.1` and so on; then
`python -c "from tf_opdiff.reports.analysis.ops.op_store import *; store([Path('runs/latest')])"`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from packaging.version import Version

from tf_opdiff.harness.paths import ROOT
from tf_opdiff.harness.store.formats import parquet
from tf_opdiff.harness.store.run_directories.run_info import RunInfo
from tf_opdiff.harness.system.processor import described
from tf_opdiff.reports.data.figures import tables
from tf_opdiff.reports.data.run_data import parquet as parquet_file
from tf_opdiff.reports.data.run_data.load import load
from tf_opdiff.reports.text.verdicts import SEVERITY

FILE = ROOT / "recordings" / "versions" / "ops.parquet"
#: The columns that identify a stored verdict.
KEYS = ["tf", "device", "spec", "dtype", "quantity", "mode"]
#: The columns of `FILE`; `max_ulp` in ULPs, NaN without a distance; `made` is the date and the runs.
COLUMNS = {
    **dict.fromkeys([*KEYS, "raw_op", "verdict"], "texts"),
    "max_ulp": "floats",
    "made": "texts",
    "machine": "texts",
}


def stored_ops(path: Path = FILE) -> pd.DataFrame:
    """The verdicts of other runs; columns are `COLUMNS`, in the order of versions.

    Raises:
      ValueError: the file is damaged, or has other columns.
    """
    return parquet.read(path, COLUMNS).to_pandas() if path.exists() else pd.DataFrame(columns=list(COLUMNS))


def worst_verdicts(records: pd.DataFrame) -> pd.DataFrame:
    """The worst verdict and the largest distance for each of `KEYS`; columns are `KEYS`, `raw_op` and these two.

    They are of comparisons with NumPy: those with another plan are about that too, and a run has them against one of
    its devices only. Distances that a contract allows are left out.
    """
    some = records[records["against"].astype(str) == "numpy"]
    rank = tables.by_severity(some["verdict"]).cat.codes
    measured = ~some["verdict"].isin(["contract", "unavailable"])
    some = some[[*KEYS, "raw_op"]].assign(rank=rank, max_ulp=some["max_ulp"].where(measured, np.nan))
    groups = some.groupby(KEYS, sort=False, observed=True)
    table = groups.agg(raw_op=("raw_op", "first"), rank=("rank", "min"), max_ulp=("max_ulp", "max"))
    table = table.reset_index().astype(dict.fromkeys([*KEYS, "raw_op"], "str"))
    table.insert(len(KEYS) + 1, "verdict", np.asarray(SEVERITY)[table.pop("rank").to_numpy(int)])
    return table


def store(runs: Sequence[Path], path: Path = FILE) -> int:
    """Adds the verdicts of runs to a file; they replace those on the same `KEYS`. Returns how many it has now.

    Raises:
      FileNotFoundError, ValueError: as `reports.data.run_data.load.load` and `stored_ops`.
    """
    tables_ = [stored_ops(path)]
    for run in runs:
        info, table = RunInfo.load(run), worst_verdicts(load(run))
        origins = {device: _origin(info, device) for device in table["device"].unique()}
        table = table.assign(
            made=[origins[device][0] for device in table["device"]],
            machine=[origins[device][1] for device in table["device"]],
            device=table["device"].str.split("@").str[0],
        )
        tables_.append(table)
    both = pd.concat([table for table in tables_ if len(table)]).drop_duplicates(KEYS, keep="last")
    texts = [name for name, kind in COLUMNS.items() if kind == "texts"]
    both = both.astype(dict.fromkeys(texts, "str")).sort_values(KEYS, key=_in_order)[list(COLUMNS)]
    path.parent.mkdir(parents=True, exist_ok=True)
    parquet_file.write(both, path)
    return len(both)


def _in_order(column: pd.Series) -> pd.Series:
    return column.map(Version) if column.name == "tf" else column


def _origin(info: RunInfo, device: str) -> tuple[str, str]:
    """The date and runs of a device's observations, and the machine."""
    about = info.devices.get(device, {})
    if "recorded" in about:
        return str(about["recorded"]), str(about.get("processor") or about.get("host", ""))
    machine = str(about.get("processor") or about.get("host", "")) if "server" in about else described(info.machine)
    return f"{info.started}, run {info.run}", machine or info.host
