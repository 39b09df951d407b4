"""Kernel list: a process that lists the kernels that TensorFlow registers, and writes them to a file while a run works.

It takes half a second, most of it XLA's start, and no verdict depends on it: nothing waits for it before a run ends.
"""

from __future__ import annotations

import contextlib
import json
import os
from pathlib import Path
from typing import Any

from tf_opdiff.harness.device.processes import fork_server
from tf_opdiff.harness.device.processes.channel import Channel
from tf_opdiff.harness.device.processes.process import Child
from tf_opdiff.harness.spec.plan import Device
from tf_opdiff.harness.system.interrupt import Scratch, uninterrupted

#: Seconds that the end of a run waits at most.
_PATIENCE = 60.0


class KernelList:
    """The process that writes the list; without a process, or if the process dies, there is no file."""

    def __init__(self, path: Path) -> None:
        """Starts the process. `path` appears in one step: `harness.device.installation.kernels.registered`, as JSON."""
        self._child: Child | None = None
        with contextlib.suppress(EOFError, OSError), uninterrupted():
            self._child = Child(_write, str(path), log=fork_server.early_log())

    def finish(self) -> None:
        """Waits until the file is written, or the process has ended."""
        if self._child is not None:
            with contextlib.suppress(EOFError, OSError):
                self._child.receive(_PATIENCE)
        self.stop()

    def stop(self) -> None:
        """Ends the process."""
        if self._child is not None:
            self._child.kill()
            self._child = None


def listed() -> dict[str, Any]:
    """The kernels, as `harness.device.installation.kernels.registered` gives them; empty if they can't be listed."""
    with Scratch() as folder:
        path = folder / "kernels.json"
        KernelList(path).finish()
        return dict(json.loads(path.read_text())) if path.exists() else {}


def _write(channel: Channel, path: str) -> None:
    from tf_opdiff.harness.device.installation.kernels import registered
    from tf_opdiff.harness.device.installation.tensorflow_setup import configure

    configure(Device("cpu"))  # otherwise TensorFlow takes memory on every GPU
    with contextlib.suppress(OSError):  # a run without room for the file does without it
        try:
            Path(f"{path}.tmp").write_text(json.dumps(registered()))
            os.replace(f"{path}.tmp", path)
        finally:
            Path(f"{path}.tmp").unlink(missing_ok=True)
    channel.send("")
