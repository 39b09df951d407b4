"""A signal that arrives where Python ignores exceptions interrupts all the same."""

import subprocess
import sys

import pytest

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
