"""Companion: a process that works next to its starter, gets one request on its stdin, and answers on its stdout.

A large run's report takes two such processes. They read the shards while the session still counts cells, and the memory
that they take goes back with them.
"""

from __future__ import annotations

import atexit
import gc
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from subprocess import PIPE, Popen

from tf_opdiff.harness.paths import ROOT
from tf_opdiff.harness.system.memory import give_large_blocks_back
from tf_opdiff.harness.system.terminal import guarded


class Companion:
    """A process that runs the function `main` of a module, with the directory of a run as its argument."""

    def __init__(self, module: str, run_dir: Path, *, group: bool = False) -> None:
        """Starts the process; `group` gives it a process group of its own, which `stop` and a second signal end."""
        command = [sys.executable, "-c", f"from {module} import main; main()", str(run_dir.resolve())]
        self._group = group
        self._process = Popen(command, cwd=ROOT, stdin=PIPE, stdout=PIPE, process_group=0 if group else None)
        atexit.register(self.stop)

    def ask(self, request: bytes) -> None:
        """Hands over the request, which the process waits for before it writes anything."""
        assert self._process.stdin is not None
        with self._process.stdin as stdin:
            stdin.write(request)

    def answer(self) -> bytes:
        """Waits for the end of the process, and returns what it wrote to its stdout.

        Raises:
          OSError: it ended with an error, which it has printed.
        """
        assert self._process.stdout is not None
        with self._process.stdout as stdout:
            answer = stdout.read()
        if status := self._process.wait():
            raise OSError(f"the report could not be written: its process ended with status {status}")
        return answer

    def stop(self) -> None:
        """Ends the process, if it still runs."""
        atexit.unregister(self.stop)
        if self._process.poll() is None:
            if self._group:
                os.killpg(self._process.pid, signal.SIGTERM)
            self._process.kill()
        for stream in (self._process.stdin, self._process.stdout):
            if stream and not stream.closed:
                stream.close()
        self._process.wait()


def serve(prepare: Callable[[Path], Callable[[bytes], bytes]]) -> None:
    """The process's side: calls `prepare` with the directory of the run, then its result with the request.

    Without a request, as when the starter has died, nothing is written. An error is printed, and ends the process with
    status 4.
    """
    answers = sys.stdout.buffer
    give_large_blocks_back()
    gc.disable()  # the process is short, and its many objects live to its end
    with guarded():
        try:
            write = prepare(Path(sys.argv[1]))
            if not (request := sys.stdin.buffer.read()):
                sys.exit(4)
            answer = write(request)
        except (LookupError, ValueError, RuntimeError, OSError) as error:
            print(f"report: {error.args[0] if len(error.args) == 1 else error}", file=sys.stderr)
            sys.exit(4)
    answers.write(answer)
