"""Errors: the error profile of a run: the distances from the reference, by bins of the argument and by size."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from tf_opdiff.harness.store.formats import parquet, untrusted
from tf_opdiff.reports.data.figures import error_frames
from tf_opdiff.reports.data.figures.error_frames import BINS, FLOATS, INTEGERS, PROFILE, STEPS, typed
from tf_opdiff.reports.data.run_data.load import RECORDS, with_shards

#: The files in a run directory.
ERRORS = "errors.parquet"
HISTOGRAM = "error_histogram.parquet"


def load_errors(run: Path | str) -> pd.DataFrame:
    """The error profile of a run by bins of the argument: one row for each sign and binary exponent with elements.

    The columns are those of `PROFILE` and `BINS`, in that order: texts are categories; `sign`, `exponent`, `elements`,
    `wrong` and `mismatched` are integers; `budget` and `max_ulp` are floats. Rows are sorted by profile, sign and size.
    Only floating-point and complex results have a profile, each against NumPy, under its plan's promise; only elements
    that were compared count. The largest part of a complex result's error counts. A plan that gave no value has no row,
    and neither have sweeps and large arrays of a recorded device, which a recording holds as records only.

    Reads `errors.parquet` or, if the run has not ended, the shards. The table is empty for a run of an older version.

    Raises:
      FileNotFoundError: `run` is not the directory of a run.
      ValueError: errors.parquet is a link, damaged or of another format.
    """
    return _load(Path(run), ERRORS, {**PROFILE, **BINS})


def load_error_histogram(run: Path | str) -> pd.DataFrame:
    """The error profile of a run by the size of the error: one row for each bin of ULPs with elements.

    The columns are those of `PROFILE` and `STEPS`, in that order. The same elements count as in `load_errors`.

    Raises:
      FileNotFoundError: `run` is not the directory of a run.
      ValueError: error_histogram.parquet is a link, damaged or of another format.
    """
    return _load(Path(run), HISTOGRAM, {**PROFILE, **STEPS})


def _load(run: Path, name: str, columns: Mapping[str, str]) -> pd.DataFrame:
    """The table in a file of a run.

    Without the file, the table comes from the shards of a run that has not ended; that of a closed run, which is older
    than such files, is empty.
    """
    path = untrusted.inside(run, name)
    if path.exists():
        kinds = {n: "integers" if n in INTEGERS else "floats" if n in FLOATS else "texts" for n in columns}
        try:
            return typed(parquet.read(path, kinds).to_pandas())
        except ValueError as why:
            raise why if str(why).startswith(str(path)) else ValueError(f"{path}: {why}") from why
    if untrusted.inside(run, RECORDS).exists():
        return typed(pd.DataFrame(columns=list(columns)))
    bins, steps = error_frames.frames(with_shards(run))
    return bins if name == ERRORS else steps
