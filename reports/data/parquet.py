"""Parquet: a DataFrame in a file whose checksums show damage."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from tf_opdiff.reports.data import files


def write(frame: pd.DataFrame, path: Path, *, schema: pa.Schema | None = None) -> None:
    """Replaces `path` by a file with the DataFrame, without its index. Each page of the file has a checksum."""
    table = pa.Table.from_pandas(frame, schema=schema, preserve_index=False)
    files.replace(path, lambda file: pq.write_table(table, file, compression="zstd", write_page_checksum=True))
