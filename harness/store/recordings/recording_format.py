"""Recording format: the columns of a recording's Parquet file, its name, and the key of its metadata.

Format 1 is that of recordings without a base; format 2 stores an array that differs from the base whole. Both are read.
"""

from __future__ import annotations

import re

import pyarrow as pa

FORMAT = 3
#: The formats that can be read.
FORMATS = (1, 2, 3)
SUFFIX = ".parquet"
#: Bytes. A larger array is replaced by its hash, and the records of its case are stored too.
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
#: The columns that together name a row, and those of its result.
ROW = ("case", "mode", "quantity", "again")
RESULT = ("status", "dtype", "shape", "bytes", "hash", "indices", "dense_shape", "code", "message")
#: The status of a row whose result is that of the same row in the base; its other columns of `RESULT` are empty. If its
#: array has other bytes, `bytes` has the exclusive or of both.
IN_BASE = "base"
_HOLDS = {"shape": "lists of integers", "bytes": "bytes", "indices": "lists of integers", "seconds": "floats"}
COLUMNS = dict.fromkeys(SCHEMA.names, "texts") | _HOLDS | {"dense_shape": "lists of integers"}
#: The columns that may be empty: a sweep has no arrays, and a result may have no value.
NULLABLE = tuple(name for name in SCHEMA.names if name not in ("case", "mode"))
