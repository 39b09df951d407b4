"""Emulated processors are set up once, and their parts run until none is left."""

import json
import os
import subprocess
import sys

import pytest

from bench import emulated_python, processors
from bench.emulated_python import PROCESSORS, set_up
from tf_opdiff.harness.spec.catalog import Catalog
from tf_opdiff.harness.store.recordings.recording import Recording
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


def test_parts_have_each_lacking_cell_once_and_each_op_first():
    catalog = Catalog.load("tf_opdiff.harness.tests.planted_specs.planted_onednn")
    eager = [part for part in processors.parts(catalog, (), 1) if part.modes == ("eager",)]
    cases = [case for part in eager for case in part.cases]
    assert sorted(cases) == sorted(case.id for item in catalog.select() for case in (*item.cases, *item.sweeps))
    specs = [catalog.cases[case].spec for case in cases]
    new = [bool(spec.every_op - {op for s in specs[:n] for op in s.every_op}) for n, spec in enumerate(specs)]
    assert new == sorted(new, reverse=True)
    rest = processors.parts(catalog, [(case, "eager") for case in cases[1:]], 9)
    assert [part.cases for part in rest if part.modes == ("eager",)] == [(cases[0],)]


def test_what_is_recorded_does_not_run_again(tmp_path, fake_qemu, capfd):
    fake_qemu()
    command = [
        *(X86.name, f"--folder={tmp_path / 'work'}", f"--out={tmp_path / 'out'}", f"-oopdiff_known={os.devnull}"),
        "--suites=tf_opdiff.harness.tests.planted_runs.planted_kept",
    ]
    assert processors.main([*command, "--minutes=0"]) == 0
    assert "x86-64: 2 parts are left" in capfd.readouterr().out
    assert processors.main(command) == 0
    assert "x86-64: all recorded" in capfd.readouterr().out
    (path,) = (tmp_path / "out").iterdir()
    before = path.stat().st_mtime_ns
    assert {mode for _, mode in Recording(path).cells} == {"eager", "function", "graph", "xla"}
    assert processors.main(command) == 0
    assert path.stat().st_mtime_ns == before


def test_a_part_that_was_cut_goes_on(tmp_path, monkeypatch):
    commands = []
    monkeypatch.setattr(processors, "_pytest", lambda command, python: commands.append(command) or 4)
    part, directory = processors.Part(("eager",), ("a-float32-b",)), tmp_path / "x86-64" / "run"
    processors.run(part, sys.executable, directory, [])
    (directory / "shards").mkdir(parents=True)
    (directory / "shards" / "a.jsonl").touch()
    assert not processors.ended(directory)
    processors.run(part, sys.executable, directory, [])
    new = [f"--run-dir={directory}", "--xla-cache", f"@{directory.with_suffix('.options')}"]
    assert [command[5:] for command in commands] == [new, [f"--resume={directory}"], new]
    assert directory.with_suffix(".options").read_text() == "--mode=eager\n--case=a-float32-b"
