"""Recorded device: the device of a recording, and the software and the machine that it ran on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tf_opdiff.harness.store.processor import described


@dataclass(frozen=True, kw_only=True)
class About:
    """What was recorded: the device, and what it ran on.

    `details` is what TensorFlow says of the device (of a GPU: its name and compute capability), `versions` those of
    TensorFlow, CUDA's libraries, the driver, NumPy and Python; `cuda` is as in a record; `machine` is the processor
    and the system; `runs` the ids of the runs, `started` the first one's
    begin. `faults` says why it is not all that was planned.
    """

    name: str
    device: str
    tf: str
    cuda: str = ""
    host: str = ""
    details: Mapping[str, str] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    flags: Mapping[str, str] = field(default_factory=dict)
    machine: Mapping[str, str] = field(default_factory=dict)
    runs: tuple[str, ...] = ()
    started: str = ""
    faults: tuple[str, ...] = ()

    @property
    def facts(self) -> dict[str, str]:
        """All that tells one recording from another, for people to read."""
        return {
            "recorded": f"{self.started}, run {', '.join(self.runs)}",
            "device": self.device,
            "tensorflow": self.tf,
            "cuda": self.cuda,
            "host": self.host,
            "processor": described(self.machine),
            **{k: v for k, v in self.versions.items() if k in ("cudnn", "driver") and v},
            **self.flags,
            **self.details,
        }
