"""Probe: the devices and versions that TensorFlow reports on this machine, read in a process of its own."""

from __future__ import annotations

from typing import Any

from packaging.version import Version

from tf_opdiff.harness.device.processes import fork_server
from tf_opdiff.harness.device.processes.channel import Channel
from tf_opdiff.harness.device.processes.process import Child, start_failure
from tf_opdiff.harness.system.interrupt import uninterrupted

OLDEST_TF = "2.18"


def probe() -> dict[str, Any]:
    """The devices that TensorFlow lists here, and versions; see
    `harness.device.installation.tensorflow_setup.describe`.

    Of a TensorFlow older than `OLDEST_TF` it has the version only.

    Raises:
      RuntimeError: the process died or did not answer.
    """
    child, log = None, fork_server.early_log()
    try:
        with uninterrupted():
            child = Child(_describe, log=log)
        facts: dict[str, Any] = child.receive(fork_server.START_TIMEOUT)
        return facts
    except (EOFError, OSError) as error:
        reason = start_failure(child, error, log, 0)
        raise RuntimeError(f"TensorFlow could not be asked for its devices: {reason}") from error
    finally:
        if child is not None:
            child.kill()


def _describe(channel: Channel) -> None:
    import tensorflow as tf

    if Version(tf.__version__) < Version(OLDEST_TF):  # `describe` may need names that it lacks
        channel.send({"versions": {"tensorflow": tf.__version__}})
        return
    from tf_opdiff.harness.device.installation.tensorflow_setup import describe

    channel.send(describe())
