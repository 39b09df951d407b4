"""Nights: the runs of a folder, each kept as a small file, so that history outlives their directories."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from tf_opdiff.harness.store import parquet, untrusted
from tf_opdiff.harness.store.environment import MODEL
from tf_opdiff.harness.store.processor import described
from tf_opdiff.harness.store.record import encodable
from tf_opdiff.harness.store.rundir import RunInfo
from tf_opdiff.reports.data import files, frame, run_environment
from tf_opdiff.reports.data.load import OBSERVATIONS, RECORDS, load, load_file
from tf_opdiff.reports.text import sentence

#: Where in the folder of runs the small files are.
KEPT = "history"
#: What a record is known by, from run to run; a case's id names its inputs too.
KEY = ("suite", "spec", "case", "device", "mode", "quantity", "against")
FIGURES = ("verdict", "kind", "max_ulp")
ABOUT = ("run", "started", "tf", "cuda", "host", "name", "partial", "environment")
_META = b"tf-opdiff run"
_FORMAT = 1
_COLUMNS = dict.fromkeys((*KEY, *FIGURES), "texts") | {"max_ulp": "floats"}
_SCHEMA = pa.schema([(n, pa.float32() if n == "max_ulp" else pa.dictionary(pa.int32(), pa.string())) for n in _COLUMNS])


class _About(msgspec.Struct):
    """The facts of a run that stand in the file where it is kept; see `Nights`."""

    run: str
    started: str
    tf: str
    cuda: str
    host: str
    partial: str
    environment: dict[str, str]
    stamp: list[int] | None
    name: str = ""


@dataclass(frozen=True)
class Nights:
    """The runs of a folder.

    `runs` has one row a run, the newest first: the columns of `ABOUT` (`name` is what it is called in the folder,
    `partial` says why it is not whole, `environment` maps devices to what they are) and `records`, how many it has.
    `records` has one row a record: the columns of `KEY` as categories, `run` (the row in `runs`), `verdict`, `kind`
    and `max_ulp` (in ULPs, float32). `left_out` says of each run that can't be read why.
    """

    runs: pd.DataFrame
    records: pd.DataFrame
    left_out: dict[str, str]


def read(folder: Path | str, last: int | None = None) -> Nights:
    """The runs in a folder: run directories, files of records (`*.parquet`), and those kept of runs that are gone.

    What was not kept yet is kept under `history/`, where the folder can be written. `last` takes the newest runs only.

    Raises:
      LookupError: there is no run.
      OSError: `folder` is no directory.
      ValueError: `last` is not positive.
    """
    folder = Path(folder)
    if last is not None and last < 1:
        raise ValueError(f"last {last}: expected a positive number of runs")
    if not folder.is_dir():
        raise NotADirectoryError(f"{folder}: expected a folder of runs, such as runs")
    left_out: dict[str, str] = {}
    found: dict[str, tuple[dict[str, Any], pa.Table]] = {}
    for name, source in _sources(folder).items():
        try:
            about, table = _one(folder / KEPT / f"{name}.parquet", source)
        except (OSError, ValueError, KeyError, TypeError, AttributeError, pa.ArrowException) as why:
            left_out[name] = " ".join(str(why).split()) or type(why).__name__
            continue
        twin = found.get(about["run"])
        if twin:
            left_out[name] = f"is run {about['run']}, as {twin[0]['name']} is"
        else:
            found[about["run"]] = {**about, "name": name}, table
    if not found:
        lost = "; ".join(f"{name}: {text}" for name, text in list(left_out.items())[:3])
        lost = f" ({lost})" if lost else ""
        raise LookupError(f"{folder}: expected run directories or files of records; found none that can be read{lost}")
    order = sorted(found.values(), key=lambda run: (run[0]["started"], run[0]["run"]), reverse=True)[:last]
    return Nights(_runs([a for a, _ in order], [t for _, t in order]), _records([t for _, t in order]), left_out)


def _sources(folder: Path) -> dict[str, Path | None]:
    """What there is of each run, by name: its directory or file of records; None where only the kept file is left."""
    there: dict[str, Path | None] = {}
    for path in sorted(folder.iterdir()):
        if path.is_dir() and not path.is_symlink() and path.name != KEPT:
            if any((path / part).exists() for part in ("run.json", RECORDS, "shards")):
                there[path.name] = path
        elif path.suffix == ".parquet" and path.is_file() and path.name != OBSERVATIONS:
            there[path.name] = path
    kept = sorted((folder / KEPT).glob("*.parquet"))
    return there | {path.stem: None for path in kept if path.stem not in there}


def _one(kept: Path, source: Path | None) -> tuple[dict[str, Any], pa.Table]:
    """A run's facts and its records, from the kept file where that is up to date."""
    stamp = _stamp(source) if source else None
    if kept.exists():
        try:
            return _unpack(kept, stamp)
        except (OSError, ValueError, KeyError, TypeError, pa.ArrowException):
            if source is None:
                raise
    assert source is not None  # a kept file that is there has been read, or is damaged, which was raised
    about, table = _packed(source, stamp)
    try:
        kept.parent.mkdir(exist_ok=True)
        files.replace(kept, lambda file: pq.write_table(table, file, compression="zstd", write_page_checksum=True))
    except OSError:  # a folder that can't be written is read all the same
        pass
    return about, table


def _stamp(source: Path) -> list[int]:
    """What changes when a run is written again: sizes and times of its files."""
    parts = [source] if source.is_file() else [source / "run.json", source / RECORDS]
    if source.is_dir() and not parts[1].exists():
        parts[1:] = sorted((source / "shards").glob("*.jsonl"))
    stats = [path.stat() for path in parts if path.exists()]
    return [_FORMAT, sum(s.st_size for s in stats), max((s.st_mtime_ns for s in stats), default=0)]


def _unpack(path: Path, stamp: list[int] | None) -> tuple[dict[str, Any], pa.Table]:
    """What `_packed` gave, from the file where it is kept.

    Raises:
      ValueError: the file is no such one, or the run was written again since.
    """
    table = parquet.read(path, _COLUMNS).cast(_SCHEMA)
    with untrusted.opened(path, parquet.MOST) as file:
        told = (pq.read_schema(file).metadata or {}).get(_META, b"null")
    about = msgspec.to_builtins(untrusted.decode(told, _About, str(path)))
    for name in ("verdict", "kind"):
        if unknown := {*table.column(name).unique().to_pylist()} - {*frame.FIXED[name]}:
            raise ValueError(f"{path}: {name} {sorted(map(str, unknown))}: delete it")
    if stamp is not None and about["stamp"] != stamp:
        raise ValueError("the run was written again since")
    return about, table


def _packed(source: Path, stamp: list[int] | None) -> tuple[dict[str, Any], pa.Table]:
    """A run as a table of the key and the key figures, its facts among the metadata."""
    info = None
    if source.is_dir():
        records, info = load(source), run_environment.info(source) if (source / "run.json").exists() else None
    else:
        records = load_file(source)
    first = records.iloc[0] if len(records) else None
    about: dict[str, Any] = {"name": source.name, "stamp": stamp}
    for name in ("run", "started", "tf", "cuda", "host"):
        about[name] = encodable(str(getattr(info, name) if info else first[name] if first is not None else ""))
    about["run"] = about["run"] or source.name
    about["partial"] = "; ".join(sentence.shortfalls(info)) if info else "there is no run.json to tell if it is whole"
    about["environment"] = {d: _environment(d, info, about) for d in records["device"].astype(str).unique().tolist()}
    some = records[[*KEY, *FIGURES]].sort_values(list(KEY), kind="stable")
    with np.errstate(over="ignore"):  # farther than a float32 can say is infinitely far
        some = some.assign(max_ulp=some["max_ulp"].astype("float32"))
    table = pa.Table.from_pandas(some, schema=_SCHEMA, preserve_index=False)
    return about, table.replace_schema_metadata({_META: json.dumps(about).encode()})


def _environment(device: str, info: RunInfo | None, about: dict[str, Any]) -> str:
    """What a device's results may depend on, besides TensorFlow: as text, to be compared with that of other runs."""
    if info is None:
        return f"{about['host']} {about['cuda']}"
    facts = info.devices.get(device, {})
    processor = described(info.machine) if device.startswith("cpu") else f"CUDA {info.cuda}"
    names = [str(facts[name]) for name in MODEL if name in facts]
    return " ".join(filter(None, [*names, processor, *(f"{k}={v}" for k, v in sorted(info.flags.items()))]))


def _runs(abouts: list[dict[str, Any]], tables: list[pa.Table]) -> pd.DataFrame:
    runs = pd.DataFrame([{name: about[name] for name in ABOUT} for about in abouts])
    return runs.assign(records=[len(table) for table in tables])


def _records(tables: list[pa.Table]) -> pd.DataFrame:
    """The records of all runs, in one frame."""
    whole = pa.concat_tables([table.replace_schema_metadata() for table in tables]).unify_dictionaries()
    records = whole.to_pandas()
    for name in ("verdict", "kind"):
        records[name] = records[name].cat.set_categories(frame.FIXED[name])
    return records.assign(run=np.repeat(np.arange(len(tables), dtype="int32"), [len(t) for t in tables]))
