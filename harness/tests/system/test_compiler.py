"""What is compiled: a killed build leaves nothing for good, others that build are left alone, and no compiler hangs."""

import os
import select
import signal
import subprocess
import sys
from types import SimpleNamespace

import pytest

from tf_opdiff.harness.paths import ROOT
from tf_opdiff.harness.spec.settings.variant import denormals
from tf_opdiff.harness.system import compiler
from tf_opdiff.harness.tests.patience import PATIENCE
from tf_opdiff.suites.forms.programs.compiled_library import library

#: Says in a pipe that it runs; the pipe is at its end when this shell and the one that it starts have died.
HANGS = 'exec 3>"$PIPE"; sh -c "echo up >&3; sleep 100000" & wait'


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("TF_OPDIFF_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PIPE", str(tmp_path / "pipe"))
    return compiler.cache()


@pytest.fixture
def pipe(tmp_path):
    """The reading end of the pipe of `HANGS`."""
    os.mkfifo(tmp_path / "pipe")
    end = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    yield end
    os.close(end)


def received(pipe):
    """What comes through the pipe next; nothing when nobody holds its other end any more."""
    assert select.select([pipe], [], [], PATIENCE)[0]
    return os.read(pipe, 100)


@pytest.fixture
def cc(tmp_path, monkeypatch):
    """cc(script) puts a C compiler of that text on the PATH, before others."""
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")

    def write(script):
        (tmp_path / "cc").write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / "cc").chmod(0o755)

    return write


@pytest.fixture
def started():
    """started(program) → a process of Python's that runs it, once it has printed a line."""
    processes = []

    def start(program):
        processes.append(subprocess.Popen([sys.executable, "-c", program], cwd=ROOT, stdout=-1, stdin=-1, text=True))
        return processes[-1], processes[-1].stdout.readline().strip()

    yield start
    for process in processes:
        process.kill()
        process.communicate(timeout=PATIENCE)


BUILDS = """from tf_opdiff.harness.system import compiler
with compiler.workspace() as folder: print(folder, flush=True); input()
"""


def test_what_a_killed_build_left_is_deleted_by_the_next_and_one_that_goes_on_is_not(started, cache):
    killed, left = started(BUILDS)
    _, used = started(BUILDS)
    killed.kill()
    killed.wait(PATIENCE)
    assert {str(path) for path in cache.glob("*/")} == {left, used}
    with compiler.workspace() as own:
        assert {str(path) for path in cache.glob("*/")} == {used, str(own)}
    assert {str(path) for path in cache.glob("*/")} == {used}


def test_a_library_is_built_where_a_killed_build_left_its_folder(started, cache):
    killed, _ = started(BUILDS)
    killed.kill()
    killed.wait(PATIENCE)
    sysconfig = SimpleNamespace(get_compile_flags=list, get_link_flags=list)
    tf = SimpleNamespace(__version__="2", sysconfig=sysconfig)
    assert library(tf, "name", [], lambda made, *_: made.write_text("made"), []).read_text() == "made"
    assert not [*cache.glob("*/")]


def test_the_library_of_denormals_is_built_after_a_process_was_killed_in_the_middle(cc, pipe, cache):
    cc(HANGS)
    command = [sys.executable, "-c", "from tf_opdiff.harness.spec.settings.variant import denormals; denormals()"]
    process = subprocess.Popen(command, cwd=ROOT, start_new_session=True)
    try:
        assert select.select([pipe], [], [], PATIENCE)[0] and os.read(pipe, 100) == b"up\n"
        assert [*cache.glob("*/")]
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(PATIENCE)
    assert received(pipe) == b""
    cc('while [ "$1" != -o ]; do shift; done; echo made > "$2"')
    assert str(cache / "denormals.so") in denormals()["LD_PRELOAD"]
    assert {path.name for path in cache.iterdir()} == {"builds.lock", "denormals.so"}


def test_a_compiler_that_does_not_end_is_killed_with_what_it_started(pipe):
    assert compiler.failure(["sh", "-c", HANGS], 3.0) == "sh was killed: expected it to end within 3 s"
    assert received(pipe) == b"up\n"
    assert received(pipe) == b""


def test_a_compiler_that_fails_is_an_error_of_one_line_and_leaves_nothing(cc, cache):
    cc("echo in file a.c; echo 'a.c:3: error: planted' >&2; exit 1")
    with pytest.raises(OSError, match=r"^variant denormals: cc failed: a.c:3: error: planted$"):
        denormals()
    assert {path.name for path in cache.iterdir()} == {"builds.lock"}
    assert compiler.failure(["sh", "-c", "kill -9 $$"]) == "sh failed: exit status -9"
    assert compiler.failure(["true"]) == ""
