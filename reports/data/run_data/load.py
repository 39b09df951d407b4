"""Load: the files of a run directory as DataFrames."""

from __future__ import annotations

import re
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import msgspec
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from tf_opdiff.harness.judge.known_failures.cause import Cause
from tf_opdiff.harness.repro import archive
from tf_opdiff.harness.repro.listing import ClaimData
from tf_opdiff.harness.repro.override_listing import OverrideData
from tf_opdiff.harness.repro.script_runs.outcome import Outcome
from tf_opdiff.harness.repro.trials.attribution import Attribution
from tf_opdiff.harness.store.formats import parquet, untrusted
from tf_opdiff.harness.store.formats.json_text import encodable
from tf_opdiff.harness.store.records.record import ADDED, COLUMNS, Record
from tf_opdiff.harness.store.run_directories import rundir
from tf_opdiff.reports.data.run_data import frame
from tf_opdiff.reports.data.run_data.shards import CATEGORIES

#: For each op and device type, dtypes by attribute.
Kernels = dict[str, dict[str, list[dict[str, list[str]]]]]
RECORDS, OBSERVATIONS = rundir.RECORDS, rundir.OBSERVATIONS
#: The settings on which discrepancies depend; `python -m harness switches` writes it.
SWITCHES = "switches.json"
_HOLDS = {"str": "texts", "int": "integers", "float": "floats"}
RECORD_COLUMNS = {field.name: _HOLDS[str(field.type)] for field in fields(Record)}
#: The number of columns in the first version of records; later versions added columns at the end.
OLDEST = len(COLUMNS) - len(ADDED)
OBSERVATION_COLUMNS = dict.fromkeys(frame.OBSERVATIONS.names, "texts") | {
    **dict.fromkeys(("shape", "indices", "dense_shape"), "lists of integers"),
    "bytes": "bytes",
}
#: Columns that are empty for an observation without an array.
NULLABLE = ("shape", "bytes", "indices", "dense_shape")
#: The programs of known failures, if they are many, in one file.
ARCHIVE = f"repro/{archive.NAME}"
#: The path of a finding's script within its run.
SCRIPT = re.compile(r"repro/(?:known\.tar\.xz/)?[\w.=,+-]+\.py")


def load(run: Path | str) -> pd.DataFrame:
    """The records of a run, one row for each verdict, matches included.

    The columns are those of `harness.store.records.record.COLUMNS`, in that order. Reads `records.parquet` or, if it
    does not exist yet, the shards. Columns that a file of an older version lacks are empty.

    Raises:
      FileNotFoundError: `run` is not the directory of a run.
      ValueError: a file is damaged or of another format.
    """
    path = untrusted.inside(Path(run), RECORDS)
    if not path.exists():
        return frame.records(with_shards(Path(run)))
    return load_file(path)


def load_file(path: Path) -> pd.DataFrame:
    """The records in a file such as `records.parquet`; columns that it lacks get their defaults.

    Raises:
      FileNotFoundError: the file does not exist.
      ValueError: it is damaged or of another format.
    """
    table = parquet.read(path, RECORD_COLUMNS, least=OLDEST)
    for place, name in enumerate(table.column_names):
        if RECORD_COLUMNS[name] == "texts" and name not in CATEGORIES:
            table = table.set_column(place, name, pc.cast(table.column(name), pa.large_string()))
    records = table.to_pandas(split_blocks=True, self_destruct=True)
    del table
    for field in fields(Record)[len(records.columns) :]:  # a later version added this column
        records[field.name] = field.default
    return _typed(records, path)


def load_observations(run: Path | str) -> pd.DataFrame:
    """The observations of a run, one row for each quantity of a case under a plan.

    `reports.data.run_data.frame.array` gives the array of a row.

    Columns: `case`, `device`, `mode`, `quantity`, `status`; `dtype`, `shape`, `bytes` of the array; `indices` and
    `dense_shape` of a sparse gradient; `code` and `message` of an error or a crash.

    Raises:
      FileNotFoundError: `run` is not the directory of a run.
      ValueError: a file is damaged or of another format.
    """
    path = untrusted.inside(Path(run), OBSERVATIONS)
    if not path.exists():
        return frame.observations(with_shards(Path(run)))
    table = parquet.read(path, OBSERVATION_COLUMNS, nullable=NULLABLE).cast(frame.OBSERVATIONS)
    return _typed(table.to_pandas(), path)


def with_observations(run: Path, option: str) -> Path:
    """The directory of a run, after a check that it has observations.

    Raises:
      FileNotFoundError: it has none; the message names the option that needs them.
    """
    if not (run / OBSERVATIONS).exists() and not (run / "shards").is_dir():
        raise FileNotFoundError(f"{option}: {run} has no {OBSERVATIONS}")
    return run


def load_repros(run: Path | str) -> list[dict[str, Any]]:
    """The outcome of each finding's script: the fields of `harness.repro.script_runs.outcome.Outcome`, and the
    script's `text`.

    The list is empty for a run without repro.json.

    Raises:
      ValueError: repro.json or a script is a link, or malformed.
    """
    repros = [asdict(outcome) for outcome in _listed(run, "repro.json", Outcome)]
    packed = untrusted.inside(Path(run), ARCHIVE)
    programs = archive.read(packed) if packed.exists() else {}
    for repro in repros:
        script = repro["script"] if SCRIPT.fullmatch(repro["script"]) else ""
        if script.startswith(f"{ARCHIVE}/"):
            repro["text"] = programs.get(script.removeprefix(f"{ARCHIVE}/"), "")
            continue
        path = untrusted.inside(Path(run), script) if script else None
        repro["text"] = untrusted.text(path) if path and path.exists() else ""
    return repros


def load_claims(run: Path | str) -> list[dict[str, Any]]:
    """The claims that a run tested, with their programs (see `harness.repro.listing.claims_data`).

    The list is empty for a run without claims.json.

    Raises:
      ValueError: claims.json is a link, or malformed.
    """
    return _listed(run, "claims.json", ClaimData)


def load_overrides(run: Path | str) -> list[OverrideData]:
    """The gradient overrides of a run, with their programs (see `harness.repro.override_listing.overrides_data`).

    The list is empty for a run without overrides.json.

    Raises:
      ValueError: overrides.json is a link, or malformed.
    """
    return _listed(run, "overrides.json", OverrideData)


def load_causes(run: Path | str) -> dict[str, Cause]:
    """The causes of known failures by which a run was judged, by their ids.

    The dict is empty for a run of an earlier version, which has no causes.json.

    Raises:
      ValueError: causes.json is a link, or malformed.
    """
    causes = [_encodable(cause) for cause in _listed(run, "causes.json", Cause)]
    return {cause.id: cause for cause in causes}


def load_attributions(run: Path | str) -> dict[str, Attribution]:
    """The settings of TensorFlow on which discrepancies of a run depend, by the ids of the discrepancies.

    The dict is empty for a run without switches.json.

    Raises:
      ValueError: switches.json is a link, or malformed.
    """
    return {one.id: one for one in _listed(run, SWITCHES, Attribution)}


def load_kernels(run: Path | str) -> Kernels:
    """The kernels that the TensorFlow of a run registers, as `harness.device.installation.kernels.registered` gives
    them.

    The dict is empty for a run of an earlier version, and for one without live devices: they have no kernels.json.

    Raises:
      ValueError: kernels.json is a link, or malformed.
    """
    path = untrusted.inside(Path(run), "kernels.json")
    kernels = untrusted.load(path, Kernels) if path.exists() else {}
    return {
        encodable(op): {
            encodable(kind): [
                {encodable(name): [*map(encodable, types)] for name, types in row.items()} for row in rows
            ]
            for kind, rows in kinds.items()
        }
        for op, kinds in kernels.items()
    }


def _encodable(cause: Cause) -> Cause:
    """The cause with texts that UTF-8 can encode."""
    texts = {name: encodable(text) for name, text in msgspec.structs.asdict(cause).items() if isinstance(text, str)}
    numbers = tuple((encodable(text), encodable(expression)) for text, expression in cause.numbers)
    return msgspec.structs.replace(cause, **texts, numbers=numbers, see=tuple(map(encodable, cause.see)))


def _listed(run: Path | str, name: str, item_type: Any) -> list[Any]:
    path = untrusted.inside(Path(run), name)
    return untrusted.load(path, list[item_type]) if path.exists() else []


def with_shards(directory: Path) -> Path:
    """The directory, after a check that it has shards.

    Raises:
      FileNotFoundError: it has none.
    """
    if not (directory / "shards").is_dir():
        raise FileNotFoundError(f"{directory} is not the directory of a run: it has neither {RECORDS} nor shards/")
    return directory


def _typed(columns: pd.DataFrame, path: Path) -> pd.DataFrame:
    try:
        return frame.typed(columns)
    except ValueError as why:
        raise ValueError(f"{path}: {why}") from why
