"""Known failures: places where TensorFlow breaks the promise of a spec, each with its cause."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple, Protocol, Self

import msgspec

from tf_opdiff.harness.judge.known_failures.cause import Cause
from tf_opdiff.harness.judge.known_failures.entry import Entry
from tf_opdiff.harness.judge.known_failures.selectors import listed
from tf_opdiff.harness.spec.plan import Device, Plan
from tf_opdiff.harness.spec.settings.trait import OF_ONEDNN, traits_in
from tf_opdiff.harness.spec.settings.variant import ONEDNN
from tf_opdiff.harness.spec.spec import Case
from tf_opdiff.harness.store.records.record import CLAIM

#: An entry with its number among all entries, counted from 1.
Numbered = tuple[int, Entry]


class DeviceFacts(NamedTuple):
    """The facts of a device that entries select by: its type, where the name does not contain it, and its traits.

    `variants` are those that the device has by itself: where the processor leaves oneDNN off, `cpu` is
    `cpu+noonednn`.
    """

    kind: str = ""
    traits: AbstractSet[str] | None = None
    variants: tuple[str, ...] = ()


class Place(NamedTuple):
    """The place of an entry: its file, its number in its cause, counted from 1, and the id of the cause.

    Without a cause, the number is that among all entries.
    """

    file: str
    number: int
    cause: str = ""

    def __str__(self) -> str:
        return f"entry {self.number} of " + (f"cause {self.cause} ({self.file})" if self.cause else self.file)


@dataclass(frozen=True)
class Known:
    """The entries of a file, or of a folder's files, in order.

    `places` has the place of each entry; entries that differ in their kind may share one. `devices` has facts of the
    devices of a run, by their names. `processors` has the traits of each processor on which the entries were measured.
    `twins` has the names of the twins of a spec, by its name: an entry about a spec is about its twins, too.
    """

    entries: tuple[Entry, ...] = ()
    places: tuple[Place, ...] = ()
    devices: Mapping[str, DeviceFacts] = field(default_factory=dict)
    processors: tuple[AbstractSet[str], ...] = ()
    twins: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def measured(self, device: str) -> bool:
        """Whether the entries were measured on a processor with the traits of a device, as far as these are known."""
        _, traits, variants = self.facts(device)
        off = OF_ONEDNN if "noonednn" in variants else set()
        return not traits or not self.processors or any(traits == each - off for each in self.processors)

    def on(self, devices: Mapping[str, Mapping[str, Any]]) -> Self:
        """The known failures, about the devices of a run; `devices` maps each name to its facts in run.json.

        Raises:
          ValueError: the name of the type of a recorded or remote device is malformed.
        """
        return replace(self, devices={name: _device_facts(facts) for name, facts in devices.items()})

    def facts(self, device: str) -> DeviceFacts:
        """The facts of a device, by its name; unknown ones where the run is not known."""
        return self.devices.get(device, DeviceFacts())

    @property
    def causes(self) -> dict[str, Cause]:
        """The causes that entries name, by their ids."""
        return {entry.cause.id: entry.cause for entry in self.entries}

    def about(self, place: Mapping[str, str], tf: str) -> tuple[Numbered, ...]:
        """The entries that are about a place, each with its number among all, from 1; see `Entry.selects`."""
        facts = self.facts(place["device"])
        return tuple((n, e) for n, e in self.of_spec(place["spec"]) if e.selects(place, tf, *facts))

    def damages_memory(self, case: Case, plan: Plan, tf: str) -> bool:
        """Whether a cause of severity `memory` is about a case under a plan, so that its process may be damaged.

        An op that changes its own input stays within the memory of that input.
        """
        names = (case.spec.name, case.dtype, case.attrs, case.recipe, str(plan.device), plan.mode)
        cell, facts = dict(zip(CELL, names, strict=True)), self.facts(str(plan.device))
        severe = (entry for _, entry in self.of_spec(case.spec.name) if entry.cause.severity == "memory")
        beyond = (entry for entry in severe if set(listed(entry.kind)) != {"input_mutated"})
        return any(entry.selects(cell, tf, *facts) for entry in beyond)

    def of_spec(self, name: str) -> Sequence[Numbered]:
        """The entries about a spec, each with its number among all, from 1; each names this spec, or several."""
        return self._of_spec.get(name, ())

    def stands(self, number: int) -> Place:
        """The place of the entry with a number among all entries."""
        return self.places[number - 1] if self.places else Place("known.toml", number)

    @cached_property
    def _of_spec(self) -> dict[str, list[tuple[int, Entry]]]:
        """The numbered entries by the specs that they are about, because there are many of both."""
        by_spec: dict[str, list[tuple[int, Entry]]] = {}
        for number, entry in enumerate(self.entries, 1):
            own = listed(entry.spec)
            for name in self.specs_of(entry):
                about = entry if name in own else msgspec.structs.replace(entry, spec=name)
                by_spec.setdefault(name, []).append((number, about))
        return by_spec

    def specs_of(self, entry: Entry) -> list[str]:
        """The names of the specs that an entry is about: those that it names, and their twins."""
        return [*dict.fromkeys(spec for name in listed(entry.spec) for spec in (name, *self.twins.get(name, ())))]

    def idle(self, records: Iterable[Placed]) -> list[str]:
        """A line for each entry that is about cases that ran, but about none of the comparisons made of them."""
        idle = IdleEntries(self)
        for record in records:
            idle.visit(record)
        return idle.lines()


def _device_facts(facts: Mapping[str, Any]) -> DeviceFacts:
    kind = Device.parse(facts["device"]).type if "device" in facts else ""
    return DeviceFacts(kind, traits_in(facts), ("noonednn",) if facts.get(ONEDNN) == "off" else ())


class Placed(Protocol):
    """A record, as far as it says where it stands."""

    @property
    def tf(self) -> str: ...
    @property
    def spec(self) -> str: ...
    @property
    def device(self) -> str: ...
    @property
    def against(self) -> str: ...
    @property
    def plan(self) -> str: ...


#: The end of a line about an entry that is about no comparison.
IDLE = "is about no comparison of this run; delete or mend it"


class IdleEntries:
    """The entries that are about cases that ran, but about none of their comparisons, as far as records were visited.

    A run in one mode on one device compares no plans: no entry about comparisons with another plan is idle there.

    Records are visited one by one, so that nobody has to hold all of a run.
    """

    def __init__(self, known: Known) -> None:
        self._known = known
        self._ran: set[int] = set()
        self._about: set[int] = set()

    def visit(self, record: Placed) -> None:
        """Takes a record into account."""
        entries = [one for one in self._known.of_spec(record.spec) if one[0] not in self._about]
        if not entries:
            return
        place, of = place_of(record), (record.tf, *self._known.facts(record.device))
        cell = {name: place[name] for name in CELL}
        for number, entry in entries:
            plans = {"against": place["against"]} if entry.against == "plan" else {}
            if entry.selects(cell | plans, *of):
                self._ran.add(number)
                self._about.update([number] if entry.selects(place, *of) else [])

    def lines(self) -> list[str]:
        """A line for each of the entries."""
        known = self._known
        return [
            f"{known.stands(n)} (spec {known.entries[n - 1].spec!r}) {IDLE}" for n in sorted(self._ran - self._about)
        ]


CELL = ("spec", "dtype", "attrs", "recipe", "device", "mode")


def place_of(record: Placed) -> dict[str, str]:
    """The place of a record, as selected by entries."""
    place = {name: getattr(record, name) for name in (*CELL, "quantity")}
    other = "claim" if record.against.startswith(CLAIM) else "plan"
    against = {"numpy": "numpy", record.plan: "itself"}.get(record.against, other)
    return {**place, "against": against}
