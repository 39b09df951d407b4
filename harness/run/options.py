"""Options: flags that select items and say how they run, for pytest and for `python -m harness campaign`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from tf_opdiff.harness.paths import ROOT
from tf_opdiff.harness.spec.lists.tiers import TIERS
from tf_opdiff.harness.spec.plan import MODES, Device
from tf_opdiff.harness.store.shards import partition
from tf_opdiff.harness.system.number_argument import SECONDS, Number

if TYPE_CHECKING:  # it imports msgspec, which a run without a file of devices does not need yet
    from tf_opdiff.harness.remote.devices_file import ServerCommand

#: The default file of devices.
DEVICES = ROOT / "devices.toml"
#: The number of whole runs that stay under runs/.
KEEP = 5


class Option(NamedTuple):
    """A command-line option: its flag, and the keyword arguments of argparse's `add_argument`."""

    flag: str
    settings: Mapping[str, Any]

    @property
    def name(self) -> str:
        """The attribute of the parsed options that holds its value."""
        return str(self.settings.get("dest", self.flag.removeprefix("--").replace("-", "_")))


#: With this option pytest runs items on a cluster; `python -m harness campaign` sets it.
CAMPAIGN = Option(
    "--campaign",
    {
        "metavar": "ADDRESS",
        "help": "run items on the nodes of a Ray cluster, HOST:PORT or local; `python -m harness campaign` sets it",
    },
)
OPTIONS = (
    Option(
        "--device",
        {
            "action": "append",
            "default": [],
            "metavar": "D",
            "help": "a device: cpu, gpu:0, …, or one of a server, SERVER or SERVER:gpu:0; default: all of this machine",
        },
    ),
    Option(
        "--mode",
        {"action": "append", "default": [], "metavar": "M", "help": f"a mode: {', '.join(MODES)}; default: all"},
    ),
    Option("--op", {"action": "append", "default": [], "metavar": "OP", "help": "a spec, a family or an OpDef name"}),
    Option("--case", {"action": "append", "default": [], "metavar": "CASE", "help": "a case id, as failures print it"}),
    Option("--tier", {"default": "default", "metavar": "T", "help": f"a tier: {', '.join(TIERS)}; default: default"}),
    Option(
        "--maturity",
        {"metavar": "FILE", "help": "a list of the kernels that a device must have; see docs/guides/vendors.md"},
    ),
    Option("--run-dir", {"metavar": "DIR", "help": "the folder of the run; default: a new one under runs/"}),
    Option("--shard", {"metavar": "I/N", "help": "run shard I of N; shards take about equal time"}),
    Option(
        "--resume",
        {"metavar": "RUN", "help": "continue an unfinished run, with the run's devices, modes, tier and cases"},
    ),
    Option(
        "--rerun-changed",
        {
            "action": "store_true",
            "help": "with --resume, after a change of the code: run the items again that depend on it",
        },
    ),
    Option(
        "--keep-runs",
        {
            "type": Number("runs", 1, 1e9),
            "default": KEEP,
            "metavar": "N",
            "help": f"a run under runs/ that ends with its report leaves the newest N whole runs there and removes "
            f"older ones; default: {KEEP}",
        },
    ),
    Option(
        "--recordings",
        {
            "default": str(ROOT / "recordings"),
            "metavar": "DIR",
            "help": "the folder of recorded devices; default: recordings/",
        },
    ),
    Option(
        "--devices",
        {
            "metavar": "FILE",
            "help": "the file with the commands of device servers; default: devices.toml at the top of the repository",
        },
    ),
    Option("--no-sweep", {"action": "store_true", "help": "skip the cases that sweep all inputs of a 16-bit dtype"}),
    Option(
        "--no-cache",
        {
            "action": "store_true",
            "help": "compute all inputs and promises, and store none; by default, a run reads those "
            "that an earlier run of the same code computed",
        },
    ),
    Option(
        "--xla-cache",
        {
            "action": "store_true",
            "help": "on CPUs, load programs that XLA compiled in earlier runs with the same TensorFlow, flags and "
            "processor, and keep those of this run",
        },
    ),
    Option(
        "--repro",
        {
            "choices": ("new", "all", "none"),
            "default": "new",
            "help": "run the programs of findings: only those that did not reproduce in an earlier run (new), all, or "
            "none; default: new",
        },
    ),
    Option(
        "--op-timeout",
        {
            "type": SECONDS,
            "default": 120.0,
            "metavar": "S",
            "help": "seconds until a running case counts as hung; default: 120",
        },
    ),
)


def check(option: Any) -> None:
    """Refuses values that are wrong whatever the suites hold.

    Args:
      option: the parsed options; each is an attribute.

    Raises:
      ValueError: a mode, a tier or a shard does not exist, a device's name has another form, the file of devices is
        malformed, or an option lacks another one.
    """
    for mode in option.mode:
        _one_of("mode", mode, MODES)
    _one_of("tier", option.tier, TIERS)
    if option.shard:
        partition.parse(option.shard)
    if option.rerun_changed and not option.resume:
        raise ValueError("--rerun-changed: expected --resume=RUN too")
    commands = server_commands(option)
    for name in option.device:
        if not names_recording(name, Path(option.recordings)):
            Device.parse(name, commands)


def _one_of(noun: str, name: str, allowed: tuple[str, ...]) -> None:
    if name not in allowed:
        raise ValueError(f"no {noun} {name!r}; there is {', '.join(allowed)}")


def server_commands(option: Any) -> Mapping[str, ServerCommand]:
    """The commands of the file of devices, by the names of their servers; read if an option names a device.

    Raises:
      ValueError: the file is malformed, or `--devices` names an absent one.
    """
    if not (option.device or option.resume or option.devices):
        return {}
    if not (option.devices or DEVICES.exists()):
        return {}
    from tf_opdiff.harness.remote import devices_file

    return devices_file.read(Path(option.devices or DEVICES))


def names_recording(device: str, folder: Path) -> bool:
    """Whether a device's name is that of a recording: it has an `@`, or the folder of recordings has its file."""
    return "@" in device or (folder / f"{device}.parquet").exists()
