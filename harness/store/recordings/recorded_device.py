"""Recorded device: the device of a recording or of a remote server, and the software and the machine that it ran on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tf_opdiff.harness.spec.settings import variant
from tf_opdiff.harness.store.run_directories.environment import of_devices, of_flags
from tf_opdiff.harness.system.processor import described

#: The fact of a recorded device that says what it lacks.
PARTIAL = "partial"


@dataclass(frozen=True, kw_only=True)
class About:
    """The header of a recording: the recorded device, its software and its machine. Or those of a remote device.

    `details` has TensorFlow's facts of the device (for a GPU its name and compute capability). `versions` has those of
    TensorFlow, CUDA's libraries, the driver, NumPy and Python. `cuda` means the same as in a record. `machine` has the
    processor and the system, `runs` the ids of the runs, `started` the start of the first run. `faults` has the
    reasons why the runs are not complete. `base` names the recording in the same folder that has the results of this
    one's rows with the status `IN_BASE`; `base_digest` is the digest of its file. Both are empty without a base. A
    remote device has the name of its `server`, and neither runs nor a start.
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
    base: str = ""
    base_digest: str = ""
    server: str = ""

    @property
    def circumstances(self) -> dict[str, str]:
        """The facts that must be the same in two runs of one device."""
        libraries = {name: self.versions.get(name, "") for name in ("cudnn", "driver")}
        return {
            "TensorFlow": self.tf,
            **of_devices({self.device: self.details}, {"CUDA": self.cuda, **libraries}),
            **of_flags(self.flags, onednn_known=variant.ONEDNN in self.details),
        }

    @property
    def facts(self) -> dict[str, str]:
        """All facts that distinguish this device from others, for people to read."""
        origin = {"recorded": f"{self.started}, run {', '.join(self.runs)}"}
        return {
            **({"server": self.server} if self.server else origin),
            "device": self.device,
            "tensorflow": self.tf,
            "cuda": self.cuda,
            "host": self.host,
            "processor": described(self.machine),
            **{k: v for k, v in self.versions.items() if k in ("cudnn", "driver") and v},
            **self.flags,
            **self.details,
        }
