"""A signal that arrives where Python ignores exceptions interrupts all the same."""

import os
import subprocess
import sys

import pytest

from tf_opdiff.harness.paths import ROOT
from tf_opdiff.harness.tests.patience import PATIENCE

_PROGRAM = """
import gc, signal, time, weakref
from tf_opdiff.harness.system.interrupt import Interrupts

Interrupts().install()

def interrupt(*_):
    signal.raise_signal(signal.SIGTERM)

class Finalized:
    def __del__(self):
        interrupt()

class Watched:
    pass

try:
    {where}
    time.sleep(60)
except KeyboardInterrupt:
    print("interrupted")
"""


@pytest.mark.parametrize(
    "where", ["Finalized()", "w = Watched(); weakref.finalize(w, interrupt); del w", "interrupt()"]
)
def test_a_signal_is_not_lost_where_exceptions_are_ignored(where):
    command = [sys.executable, "-c", _PROGRAM.format(where=where)]
    process = subprocess.run(command, check=True, capture_output=True, text=True, timeout=PATIENCE)
    assert process.stdout == "interrupted\n", process.stderr


_AT_EVERY_STEP = """
import atexit, contextlib, itertools, os, signal, sys, tempfile
from pathlib import Path
from tf_opdiff.harness.device.processes import fork_server
from tf_opdiff.harness.system import interrupt
from tf_opdiff.harness.system.interrupt import Interrupts, Scratch

FILES = {{module.__file__ for module in (contextlib, fork_server, interrupt, tempfile)}}

def scratch():
    with Scratch() as folder:
        (folder / "log").touch()

def process_scratch():
    (fork_server.scratch() / "log").touch()

def interrupted_at(step):
    # Sends a signal before the bytecode instruction of this number, of those of FILES; returns whether there is one.
    left = step

    def trace(frame, event, argument):
        nonlocal left
        if frame.f_code.co_filename not in FILES:
            return None
        frame.f_trace_opcodes = True
        if event == "opcode":
            left -= 1
            if left < 0:
                sys.settrace(None)
                signal.raise_signal(signal.SIGTERM)
        return trace

    Interrupts().install()
    try:
        sys.settrace(trace)
        {function}()
        sys.settrace(None)
    except KeyboardInterrupt:
        pass
    return left < 0

tempfile.gettempdir()
folder = Path(tempfile.gettempdir())
for step in itertools.count():
    if (child := os.fork()) == 0:
        sent = interrupted_at(step)
        atexit._run_exitfuncs()
        os._exit(sent)
    _, status = os.waitpid(child, 0)
    if left := [path.name for path in folder.iterdir()]:
        sys.exit(f"left behind after a signal at step {{step}}: {{left}}")
    if os.waitstatus_to_exitcode(status) == 0:
        print(step)
        break
"""


@pytest.mark.parametrize("function", ["scratch", "process_scratch"])
def test_a_signal_at_any_instruction_leaves_no_temporary_folder(function, tmp_path):
    command = [sys.executable, "-c", _AT_EVERY_STEP.format(function=function)]
    env = os.environ | {"TMPDIR": str(tmp_path)}
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=PATIENCE, env=env, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 100, "instructions"
