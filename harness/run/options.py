"""Options: what selects items and says how they run, for pytest and for `python -m harness campaign` alike."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from tf_opdiff.harness.paths import ROOT
from tf_opdiff.harness.spec.plan import MODES
from tf_opdiff.harness.spec.spec import TIERS


class Option(NamedTuple):
    """An option, in the terms of `argparse`: its flag, and what `add_argument` takes beside it."""

    flag: str
    settings: Mapping[str, Any]

    @property
    def name(self) -> str:
        """The attribute that holds its value."""
        return str(self.settings.get("dest", self.flag.removeprefix("--").replace("-", "_")))


#: The option by which pytest runs items on a cluster; `python -m harness campaign` sets it.
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
        {"action": "append", "default": [], "metavar": "D", "help": "cpu, gpu:0, …; default: all that are present"},
    ),
    Option("--mode", {"action": "append", "default": [], "metavar": "M", "help": f"{', '.join(MODES)}; default: all"}),
    Option("--op", {"action": "append", "default": [], "metavar": "OP", "help": "a spec, a family or an OpDef name"}),
    Option("--case", {"action": "append", "default": [], "metavar": "CASE", "help": "a case id, as failures print it"}),
    Option("--tier", {"default": "default", "metavar": "T", "help": f"{', '.join(TIERS)}; default: default"}),
    Option(
        "--maturity",
        {"metavar": "FILE", "help": "the kernels that a device is expected to have; see docs/guides/vendors.md"},
    ),
    Option("--run-dir", {"metavar": "DIR", "help": "where the run is stored; default: a new folder under runs/"}),
    Option("--shard", {"metavar": "I/N", "help": "run shard I of N; shards take about equal time"}),
    Option(
        "--resume",
        {"metavar": "RUN", "help": "continue an unfinished run, with the run's devices, modes, tier and cases"},
    ),
    Option(
        "--recordings",
        {
            "default": str(ROOT / "recordings"),
            "metavar": "DIR",
            "help": "the folder of recorded devices; default: recordings/",
        },
    ),
    Option("--no-sweep", {"action": "store_true", "help": "leave out the cases of every input of a 16-bit dtype"}),
    Option(
        "--repro",
        {
            "choices": ("new", "all", "none"),
            "default": "new",
            "help": "which programs of findings to run: those that no earlier run saw reproduce (new), all, or none; "
            "default: new",
        },
    ),
    Option(
        "--no-repro",
        {
            "dest": "repro",
            "action": "store_const",
            "const": "none",
            "help": "do not write and run a program for each finding; the same as --repro none",
        },
    ),
    Option(
        "--op-timeout",
        {
            "type": float,
            "default": 120.0,
            "metavar": "S",
            "help": "seconds after which a running case counts as hung; default: 120",
        },
    ),
)
