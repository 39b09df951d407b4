"""Stored run: the key figures of a run in a small file, which remains when the run's directory is deleted."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from tf_opdiff.harness.store.formats import parquet, untrusted
from tf_opdiff.harness.store.formats.json_text import encodable
from tf_opdiff.harness.store.run_directories import rundir
from tf_opdiff.harness.store.run_directories.environment import MODEL
from tf_opdiff.harness.store.run_directories.run_info import RunInfo
from tf_opdiff.harness.system.processor import described
from tf_opdiff.reports.data.run_data import files, frame, run_environment
from tf_opdiff.reports.data.run_data.load import RECORDS, load, load_file
from tf_opdiff.reports.text.sentences import sentence

#: The columns that identify a record in every run; a case's id determines its inputs too.
KEY = ("suite", "spec", "case", "device", "mode", "quantity", "against")
FIGURES = ("verdict", "kind", "max_ulp")
_META = b"tf-opdiff run"
_FORMAT = 1
_COLUMNS = dict.fromkeys((*KEY, *FIGURES), "texts") | {"max_ulp": "floats"}
_SCHEMA = pa.schema([(n, pa.float32() if n == "max_ulp" else pa.dictionary(pa.int32(), pa.string())) for n in _COLUMNS])
#: The errors by which a file or a run turns out to be unreadable.
UNREADABLE = (OSError, ValueError, KeyError, TypeError, AttributeError, pa.ArrowException)


class RunFacts(msgspec.Struct):
    """The facts of a run in the metadata of its file.

    Attributes:
      run, started, tf, cuda, host: as in a record.
      partial: why the run is partial; empty for a whole run.
      environment: for each device a text that is the same for runs on the same hardware with the same flags.
      stamp: sizes and times of the run's own files, which show if it was written again.
      name: the name of the run in the folder of runs.
    """

    run: str
    started: str
    tf: str
    cuda: str
    host: str
    partial: str
    environment: dict[str, str]
    stamp: list[int] | None
    name: str = ""


def stored_run(stored: Path, source: Path | None) -> tuple[RunFacts, pa.Table]:
    """The facts and the key figures of a run, from its file where that is up to date; else the file is written anew.

    Args:
      stored: the small file.
      source: the run's directory, or its file of records; None where only the small file is left.
    """
    stamp = _stamp(source) if source else None
    if stored.exists():
        try:
            return _read(stored, stamp)
        except UNREADABLE:
            if source is None:
                raise
    assert source is not None  # without a source the stored file exists; it was read above, or its error was raised
    facts, table = of_source(source, stamp)
    try:
        stored.parent.mkdir(exist_ok=True)
        table = table.replace_schema_metadata({_META: json.dumps(msgspec.to_builtins(facts)).encode()})
        files.replace(stored, lambda file: pq.write_table(table, file, compression="zstd", write_page_checksum=True))
    except OSError:  # a read-only folder can be read all the same
        pass
    return facts, table


def _stamp(source: Path) -> list[int]:
    """Numbers that change when a run is written again: sizes and times of its files."""
    parts = [source] if source.is_file() else [source / "run.json", source / RECORDS]
    if source.is_dir() and not parts[1].exists():
        parts[1:] = rundir.shards(source) if (source / "shards").is_dir() else []
    stats = [path.stat() for path in parts if path.exists()]
    return [_FORMAT, sum(s.st_size for s in stats), max((s.st_mtime_ns for s in stats), default=0)]


def _read(path: Path, stamp: list[int] | None) -> tuple[RunFacts, pa.Table]:
    """Reads a stored file.

    Raises:
      ValueError: the file is malformed, or the run was written again since.
    """
    table = parquet.read(path, _COLUMNS).cast(_SCHEMA)
    with untrusted.opened(path, parquet.MOST) as file:
        metadata = (pq.read_schema(file).metadata or {}).get(_META, b"null")
    facts = untrusted.decode(metadata, RunFacts, str(path))
    for name in ("verdict", "kind"):
        if unknown := {*table.column(name).unique().to_pylist()} - {*frame.FIXED[name]}:
            raise ValueError(f"{path}: {name} {sorted(map(str, unknown))}: expected a known {name}; delete the file")
    if stamp is not None and facts.stamp != stamp:
        raise ValueError("the run was written again since")
    return facts, table


def of_source(source: Path, stamp: list[int] | None = None) -> tuple[RunFacts, pa.Table]:
    """The facts and the key figures of a run, from its directory or its file of records."""
    info = None
    if source.is_dir():
        records, info = load(source), run_environment.info(source) if (source / "run.json").exists() else None
    else:
        records = load_file(source)
    first = records.iloc[0] if len(records) else None
    texts = {
        name: encodable(str(getattr(info, name) if info else first[name] if first is not None else ""))
        for name in ("run", "started", "tf", "cuda", "host")
    }
    texts["run"] = texts["run"] or source.name
    partial = "; ".join(sentence.shortfalls(info)) if info else "it has no run.json, so nobody knows if it is whole"
    facts = RunFacts(**texts, partial=partial, environment={}, stamp=stamp, name=source.name)
    facts.environment = {d: _environment(d, info, facts) for d in records["device"].astype(str).unique().tolist()}
    some = records[[*KEY, *FIGURES]].sort_values(list(KEY), kind="stable")
    with np.errstate(over="ignore"):  # a distance beyond the range of float32 becomes infinite
        some = some.assign(max_ulp=some["max_ulp"].astype("float32"))
    return facts, pa.Table.from_pandas(some, schema=_SCHEMA, preserve_index=False)


def _environment(device: str, info: RunInfo | None, facts: RunFacts) -> str:
    """The hardware and flags that a device's results may depend on, besides TensorFlow, as a text to compare."""
    if info is None:
        return f"{facts.host} {facts.cuda}"
    about = info.devices.get(device, {})
    if "server" in about:
        return " ".join(f"{k}={v}" for k, v in sorted(about.items()) if k not in ("asked", "server", "host"))
    processor = described(info.machine) if device.startswith("cpu") else f"CUDA {info.cuda}"
    names = [str(about[name]) for name in MODEL if name in about]
    return " ".join(filter(None, [*names, processor, *(f"{k}={v}" for k, v in sorted(info.flags.items()))]))


def records_of(tables: list[pa.Table]) -> pd.DataFrame:
    """The key figures of all runs in one frame; the column `run` has the number of each record's run."""
    whole = pa.concat_tables([table.replace_schema_metadata() for table in tables]).unify_dictionaries()
    records = whole.to_pandas()
    for name in ("verdict", "kind"):
        records[name] = records[name].cat.set_categories(frame.FIXED[name])
    return records.assign(run=np.repeat(np.arange(len(tables), dtype="int32"), [len(t) for t in tables]))
