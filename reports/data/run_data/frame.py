"""Frame: the merged shards of a run as typed DataFrames."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from tf_opdiff.harness.device.observation import STATUSES, raw, unpack, unraw
from tf_opdiff.harness.spec.kinds import KINDS
from tf_opdiff.harness.store.formats.json_text import encodable
from tf_opdiff.harness.store.formats.parquet import MOST
from tf_opdiff.harness.store.records.record import COLUMNS, VERDICTS
from tf_opdiff.reports.data.run_data import shards
from tf_opdiff.reports.data.run_data.shards import CATEGORIES, FLOATS, INTEGERS

#: Columns whose values come from a fixed list, in that order.
FIXED = {"verdict": VERDICTS, "kind": ("", *KINDS), "status": STATUSES}
SORTED_BY = ["suite", "spec", "case", "device", "mode", "quantity", "against"]
OBSERVATIONS = pa.schema(
    [
        *((name, pa.string()) for name in ("case", "device", "mode", "quantity", "status", "dtype")),
        ("shape", pa.list_(pa.int64())),
        ("bytes", pa.binary()),
        ("indices", pa.list_(pa.int64())),
        ("dense_shape", pa.list_(pa.int64())),
        ("code", pa.string()),
        ("message", pa.string()),
    ]
)


def records(run: Path) -> pd.DataFrame:
    """The records in the shards of a run, one row each, with the columns of `harness.store.records.record.COLUMNS`."""
    merged = shards.records(run)
    order = np.lexsort([merged[name].cat.codes for name in reversed(SORTED_BY)])  # categories are in order
    columns = {name: _typed(merged.pop(name).take(order).reset_index(drop=True)) for name in COLUMNS}
    return pd.DataFrame(columns, copy=False)


def observations(run: Path) -> pd.DataFrame:
    """The observations in the shards of a run, one row for each quantity of a case under a plan.

    `dtype`, `shape` and `bytes` (little-endian, in C order) describe the array, or the values of a sparse gradient,
    which also has `indices` and `dense_shape`. Without an array, `bytes` and `shape` are None.

    Raises:
      ValueError: the arrays take more than `harness.store.formats.parquet.MOST` bytes together.
    """
    rows, left = [], MOST
    for (case, device, mode), observation in shards.observations(run).items():
        for quantity, result in observation.get("quantities", {}).items():
            value, unpacked, indices = result.get("value"), unpack(result.get("value")), unpack(result.get("indices"))
            dense = result.get("shape")
            data = None if unpacked is None else raw(unpacked)[1]
            left -= len(data or b"") + (0 if indices is None else indices.nbytes)
            if left < 0:
                raise ValueError(f"{run}: expected arrays of at most {MOST:,} bytes together")
            where = {"case": case, "device": device, "mode": mode, "quantity": quantity, "status": result["status"]}
            array = {
                "dtype": value["dtype"] if value else "",
                "shape": tuple(value["shape"]) if value else None,
                "bytes": data,
                "indices": None if indices is None else tuple(indices.ravel().tolist()),
                "dense_shape": None if dense is None else tuple(dense),
            }
            rows.append(where | array | {"code": result.get("code", ""), "message": result.get("message", "")})
    return typed(pd.DataFrame({name: _clean([row[name] for row in rows]) for name in OBSERVATIONS.names}))


def typed(frame: pd.DataFrame) -> pd.DataFrame:
    """The DataFrame with the types of its columns: categories, integers, floats, texts, and tuples of integers.

    Raises:
      ValueError: the harness does not know a verdict, a kind or a status.
    """
    columns = {name: _typed(frame[name]) for name in frame.columns}
    return pd.DataFrame(columns, columns=frame.columns, copy=False)


def array(row: Mapping[str, Any]) -> np.ndarray | None:
    """The array that a row of `observations` holds."""
    if not isinstance(row["bytes"], bytes):  # None, or the NaN that pandas stores for it
        return None
    return unraw(row["dtype"], row["shape"], row["bytes"])


def _typed(column: pd.Series) -> pd.Series:
    name = str(column.name)
    if name in ("shape", "indices", "dense_shape"):
        values = [None if v is None else tuple(int(i) for i in v) for v in column]
        return pd.Series(values, index=column.index, dtype=object)
    if name == "bytes":
        return column.astype(object)
    if name in INTEGERS:
        return column.astype("int64")
    if name in FLOATS:
        return column.astype("float64")
    if name not in CATEGORIES:
        return column.astype("str")
    if not isinstance(column.dtype, pd.CategoricalDtype):
        column = column.astype("str").astype("category")
    column = column.cat.remove_unused_categories().cat.as_unordered()
    column = column.cat.rename_categories(column.cat.categories.astype("str").tolist())
    allowed = FIXED["kind"] if name == "kinds" else FIXED.get(name, column.cat.categories)
    present = ";".join(column.cat.categories).split(";") if name == "kinds" else column.cat.categories
    if unknown := set(present) - set(allowed):
        raise ValueError(f"column {name}: {sorted(unknown)}: expected {', '.join(allowed)}")
    return column.cat.set_categories(FIXED.get(name, sorted(column.cat.categories)))


def _clean(column: Sequence[Any]) -> Sequence[Any]:
    """The values; lone surrogates in texts, which JSON can hold and UTF-8 can't, are written out."""
    if not column or not isinstance(column[0], str):
        return column
    try:
        "".join(column).encode()
    except UnicodeEncodeError:
        return [encodable(text) for text in column]
    return column
