"""Selection: the items, devices and modes that the options of a session select."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Self

import pytest

from tf_opdiff.harness.cases.planned_cells import planned
from tf_opdiff.harness.judge.known_failures import known_files, maturity
from tf_opdiff.harness.judge.known_failures.known import Known
from tf_opdiff.harness.paths import ROOT
from tf_opdiff.harness.remote.remote_server import Remote
from tf_opdiff.harness.run.options import names_recording, server_commands
from tf_opdiff.harness.run.sessions import without_onednn
from tf_opdiff.harness.run.sessions.resume import Resumed, resumed
from tf_opdiff.harness.spec.catalog import Catalog, Item
from tf_opdiff.harness.spec.plan import MODES, Device, Plan
from tf_opdiff.harness.store.records.record import Record
from tf_opdiff.harness.store.run_directories.run_info import RunInfo
from tf_opdiff.harness.store.shards import partition

if TYPE_CHECKING:  # it imports pyarrow, which a run without recordings does not need
    from tf_opdiff.harness.store.recordings.recording import Recording


@dataclass(frozen=True, kw_only=True)
class Selection:
    """Everything that the options select, before any device is looked at.

    Attributes:
      catalog: all items of the suites.
      items: the selected items, in order.
      modes: the selected modes.
      devices: the devices that options name; if there is none, all devices of this machine run.
      only: case ids; no other case runs, unless empty.
      sweeps: whether sweeps of every input of a 16-bit dtype run too.
      recordings: the selected recorded devices, by name.
      remotes: the servers that the file of devices names, by name.
      resumed: the run that is being resumed, if any.
      shards, division: see `RunInfo`; empty without `--shard`.
    """

    catalog: Catalog
    items: tuple[Item, ...]
    modes: tuple[str, ...] = MODES
    devices: tuple[Device, ...] = ()
    only: frozenset[str] = frozenset()
    sweeps: bool = False
    known: Known = field(default_factory=Known)
    maturity: maturity.Maturity = field(default_factory=maturity.Maturity)
    recordings: Mapping[str, Recording] = field(default_factory=dict)
    remotes: Mapping[str, Remote] = field(default_factory=dict)
    resumed: Resumed | None = None
    shards: tuple[str, ...] = ()
    division: str = ""

    @classmethod
    def of(cls, config: pytest.Config, scopes: Iterable[tuple[str, str]] = ()) -> Self:
        """The selection by options and `scopes`, which are those of the path arguments, as `Catalog.select` takes them.

        Raises:
          pytest.UsageError: an option names something that does not exist, or a suite can't be imported.
        """
        try:
            return cls._of(config, scopes)
        except (LookupError, ValueError, OSError) as error:
            raise pytest.UsageError(str(error.args[0] if len(error.args) == 1 else error)) from error

    @classmethod
    def _of(cls, config: pytest.Config, scopes: Iterable[tuple[str, str]]) -> Self:
        option = config.option
        catalog = Catalog.load(config.getini("opdiff_suites"))
        unfinished = resumed(config, catalog) if option.resume else None
        modes = tuple(option.mode) or MODES
        selected = catalog.select(tier=option.tier, ops=option.op, cases=option.case, within=scopes)
        items = tuple(item for item in selected if set(item.spec.modes) & set(modes))
        if unfinished:
            items = tuple(item for item in items if item.id in unfinished.merged.items)
        division, shards = "", []
        if option.shard:
            durations = partition.read()
            division = partition.division(items, durations)
            shards = partition.filled(items, partition.parse(option.shard)[1], durations)
            items = partition.shard(items, partition.parse(option.shard), durations)
        known = known_files.load(ROOT / config.getini("opdiff_known"), catalog)
        maturity_file = option.maturity and config.invocation_params.dir / option.maturity
        recordings = _recordings(option.device, Path(option.recordings))
        suites = config.getini("opdiff_suites")
        remotes = {name: Remote(command, suites) for name, command in server_commands(option).items()}
        devices = tuple(dict.fromkeys(_device(name, recordings, remotes) for name in option.device))
        only = frozenset(option.case)
        if not only and option.tier == "smoke":
            only = frozenset(chain.from_iterable(catalog.smoke.values()))
        if devices and all(device.recorded for device in devices) and not option.case:
            observed = frozenset(case for recording in recordings.values() for case in recording.cases)
            only = only & observed if only else observed
            items = tuple(item for item in items if only & {case.id for case in (*item.cases, *item.sweeps)})
        return cls(
            catalog=catalog,
            items=items,
            modes=modes,
            devices=devices,
            only=only,
            sweeps=not option.no_sweep and (bool(option.case) or option.tier != "smoke"),
            known=known,
            maturity=maturity.load(maturity_file, catalog) if maturity_file else maturity.Maturity(),
            recordings=recordings,
            remotes=remotes,
            resumed=unfinished,
            division=division,
            shards=tuple(shards),
        )

    def plans(self, info: RunInfo) -> list[Plan]:
        """The plans of a run: its requested devices, each in every selected mode."""
        every: list[Plan] = []
        for name, about in info.devices.items():
            if "only" in about:
                every += without_onednn.plans(self.modes)
            elif about["asked"]:
                every += [Plan(_device(name, self.recordings, self.remotes), mode) for mode in self.modes]
        return every

    def done(self, plans: Sequence[Plan]) -> dict[str, list[Record]]:
        """Item id → records, of the items all of whose cells the resumed run has."""
        done: dict[str, list[Record]] = {}
        for item in self.items if self.resumed else ():
            assert self.resumed is not None
            cells = planned(item, plans, self.only, sweeps=self.sweeps)
            records = self.resumed.merged.records_of((case.id, str(plan.device), plan.mode) for case, plan in cells)
            done |= {} if records is None else {item.id: records}
        return done


def _device(name: str, recordings: Mapping[str, Recording], remotes: Collection[str]) -> Device:
    return recordings[name].device if name in recordings else Device.parse(name, remotes)


def _recordings(devices: Sequence[str], folder: Path) -> Mapping[str, Recording]:
    """The recordings among the devices that options name, by name."""
    if not any(names_recording(name, folder) for name in devices):
        return {}
    from tf_opdiff.harness.store.recordings import recording  # it imports pyarrow

    return recording.find(devices, folder)
