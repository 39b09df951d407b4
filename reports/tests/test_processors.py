"""Emulated processors are set up once, and their parts run until none is left."""

import json
import os
import subprocess
import sys

import pytest

from bench import emulated_python, processors
from bench.emulated_python import PROCESSORS, set_up
from tf_opdiff.harness.spec.catalog import Catalog
from tf_opdiff.harness.store import partition
from tf_opdiff.harness.tests.patience import PATIENCE

X86 = next(processor for processor in PROCESSORS if not processor.debian)
#: A QEMU that emulates nothing. Its arguments are: -cpu max -0 NAME PROGRAM …
FAKE = '#!/bin/bash\nname=$4; shift 4\nexec -a "$name" "$@"\n'
WHERE = "import json, sys, tensorflow; print(json.dumps([sys.executable, sys.prefix, tensorflow.__version__]))"


@pytest.fixture
def fake_qemu(tmp_path, monkeypatch):
    """fake_qemu(text) → the folder of a program with this text in place of QEMU."""

    def install(text=FAKE):
        folder = tmp_path / "programs"
        folder.mkdir()
        program = folder / X86.qemu
        program.write_text(text)
        program.chmod(0o755)
        monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")

    if os.uname().machine != X86.machine:
        pytest.skip("this machine has another architecture")
    return install


def test_processes_of_an_emulated_python_are_emulated_too(tmp_path, fake_qemu):
    fake_qemu()
    python = set_up(X86, tmp_path)
    assert set_up(X86, tmp_path) == python
    code = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {WHERE!r}], check=True)"
    done = subprocess.run([python, "-c", code], capture_output=True, text=True, check=True, timeout=PATIENCE)
    executable, prefix, version = json.loads(done.stdout)
    assert (executable, prefix) == (str(python), str(tmp_path / X86.name))
    assert version


def test_an_emulator_that_does_not_run_is_refused(tmp_path, fake_qemu):
    fake_qemu("#!/bin/sh\necho no such processor >&2\nexit 3\n")
    with pytest.raises(RuntimeError, match=r"exit status 3: no such processor"):
        set_up(X86, tmp_path)


def test_another_processor_than_the_expected_one_is_refused(tmp_path, fake_qemu):
    fake_qemu("#!/bin/sh\necho riscv64 3 1\n")
    with pytest.raises(RuntimeError, match=r"expected x86_64 with Python 3\.\d+, got riscv64 3 1"):
        set_up(X86, tmp_path)


def test_missing_programs_are_named_where_they_can_t_be_installed(monkeypatch):
    monkeypatch.setattr(emulated_python.shutil, "which", lambda name: None)
    with pytest.raises(RuntimeError, match="qemu-x86_64-static: install qemu-user-static as root"):
        emulated_python._install([X86.qemu])


def test_the_shards_of_a_processor_have_all_items():
    items = Catalog.load("tf_opdiff.harness.tests.planted").items
    shards = [part.options[-1] for part in processors.parts(3)[:-1]]
    parted = [item.id for text in shards for item in partition.shard(items, partition.parse(text), {})]
    assert sorted(parted) == sorted(item.id for item in items)


def test_parts_run_once(tmp_path, fake_qemu, monkeypatch, capfd):
    fake_qemu()
    monkeypatch.setattr(processors, "record", lambda processor, *more: 0)  # merging reads all suites
    command = [
        *(X86.name, f"--folder={tmp_path}", "--shards=1", "--op=floor", f"-oopdiff_known={os.devnull}"),
        "-oopdiff_suites=tf_opdiff.harness.tests.planted_onednn",
    ]
    assert processors.main([*command, "--minutes=0"]) == 0
    assert "2 parts are left" in capfd.readouterr().out
    assert processors.main(command) == 0
    assert "all parts have ended" in capfd.readouterr().out
    runs = sorted((tmp_path / X86.name / "runs").iterdir())
    assert [run.name for run in runs] == ["eager-1-of-1", "smoke"]
    times = [(run / "run.json").stat().st_mtime_ns for run in runs]
    assert processors.main(command) == 0
    assert times == [(run / "run.json").stat().st_mtime_ns for run in runs]


def test_a_recording_is_made_of_the_parts_that_ended(tmp_path, monkeypatch):
    runs = tmp_path / X86.name / "runs"
    for name, state in (("smoke", "complete"), ("eager-1-of-2", "fault"), ("eager-2-of-2", "interrupted")):
        (runs / name).mkdir(parents=True)
        (runs / name / "run.json").write_text(json.dumps({"state": state}))
    commands = []

    def run(command, **options):
        commands.append(command[3:])
        (tmp_path / X86.name / "merged").mkdir(exist_ok=True)
        (tmp_path / X86.name / "merged" / "run.json").touch()
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr(processors.subprocess, "run", run)
    assert processors.record(X86, tmp_path, 2, tmp_path / "out") == 0
    merged = tmp_path / X86.name / "merged"
    device = ["--device", "cpu", "--name", "x86-64", "--out", str(tmp_path / "out"), "--partial"]
    assert commands == [
        ["merge", str(runs / "eager-1-of-2"), str(runs / "smoke"), f"--run-dir={merged}"],
        ["record", str(merged), *device],
    ]


def test_a_part_that_was_cut_goes_on(tmp_path, monkeypatch):
    commands = []
    monkeypatch.setattr(processors, "_pytest", lambda command, python: commands.append(command) or 4)
    part = processors.parts(2)[0]
    processors.run(part, sys.executable, tmp_path, [])
    (tmp_path / part.name / "shards").mkdir(parents=True)
    (tmp_path / part.name / "shards" / "a.jsonl").touch()
    assert not processors.ended(tmp_path / part.name)
    processors.run(part, sys.executable, tmp_path, [])
    new = [f"--run-dir={tmp_path / part.name}", "--mode", "eager", "--shard", "1/2"]
    assert [command[5:] for command in commands] == [new, [f"--resume={tmp_path / part.name}"], new]
