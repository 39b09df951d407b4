"""Recording format: the columns of a recording's Parquet file, its name, and the key of its metadata."""

from __future__ import annotations

import re

import pyarrow as pa

FORMAT = 1
SUFFIX = ".parquet"
#: Bytes: of a larger array a hash is kept, and of its case the records that it led to.
LARGEST = 1 << 16
NAME = re.compile(r"[a-z][a-z0-9_.:+=-]*(@[a-z0-9_.+-]+)?")
KEY = b"tf-opdiff"
SCHEMA = pa.schema(
    [
        *((name, pa.string()) for name in ("case", "mode", "quantity", "again", "status", "dtype")),
        ("shape", pa.list_(pa.int64())),
        ("bytes", pa.binary()),
        ("hash", pa.string()),
        ("indices", pa.list_(pa.int64())),
        ("dense_shape", pa.list_(pa.int64())),
        *((name, pa.string()) for name in ("code", "message", "asked", "program", "ran_on", "raw_op")),
        ("seconds", pa.float64()),
        *((name, pa.string()) for name in ("fault", "lacking", "records")),
    ]
)
_HOLDS = {"shape": "lists of integers", "bytes": "bytes", "indices": "lists of integers", "seconds": "floats"}
COLUMNS = dict.fromkeys(SCHEMA.names, "texts") | _HOLDS | {"dense_shape": "lists of integers"}
#: A sweep has no arrays, and a result may be none.
NULLABLE = tuple(name for name in SCHEMA.names if name not in ("case", "mode"))
