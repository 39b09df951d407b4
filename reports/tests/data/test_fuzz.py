"""Files of a run with something in them changed: each is read, or refused in one line that names the file."""

from __future__ import annotations

import copy
import json
import math
import random
import zlib
from collections.abc import Callable, Iterator
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tf_opdiff import reports
from tf_opdiff.harness.device.observation import Observation, Result, pack, unpack
from tf_opdiff.harness.judge.known_failures.cause import Cause
from tf_opdiff.harness.repro.listing import ClaimData, claims_data
from tf_opdiff.harness.repro.script_runs.outcome import Outcome
from tf_opdiff.harness.spec.catalog import Catalog
from tf_opdiff.harness.store.formats import parquet
from tf_opdiff.harness.store.recordings import recording, recording_format, recording_writer
from tf_opdiff.harness.store.recordings.recorded_device import About
from tf_opdiff.harness.store.recordings.recording import Recording
from tf_opdiff.harness.store.records.error_profile import ErrorProfile
from tf_opdiff.harness.store.run_directories.run_info import RunInfo
from tf_opdiff.harness.store.shards import read_lines
from tf_opdiff.harness.store.shards.merged import merge
from tf_opdiff.harness.sweep.measurements.tally import Tally
from tf_opdiff.harness.sweep.progress_state import Swept
from tf_opdiff.reports.analysis.histories import nights, stored_run
from tf_opdiff.reports.data.causes.discrepancies import discrepancies
from tf_opdiff.reports.data.figures import error_frames
from tf_opdiff.reports.data.names.op_names import op_names
from tf_opdiff.reports.data.run_data import frame, run_environment, shards
from tf_opdiff.reports.data.run_data.load import RECORD_COLUMNS, load_causes, load_claims, load_kernels, load_repros
from tf_opdiff.reports.pages import page_data
from tf_opdiff.reports.pages.op_pages import op_page
from tf_opdiff.reports.pages.run_pages import claims_page, run_page
from tf_opdiff.reports.tests.analysis.test_claims import claim
from tf_opdiff.reports.tests.data.test_table import frame as frame_of
from tf_opdiff.reports.tests.planted import synthetic
from tf_opdiff.reports.text.sentences import markdown, sentence

MUTATIONS = 1000
#: In place of any value: of every type of JSON's, at its ends.
ODD: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1.5, 2**63, -(2**70), 1e308, math.nan, math.inf),
    *("", "nan", "x\x1b[31m\ud800\u2028", "../../etc/passwd", "9" * 5000),
    *([], [[]], [1, 2], ["a"], {}, {"": None}, {"a": {"b": []}}),
)
#: Two elements in one bin.
PROFILE = ErrorProfile("input[0]", 1.0, np.array([[2], [1], [3], [2], [0], [1]]), np.array([1.5]), np.array([0, 1, 1]))


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of every value within some JSON."""
    yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in inner:
        yield from places(one, (*path, key))


def changed(value: Any, draw: random.Random) -> Any:
    """A copy with one value replaced, left out, doubled, or under another name."""
    *outer, last = draw.choice(list(places(value))[1:])
    made = copy.deepcopy(value)
    at = made
    for key in outer:
        at = at[key]
    what = draw.randrange(6)
    if what == 0:
        del at[last]
    elif what == 1 and isinstance(at, dict):
        at[f"{last}x"] = at.pop(last)
    elif what == 2 and isinstance(at, list):
        at.append(copy.deepcopy(at[last]))
    else:
        at[last] = draw.choice(ODD)
    return made


def refused(path: Path, read: Callable[[], object]) -> bool:
    """Whether a file was refused: in one line that names it. Any other error fails the test."""
    try:
        read()
    except (ValueError, OSError) as why:
        text = str(why)
        assert str(path) in text and "\n" not in text, text
        return True
    return False


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small run with every file that is read."""
    directory = tmp_path_factory.mktemp("fuzz") / "run"
    rows = synthetic.records([("rounding", "floor")], ["cpu"], ["edges"])
    missing = [{"case": "c", "device": "cpu", "mode": "xla", "why": "cut off"}]
    info = synthetic.write(directory, rows, observed=True, not_run=missing, faults=["a"], deselected=["b"])
    names = ("suite", "spec", "verdict", "kind", "case", "device", "mode", "against", "quantity")
    outcome = Outcome(*(getattr(rows[0], n) for n in names), status="reproduced", points=[[1.0], [2.0]])
    (directory / "repro.json").write_text(json.dumps([asdict(outcome)]))
    (directory / "claims.json").write_text(json.dumps([claim("C01")]))
    cause = Cause(id="c", owner="us", reason="some reason", link="https://x", title="t", severity="memory")
    (directory / "causes.json").write_text(json.dumps([msgspec.to_builtins(cause)]))
    kernels = {"Floor": {"CPU": [{"T": ["float32", "int8"], "Tidx": ["int32"]}, {}], "GPU": [{"T": ["float32"]}]}}
    (directory / "kernels.json").write_text(json.dumps(kernels))
    reports.write(directory, info)
    return directory


def shard_lines() -> list[dict[str, Any]]:
    """A line of each kind, as the harness writes it."""
    row = synthetic.records([("rounding", "floor")], ["cpu"], ["edges"])[0]
    cell = {"case": row.case, "device": row.device, "mode": row.mode}
    value = Result("value", np.float32([1, 2]))
    sparse = Result("sparse", np.float32([[1]]), np.array([0]), (4, 1))
    seen = Observation({"output[0]": value, "grad[0]": sparse}, again={"position": {"output[0]": value}})
    tally = Tally(size=4, kinds={"nan": 1}, histogram=[1, 2], worst=[["nan", 1.0, 2, "nan", "1"]], max_ulp=3.0)
    tally.simplest = {"nan": [[0.0, 1.0], 2, "nan", "1"]}
    block = {"spec": "floor", "dtype": "float16", "device": "cpu", "mode": "xla", "lo": 0, "hi": 4, "seconds": 0.1}
    return [
        {"line": "plan", "items": ["floor-float32"]},
        {"line": "start", **cell, "at": 0.5},
        {
            "line": "result",
            **cell,
            "records": [row.to_json()],
            "observation": seen.to_json(),
            "errors": {"output[0]": PROFILE.to_json()},
            "asked": "1",
            "program": "2",
        },
        {"line": "compare", **cell, "records": [row.to_json()]},
        {"line": "item", "item": "floor-float32", "seconds": 0.5},
        {"line": "lost", "items": ["floor-float32"], "why": "a node went away"},
        {
            "line": "block",
            **block,
            "about": {"ran_on": "CPU"},
            "tallies": [["sweep", "output[0]", tally.to_json()]],
            "profiles": [["sweep", "output[0]", PROFILE.to_json()]],
        },
    ]


def test_every_field_that_the_harness_writes_in_a_line_comes_back(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    written = json.loads(json.dumps(shard_lines()))
    path.write_bytes(b"".join(_line(line) for line in written))
    assert json.loads(json.dumps(list(read_lines.read(path)))) == written


def test_every_field_that_the_suites_tell_of_a_claim_comes_back() -> None:
    told = claims_data(Catalog.load("tf_opdiff.harness.tests.planted_specs.planted_claims"))
    assert {frozenset(one) for one in told} == {frozenset(ClaimData.__annotations__)}


def _line(line: Any) -> bytes:
    text = json.dumps(line).encode()
    return b"%08x %s\n" % (zlib.crc32(text), text)


def test_changed_run_json_is_read_or_refused(run: Path) -> None:
    path, draw, bad = run / "run.json", random.Random(1), 0
    whole = path.read_text()
    try:
        for number in range(MUTATIONS):
            path.write_text(json.dumps(changed(json.loads(whole), draw)))

            def read(number: int = number) -> None:
                info = run_environment.info(run)
                run_environment.facts(info)
                sentence.of_run(info, dict.fromkeys(("mismatch", "error", "stale"), 0))
                if number % 50 == 0:
                    records = reports.load(run)
                    markdown.summary(records, info, discrepancies(records, {}))
                    run_page.html(records, info)

            bad += refused(path, read)
    finally:
        path.write_text(whole)
    assert MUTATIONS / 4 < bad < MUTATIONS


def test_changed_shards_are_read_or_refused(tmp_path: Path) -> None:
    (tmp_path / "shards").mkdir()
    path, draw, bad, whole = tmp_path / "shards" / "a.jsonl", random.Random(2), 0, shard_lines()
    for number in range(MUTATIONS):
        made = [*whole]
        at = draw.randrange(len(made))
        made[at] = changed(made[at], draw)
        path.write_bytes(b"".join(map(_line, made)))

        def read(number: int = number) -> None:
            merged = merge([tmp_path])
            for cell, line in merged.results.items():
                assert list(recording_writer._rows(line)) or not line["observation"], cell
            for line in filter(None, read_lines.read(path)):
                if line["line"] == "block":
                    Swept().add(line)
            if number % 20 == 0:
                frame.records(tmp_path)
                frame.observations(tmp_path)
                error_frames.frames(tmp_path)
            else:
                list(shards._lines(tmp_path, shards._Recorded, ("result", "compare")))

        bad += refused(path, read)
    assert MUTATIONS / 4 < bad < MUTATIONS


@pytest.mark.parametrize(
    ("name", "read"),
    [
        ("repro.json", load_repros),
        ("claims.json", load_claims),
        ("causes.json", load_causes),
        ("kernels.json", load_kernels),
    ],
)
def test_changed_json_files_are_read_or_refused(run: Path, name: str, read: Callable[[Path], Any]) -> None:
    path, draw, bad = run / name, random.Random(3), 0
    whole = path.read_text()
    records, info = reports.load(run), RunInfo.load(run)
    known = frame_of(*synthetic.records([("select", "where")], ["cpu"], ["edges"]))
    try:
        for number in range(MUTATIONS):
            path.write_text(json.dumps(changed(json.loads(whole), draw)))

            def use(number: int = number) -> None:
                found = read(run)
                if name == "repro.json":
                    page_data._programs(found)
                elif number % 50 == 0 and name == "claims.json":
                    claims_page.html(records, info, found)
                elif number % 50 == 0 and name == "kernels.json":
                    sources = op_page.OpSources(records=records, info=info, names=op_names(records), kernels=found)
                    "".join(op_page.pages(sources).values()).encode()
                elif number % 50 == 0:
                    ranked = discrepancies(known, dict(zip([synthetic.KNOWN["cause"]], found.values(), strict=False)))
                    run_page.html(known, info, run_page.Supplement(ranked=ranked)).encode()

            bad += refused(path, use)
    finally:
        path.write_text(whole)
    assert MUTATIONS / 4 < bad < MUTATIONS


def recorded(folder: Path, name: str = "x@2.21.0", base: str = "") -> Path:
    info = {"name": name, "device": "cpu", "tf": "2.21.0", "runs": ("r",), "started": "s"}
    (line,) = [one for one in shard_lines() if one["line"] == "result"]
    line["records"] = []
    return recording_writer.write(About(**info), {("c", "cpu", "eager"): line}, folder, base=base)  # type: ignore[arg-type]


def test_changed_facts_of_recordings_and_of_what_history_keeps_are_read_or_refused(run: Path, tmp_path: Path) -> None:
    nights.read(run.parent)
    (kept,) = (run.parent / "history").glob("*.parquet")
    recorded(tmp_path, "base@1")
    draw = random.Random(4)
    for path, key, read in (
        (recorded(tmp_path), recording_format.KEY, lambda path: Recording(path).about.facts),
        (recorded(tmp_path, "y@2", "base@1"), recording_format.KEY, lambda path: Recording(path).about.facts),
        (kept, stored_run._META, lambda path: stored_run._read(path, None)),
    ):
        bad, table = 0, pq.read_table(path)
        facts = json.loads(table.schema.metadata[key])
        for _ in range(MUTATIONS // 2):
            made = table.replace_schema_metadata({key: json.dumps(changed(facts, draw))})
            pq.write_table(made, path)
            bad += refused(path, lambda path=path, read=read: read(path))  # type: ignore[misc]
        assert MUTATIONS / 10 < bad < MUTATIONS / 2


def test_changed_tables_are_read_or_refused(run: Path, tmp_path: Path) -> None:
    draw, path = random.Random(5), tmp_path / "records.parquet"
    small = pq.read_table(run / "records.parquet").slice(0, 2)
    columns = [pa.array([1, 2]), pa.array([1.5, None]), pa.array(["a", None]), pa.array([b"a", b"\xff"]), pa.nulls(2)]
    columns += [
        pa.array([[1], None]),
        pa.array([{"a": 1}, None]),
        pa.array([True, False]),
        pa.array(np.uint64([2**64 - 1, 0])),
    ]
    pq.write_table(small, path, write_page_checksum=True)
    whole, bad = path.read_bytes(), 0
    for number in range(MUTATIONS):
        if number % 2:
            data = bytearray(whole)
            data[draw.randrange(len(data))] ^= 1 << draw.randrange(8)
            path.write_bytes(data)
        else:
            at = draw.randrange(small.num_columns)
            pq.write_table(small.set_column(at, small.column_names[at], draw.choice(columns)), path)
        read = partial(parquet.read, path, RECORD_COLUMNS) if number % 10 else partial(reports.load, tmp_path)
        bad += refused(path, read)
    assert MUTATIONS / 4 < bad < MUTATIONS


@pytest.mark.parametrize("base", ["", "base@1"])
def test_changed_recordings_are_read_or_refused(tmp_path: Path, base: str) -> None:
    if base:
        recorded(tmp_path, base)
    draw, path = random.Random(6), recorded(tmp_path, base=base)
    table = pq.read_table(path)
    rows, bad = table.to_pylist(), 0
    odd = {
        "string": ["", "x", None, "float32", "base", "9" * 500],
        "double": [math.nan, None],
        "binary": [b"", None, b"1234"],
    }
    odd["list<element: int64>"] = [[], [-1], [2**40, 2**40], None]  # type: ignore[list-item]
    for _ in range(MUTATIONS):
        made = copy.deepcopy(rows)
        name = draw.choice(table.column_names)
        draw.choice(made)[name] = draw.choice(odd[str(table.schema.field(name).type)])
        pq.write_table(pa.Table.from_pylist(made, schema=table.schema), path)

        def read() -> None:
            found = Recording(path)
            for row in found._of("c", "eager"):
                recording._result(row, str(path))
            found.records("c", "eager", "2")
            assert found.cases

        bad += refused(path, read)
    assert bad


def test_an_array_of_another_type_than_its_line_says_is_no_array() -> None:
    packed = pack(np.float32([1, 2]))
    assert packed is not None
    for change in ({"dtype": "float32,int8"}, {"dtype": "O"}, {"dtype": "datetime64"}, {"shape": [3]}, {"data": "!"}):
        with pytest.raises(ValueError, match=r"expected|array|reshape"):
            unpack(packed | change)
