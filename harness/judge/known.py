"""Known failures: places where TensorFlow breaks the promise of a spec, each with its cause."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Any, NamedTuple, Protocol, Self

import msgspec
from packaging.specifiers import SpecifierSet

from tf_opdiff.harness.device.repeat import SELF_CHECKS
from tf_opdiff.harness.judge.cause import Cause
from tf_opdiff.harness.judge.selectors import EVERY, Names, admits, listed
from tf_opdiff.harness.spec.plan import Device, type_of
from tf_opdiff.harness.spec.trait import of_another_architecture, traits_in
from tf_opdiff.harness.store.record import CLAIM

#: The kinds of difference that have a distance.
MEASURED = ("value", "position", "batch")


class Difference(NamedTuple):
    """A difference, as far as entries ask for it.

    `kinds` are those that occur, in order; `code` is that of an error or a crash; `max_ulp` is the largest distance, in
    ULPs of the result's dtype, NaN if it was not taken.
    """

    kinds: Sequence[str] = ()
    code: str = ""
    max_ulp: float = math.nan


class Entry(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One known failure. Every selector is a name, a list of names, or absent for all.

    Every record that an entry selects must fail with its `kind` (and with its `code`, if the failure is an error or a
    crash). A record that fails by several kinds needs an entry for each. A selected record that does not fail by the
    entry's kind is stale; a comparison with another plan is stale only if `against` names such comparisons. `trait`
    names traits of `harness.spec.trait`: the entry is about processors that have one of them. `unless` names a variant,
    such as `noonednn`, or a trait: the entry is not about devices with it. `tf` is a version specifier such as
    `>=2.18,<2.22`. `intermittent` says that the failure depends on memory that TensorFlow did not write, so that the
    same call may also pass: the entry is never stale. `within` is the largest distance that the entry explains, such as
    `18516 ulp`, in ULPs of the result's dtype: a result that is farther off is a mismatch. In a file, `cause` is the id
    of the cause.
    """

    spec: Names
    kind: str
    cause: Cause
    dtype: Names = "*"
    attrs: Names = "*"
    recipe: Names = "*"
    device: Names = "*"
    trait: Names = "*"
    unless: str = ""
    mode: Names = "*"
    against: Names = "*"
    quantity: Names = "*"
    tf: str = ""
    code: str = ""
    intermittent: bool = False
    within: str = ""

    def expects(self, difference: Difference) -> bool:
        """Whether the entry explains one of the kinds of a difference, with its error code and its distance."""
        explains = self.kind in difference.kinds and self.code in ("", difference.code)
        return explains and not (self.kind in MEASURED and difference.max_ulp > self.largest)

    def recorded_on(self, traits: AbstractSet[str] | None) -> bool:
        """Whether the failure was seen on processors of the architecture of a device with these traits.

        Elsewhere the entry explains a failure, and is not stale without one.
        """
        return self.trait != EVERY or not of_another_architecture(traits)

    @property
    def largest(self) -> float:
        """The largest distance in ULPs that the entry explains.

        Raises:
          ValueError: `within` is malformed.
        """
        if not self.within:
            return math.inf
        number, _, unit = self.within.partition(" ")
        largest = float(number)
        if unit != "ulp" or not 0 < largest < math.inf:
            raise ValueError(f"within {self.within!r}")
        return largest

    def selects(
        self, place: Mapping[str, str], tf: str, kind: str = "", traits: AbstractSet[str] | None = None
    ) -> bool:
        """Whether the entry is about a place; `tf` is the running version, `kind` the device's type.

        `traits` are those of the device; without them, the entry is about any processor.

        A place has a spec, dtype, attrs, recipe, device and mode; the place of one comparison also has a quantity and
        `against`: `numpy`, `plan` (any other plan), or `itself`. Entries whose kind is one of `harness.device.repeat`
        are about `itself` alone, and other entries never are. No entry is about a comparison with a claim: a claim that
        does not hold is refuted.
        """
        against = place.get("against")
        if against == "claim" or (against and (against == "itself") != (self.kind in SELF_CHECKS)):
            return False
        if self.unless and self.unless in place.get("device", "").split("+")[1:]:
            return False
        if traits is not None and not self._fits(traits):
            return False
        return _contains(self.tf, tf) and all(
            admits(getattr(self, field), name) or (field == "device" and admits(self.device, kind or type_of(name)))
            for field, name in place.items()
        )

    def _fits(self, traits: AbstractSet[str]) -> bool:
        """Whether the entry is about a processor with these traits."""
        return self.unless not in traits and (self.trait == EVERY or not traits.isdisjoint(listed(self.trait)))


#: An entry with its number among all entries, counted from 1.
Numbered = tuple[int, Entry]


@lru_cache
def _contains(specifier: str, version: str) -> bool:
    return SpecifierSet(specifier).contains(version, prereleases=True)


class DeviceFacts(NamedTuple):
    """What entries ask of a device beside its name: its type, where the name does not contain it, and its traits."""

    kind: str = ""
    traits: AbstractSet[str] | None = None


class Place(NamedTuple):
    """The place of an entry: its file, and its number in the file, counted from 1."""

    file: str
    number: int

    def __str__(self) -> str:
        return f"entry {self.number} of {self.file}"


@dataclass(frozen=True)
class Known:
    """The entries of a file, or of a folder's files, in order.

    `places` has the place of each entry; `devices` has facts of the devices of a run, by their names.
    """

    entries: tuple[Entry, ...] = ()
    places: tuple[Place, ...] = ()
    devices: Mapping[str, DeviceFacts] = field(default_factory=dict)

    def on(self, devices: Mapping[str, Mapping[str, Any]]) -> Self:
        """The known failures, about the devices of a run; `devices` maps each name to its facts in run.json.

        Raises:
          ValueError: the name of a recorded device's type is malformed.
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

    def of_spec(self, name: str) -> Sequence[Numbered]:
        """The entries that name a spec, each with its number among all, from 1."""
        return self._of_spec.get(name, ())

    def stands(self, number: int) -> Place:
        """The place of the entry with a number among all entries."""
        return self.places[number - 1] if self.places else Place("known.toml", number)

    @cached_property
    def _of_spec(self) -> dict[str, list[tuple[int, Entry]]]:
        """The numbered entries by the specs that they name, because there are many of both."""
        by_spec: dict[str, list[tuple[int, Entry]]] = {}
        for number, entry in enumerate(self.entries, 1):
            for name in listed(entry.spec):
                by_spec.setdefault(name, []).append((number, entry))
        return by_spec

    def idle(self, records: Iterable[Placed]) -> list[str]:
        """A line for each entry that is about cases that ran, but about none of the comparisons made of them."""
        idle = IdleEntries(self)
        for record in records:
            idle.visit(record)
        return idle.lines()


def _device_facts(facts: Mapping[str, Any]) -> DeviceFacts:
    return DeviceFacts(Device.parse(facts.get("device", "")).type if "recorded" in facts else "", traits_in(facts))


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


class IdleEntries:
    """The entries that are about cases that ran, but about none of their comparisons, as far as records were visited.

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
            if entry.selects(cell, *of):
                self._ran.add(number)
                self._about.update([number] if entry.selects(place, *of) else [])

    def lines(self) -> list[str]:
        """A line for each of the entries."""
        known = self._known
        return [
            f"{known.stands(n)} (spec {known.entries[n - 1].spec!r}) is about no comparison of this run; "
            "delete or mend it"
            for n in sorted(self._ran - self._about)
        ]


CELL = ("spec", "dtype", "attrs", "recipe", "device", "mode")


def place_of(record: Placed) -> dict[str, str]:
    """The place of a record, as selected by entries."""
    place = {name: getattr(record, name) for name in (*CELL, "quantity")}
    other = "claim" if record.against.startswith(CLAIM) else "plan"
    against = {"numpy": "numpy", record.plan: "itself"}.get(record.against, other)
    return {**place, "against": against}
