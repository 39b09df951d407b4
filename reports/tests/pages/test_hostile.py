"""A run from anywhere is data: nothing in it is run, imported or followed, and nothing of it takes much memory."""

from __future__ import annotations

import base64
import json
import os
import resource
import shutil
import subprocess
import sys
import zlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tf_opdiff import reports
from tf_opdiff.command_line import main as harness
from tf_opdiff.harness.device.observation import pack, unpack
from tf_opdiff.harness.paths import ROOT
from tf_opdiff.harness.repro.reproduce import Setting, reproduce
from tf_opdiff.harness.run import merge_runs
from tf_opdiff.harness.spec.catalog import Catalog
from tf_opdiff.harness.spec.plan import Device
from tf_opdiff.harness.store.formats import parquet
from tf_opdiff.harness.store.recordings import record_devices, recording
from tf_opdiff.harness.store.run_directories import rundir
from tf_opdiff.harness.store.run_directories.run_info import RunInfo
from tf_opdiff.harness.store.shards.merged import merge
from tf_opdiff.harness.store.shards.shard import Shard
from tf_opdiff.harness.tests.patience import PATIENCE
from tf_opdiff.reports.__main__ import main as report
from tf_opdiff.reports.analysis.known_failures import known_text, ledger
from tf_opdiff.reports.data.run_data.load import RECORD_COLUMNS
from tf_opdiff.reports.tests.planted import synthetic

#: Bytes of memory that reading any of these files may take, beside what the process has.
ROOM = 1 << 30


def run_in(folder: Path, name: str = "run", **info: Any) -> Path:
    """A small run, as workers leave it."""
    rows = [replace(r, against="numpy") for r in synthetic.records([("rounding", "floor")], ["cpu"], ["edges"])]
    synthetic.write(folder / name, rows, observed=True, **info)
    return folder / name


def readers(run: Path) -> dict[str, Callable[[], int]]:
    """Every command that reads a run."""
    folder, out = run.parent, run.parent / "out"
    words = {
        "merge": ["merge", str(run), f"--run-dir={out}"],
        "diff": ["diff", str(run), str(run), "--bits"],
        "history": ["history", str(folder)],
        "record": ["record", str(run), "--device", "cpu", "--name", "x", f"--out={out}"],
        "issues": ["issues", str(run), f"--issues={folder / 'issues.json'}"],
        "suggest": ["suggest", str(run)],
        "claims": ["claims", str(run)],
        "table": ["table", "by_op", str(run)],
    }
    (folder / "issues.json").write_text("[]")
    return {"reports": lambda: report([str(run)]), **{n: lambda w=w: harness(w) for n, w in words.items()}}  # type: ignore[misc]


def test_no_command_imports_the_module_that_a_run_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "evil_suites.py").write_text(f"open({str(tmp_path / 'canary')!r}, 'w').close()\nSPECS = ()\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    run = run_in(tmp_path, suites="evil_suites", known="suites/known")
    said = {}
    for name, read in readers(run).items():
        read()
        said[name] = capsys.readouterr().err
        assert not (tmp_path / "canary").exists(), name
    for name in ("reports", "merge"):
        (line,) = [text for text in said[name].splitlines() if "evil_suites" in text]
        assert "which is not used: expected 'tf_opdiff.suites', or --suites 'evil_suites' from you" in line
    assert (run / "index.html").is_file()


def test_a_run_that_is_resumed_is_of_these_suites(tmp_path: Path) -> None:
    (tmp_path / "evil_suites.py").write_text(f"open({str(tmp_path / 'canary')!r}, 'w').close()\nSPECS = ()\n")
    run = run_in(tmp_path, suites="evil_suites", state="interrupted")
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", f"--resume={run}", "suites"]
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")} | {"PYTHONPATH": str(tmp_path)}
    done = subprocess.run(
        command, check=False, cwd=ROOT, capture_output=True, text=True, env=environment, timeout=PATIENCE
    )
    assert done.returncode == 4 and "it is a run of evil_suites" in done.stderr
    assert not (tmp_path / "canary").exists()


@pytest.mark.parametrize(
    "setting", ["core.fsmonitor", "diff.evil.textconv", "alias.blame", "core.pager", "core.hooksPath"]
)
@pytest.mark.parametrize("where", ["outside", "inside"])
def test_no_setting_of_a_foreign_repository_runs_a_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, setting: str, where: str
) -> None:
    program = tmp_path / "evil"
    program.write_text(f'#!/bin/sh\ntouch {tmp_path / "canary"}\ncat "$@"\n')
    program.chmod(0o755)
    checkout = tmp_path / "checkout"
    foreign = tmp_path / "foreign" if where == "outside" else checkout / "runs" / "foreign"
    for folder in (checkout, foreign):
        folder.mkdir(parents=True)
        known = folder / "known.toml"
        known.write_text('[cause.x]\nentries = [{spec = "floor"}]\n')
        (folder / ".gitattributes").write_text("*.toml diff=evil\n")
        who = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"]
        for words in (["init", "-q"], ["add", "known.toml", ".gitattributes"], [*who, "commit", "-qm", "x"]):
            subprocess.run(["git", *words], cwd=folder, check=True)
    value = f"!{program}" if setting == "alias.blame" else str(tmp_path if setting == "core.hooksPath" else program)
    subprocess.run(["git", "config", setting, value], cwd=foreign, check=True)
    monkeypatch.setattr(ledger, "ROOT", checkout)
    monkeypatch.setattr(known_text, "ROOT", checkout)
    assert known_text.changes(checkout / "known.toml")
    assert known_text.changes(foreign / "known.toml") == {}
    assert not (tmp_path / "canary").exists()
    records = reports.load(run_in(tmp_path))
    info = RunInfo(run="r", started="s", suites="suites", known=os.path.relpath(foreign / "known.toml", checkout))
    assert not len(ledger.of_run(records, info, merge_runs.OURS))
    assert not (tmp_path / "canary").exists()


LINKED = (
    "run.json",
    "repro.json",
    "claims.json",
    "causes.json",
    "kernels.json",
    "records.parquet",
    "observations.parquet",
    "shards",
    "junit.xml",
)


@pytest.mark.parametrize("name", [*LINKED, "repro", "shards/{}", "repro/floor.py"])
def test_a_link_in_a_run_is_refused_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    run, secret = run_in(tmp_path), tmp_path / "elsewhere"
    (run / "repro").mkdir()
    (run / "repro" / "floor.py").write_text("print('of ours')\n")
    row = reports.load(run).iloc[0]
    place = {
        k: str(row[k]) for k in ("suite", "spec", "verdict", "kind", "case", "device", "mode", "against", "quantity")
    }
    (run / "repro.json").write_text(json.dumps([{**place, "status": "reproduced", "script": "repro/floor.py"}]))
    (run / "claims.json").write_text("[]")
    (run / "causes.json").write_text("[]")
    (run / "kernels.json").write_text("{}")
    (run / "junit.xml").write_text("<testsuites><testsuite/></testsuites>")
    reports.write(run, RunInfo.load(run))
    (run / "index.html").unlink()
    target = run / name.format(next((run / "shards").iterdir()).name)
    shutil.move(target, secret)
    if secret.is_file() and name == "repro/floor.py":
        secret.write_text("the secret of this machine")
    target.symlink_to(secret)
    if name in ("records.parquet", "observations.parquet"):
        load = reports.load if name.startswith("records") else reports.load_observations
        with pytest.raises(ValueError, match="got a link"):
            load(run)
        return
    status = report([str(run)])
    said = capsys.readouterr().err
    if name == "claims.json":  # nobody asks for it: the run has no record of a claim
        assert "the secret" not in (run / "index.html").read_text()
        return
    assert status == 4 and said.count("\n") == 1 and "got a link" in said, said
    assert not (run / "index.html").exists()


@pytest.mark.parametrize("name", ["switches", "switches.json", "ops", "index.html"])
def test_switches_writes_through_no_link(tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    run, elsewhere = run_in(tmp_path), tmp_path / "elsewhere"
    elsewhere.mkdir()
    (run / name).symlink_to(elsewhere)
    assert harness(["switches", str(run)]) == 4
    said = capsys.readouterr().err
    assert f"{run / name}: expected a file or a folder, got a link" in said and said.count("\n") == 1
    assert not [*elsewhere.iterdir()]


def test_switches_takes_a_run_by_a_path_from_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = run_in(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert harness(["switches", run.name]) == 0
    assert (run / "index.html").exists()


def test_a_report_that_switches_cannot_write_is_one_line_more(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    run = run_in(tmp_path)
    (run / "claims.json").write_text("[")
    (run / "kernels.json").write_text("[")
    assert harness(["switches", str(run)]) == 4
    reason, last = capfd.readouterr().err.splitlines()
    assert f"{run / 'kernels.json'}: Expected object" in reason
    assert last.endswith(f"{run}: the report can't be written: its process ended with status 4")


def test_what_a_report_replaces_is_not_written_through_a_link(tmp_path: Path) -> None:
    run, other = run_in(tmp_path), tmp_path / "other"
    other.write_text("mine")
    for name in ("index.html", "summary.md", "run.json.tmp", f"index.html.{os.getpid()}.tmp"):
        (run / name).symlink_to(other)
    info = RunInfo.load(run)
    info.save(run)
    reports.write(run, info)
    assert other.read_text() == "mine" and not (run / "index.html").is_symlink()


@pytest.mark.parametrize("name", ["../../evil@1", "/tmp/evil@1", "cpu/../../evil", "a\x00b@1"])
def test_no_name_of_a_device_leads_out_of_the_recordings(tmp_path: Path, name: str) -> None:
    with pytest.raises(LookupError, match="expected a name such as"):
        recording.find([name], tmp_path)
    run = rundir.create(tmp_path, chosen=tmp_path / "run")
    cell = {"case": "floor-float32-edges", "device": name, "mode": "eager"}
    shard = rundir.open_shard(run, "gw0")
    shard.write("result", **cell, records=[], observation={}, asked="", program="1")
    shard.close()
    RunInfo(run="r", started="s", tf="2.21.0", state="complete", devices={name: {"asked": True}}).save(run)
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(ValueError, match="expected"):
        merge_runs.merge([run], tmp_path / "merged")
    with pytest.raises(ValueError, match="expected"):
        record_devices.record(run, [], "", tmp_path / "merged")
    assert [p for p in sorted(tmp_path.rglob("*")) if p not in before and p.is_file()] == []


INJECTED = "output[0]\nimport os; os.system('touch canary')"


@pytest.mark.parametrize(
    "change",
    [
        {"mode": 'eager"""\nimport os; os.system("touch canary")\n"""', "kind": "position"},
        {"quantity": "grad[0] if open('canary', 'w') else 0]", "kind": "nondeterministic"},
        {"against": "cpu/eager\nopen('canary', 'w')"},
        {"tf": '2"""\nopen("canary", "w")\n"""'},
        {"recipe": "edges\nopen('canary', 'w')"},
        {"dtype": "float32, open('canary', 'w')"},
        {"worst_index": "[__import__('os').system('touch canary')]"},
        {"worst_index": "[" + "9" * 5000 + "]"},
        {"device": "cpu'); open('canary', 'w'"},
        {"got": '"""\nopen("canary", "w")', "detail": "\\\"\"\"\nopen('canary', 'w')"},
    ],
    ids=lambda change: next(iter(change)),
)
def test_no_record_puts_code_into_a_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: dict[str, str]
) -> None:
    monkeypatch.chdir(tmp_path)
    base = synthetic.records([("rounding", "floor")], ["cpu"], ["edges"])[0]
    base = replace(base, verdict="mismatch", kind="value", against="numpy", worst_index="[0]", mode="eager", budget=0.0)
    record = replace(base, **change)
    elsewhere = {record.device: Device.parse("cpu")}  # programs of a device that is elsewhere are written, and not run
    catalog, folder = Catalog.load("tf_opdiff.suites"), tmp_path / "repro"
    reproduce([record], Setting(catalog=catalog, tf=record.tf, folder=folder, elsewhere=elsewhere))
    for path in (tmp_path / "repro").glob("*.py"):
        tree = compile(path.read_text(), str(path), "exec")
        assert "open" not in tree.co_names and "os" not in tree.co_names
    assert not (tmp_path / "canary").exists()


@pytest.fixture
def little_memory() -> Iterator[None]:
    """Lets this process have no more than `ROOM` beside what it has."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (taken + ROOM, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_AS, before)


def bomb() -> dict[str, Any]:
    """An array of 2 GiB of zeros in 9 MB, which says that it has 67 elements."""
    squeeze, zeros = zlib.compressobj(1), bytes(1 << 24)
    data = b"".join(squeeze.compress(zeros) for _ in range(128)) + squeeze.flush()
    return {"dtype": "float32", "shape": [67], "data": base64.b64encode(data).decode()}


@pytest.mark.usefixtures("little_memory")
def test_an_array_larger_than_it_says_or_than_any_is_a_damaged_line_and_takes_no_memory(tmp_path: Path) -> None:
    run, before = run_in(tmp_path), len(reports.load(run_in(tmp_path, "other")))
    packed = bomb()
    shard = Shard(run / "shards" / "99-bomb.jsonl")
    wrong = pack(np.zeros(3, np.float32))
    assert wrong is not None
    values = [
        packed,
        packed | {"shape": [1 << 30]},
        packed | {"dtype": "bytes"},
        wrong | {"shape": [4]},
        wrong | {"dtype": "O"},
    ]
    for value in values:
        quantities = {"output[0]": {"status": "value", "value": value}}
        cell = {"case": "bomb", "device": "cpu", "mode": "eager"}
        shard.write("result", **cell, records=[], observation={"quantities": quantities, "again": {}})
    shard.close()
    merged = merge([run])
    assert merged.damaged == len(values) and len(merged.records) == before
    assert not len(reports.load_observations(run).query("case == 'bomb'"))
    assert unpack(pack(np.arange(3))) is not None


@pytest.mark.usefixtures("little_memory")
def test_a_line_and_a_shard_that_are_too_long_are_damaged_and_cost_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = run_in(tmp_path)
    whole = merge([run])
    with (run / "shards" / "00-sparse.jsonl").open("wb") as file:
        file.truncate(1 << 40)
    monkeypatch.setattr("tf_opdiff.harness.store.shards.shard.SHARD", 1 << 28)
    merged = merge([run])
    assert 1 <= merged.damaged <= 2 and merged.results.keys() == whole.results.keys()
    monkeypatch.setattr("tf_opdiff.harness.store.shards.shard.LINE", 4096)
    shard = next(p for p in (run / "shards").iterdir() if "sparse" not in p.name)
    (run / "shards" / "00-sparse.jsonl").unlink()
    shard.write_bytes(b"0" * 10_000 + b"\n" + shard.read_bytes())
    merged = merge([run])
    assert merged.damaged == 1 and merged.results.keys() == whole.results.keys()


@pytest.mark.usefixtures("little_memory")
@pytest.mark.parametrize("shared", [True, False], ids=["a text that all rows share", "a text in each row"])
def test_a_table_larger_than_memory_allows_is_refused_before_it_is_read(tmp_path: Path, shared: bool) -> None:
    run = run_in(tmp_path)
    reports.write(run, RunInfo.load(run))
    path = run / "records.parquet"
    table = pq.read_table(path)
    table = table.set_column(table.schema.names.index("detail"), "detail", pa.array(["x"] * len(table)))
    rows = 12_000 if shared else 60  # of half a megabyte: 6 GB, or more than is allowed here
    many = table.slice(0, 1).take(pa.array(np.zeros(rows, "i8")))
    long = pa.array(["x" * (1 << 19)]) if shared else pa.array([f"{i}{'x' * (1 << 19)}" for i in range(rows)])
    codes = pa.array(np.zeros(rows, "i4") if shared else np.arange(rows, dtype="i4"))
    many = many.set_column(table.schema.names.index("detail"), "detail", pa.DictionaryArray.from_arrays(codes, long))
    pq.write_table(many, path, compression="zstd")
    assert path.stat().st_size < 1 << 20
    with pytest.raises(ValueError, match="bytes of memory; expected at most") as refused:
        parquet.read(path, RECORD_COLUMNS, most=parquet.MOST if shared else 1 << 24)
    assert str(path) in str(refused.value)


def test_a_list_larger_than_memory_allows_is_refused_before_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "lists.parquet"
    pq.write_table(pa.table({"shape": pa.array([np.zeros(4_000_000, "i8")])}), path, compression="zstd")
    assert path.stat().st_size < 1 << 16
    with pytest.raises(ValueError, match="would take"):
        parquet.read(path, {"shape": "lists of integers"}, most=1 << 20)


def test_a_fifo_is_no_file_to_wait_for(tmp_path: Path) -> None:
    run = run_in(tmp_path)
    os.mkfifo(run / "shards" / "pipe.jsonl")
    with pytest.raises(ValueError, match="expected a file, got something else"):
        merge([run])
