"""Known failures: where TensorFlow does not do what a spec says, held to their recorded place and reason."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import msgspec
from packaging.specifiers import InvalidSpecifier, SpecifierSet

from tf_opdiff.harness.device.repeat import AGAIN
from tf_opdiff.harness.spec.catalog import Catalog, unknown
from tf_opdiff.harness.spec.plan import MODES, Device, type_of
from tf_opdiff.harness.spec.spec import SWEEPS
from tf_opdiff.harness.store.record import CLAIM, KINDS, Record

OWNERS = ("tensorflow", "driver", "us", "nobody")
Names = str | list[str]


class KnownError(Exception):
    """An entry that can't be used; the message is one line that names it."""


class Entry(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One known failure. Every selector is a name, a list of names, or absent for all.

    All that an entry selects has to fail with its `kind` (and `code`, of an error or crash); one that does not is
    stale, unless it is held against another plan, and the entry does not ask for that by its `against`. `tf` is a
    version specifier such as `>=2.18,<2.22`. `owner` is who has to act.
    """

    spec: Names
    kind: str
    owner: str
    reason: str
    link: str = ""
    dtype: Names = "*"
    recipe: Names = "*"
    device: Names = "*"
    mode: Names = "*"
    against: Names = "*"
    quantity: Names = "*"
    tf: str = ""
    code: str = ""

    def selects(self, place: Mapping[str, str], tf: str, kind: str = "") -> bool:
        """Whether the entry is about a place; `tf` is the version that runs, `kind` the device's type.

        A place is given by spec, dtype, recipe, device and mode, and for one comparison also by quantity and against
        (`numpy`, `plan` for any other plan, or `itself`: these are for the kinds of `harness.device.repeat`, and for no
        other). What is held against a claim is never known: a claim that does not hold is refuted.
        """
        against = place.get("against")
        if against == "claim" or (against and (against == "itself") != (self.kind in AGAIN)):
            return False
        return _contains(self.tf, tf) and all(
            _in(name, getattr(self, field)) or (field == "device" and _in(kind or type_of(name), self.device))
            for field, name in place.items()
        )


@lru_cache
def _contains(specifier: str, version: str) -> bool:
    return SpecifierSet(specifier).contains(version, prereleases=True)


@dataclass(frozen=True)
class Known:
    """The entries of a file, in order; and the types of the devices whose names do not tell them."""

    entries: tuple[Entry, ...] = ()
    path: str = "known.toml"
    types: Mapping[str, str] = field(default_factory=dict)

    def find(self, place: Mapping[str, str], tf: str) -> tuple[int, Entry] | None:
        """The first entry that is about a place, with its number in the file, counted from 1; see `Entry.selects`."""
        entries, kind = self._of_spec.get(place["spec"], ()), self.types.get(place["device"], "")
        return next(((n, e) for n, e in entries if e.selects(place, tf, kind)), None)

    @cached_property
    def _of_spec(self) -> dict[str, list[tuple[int, Entry]]]:
        """The numbered entries by the specs that they name: there are many of both."""
        found: dict[str, list[tuple[int, Entry]]] = {}
        for number, entry in enumerate(self.entries, 1):
            for name in listed(entry.spec):
                found.setdefault(name, []).append((number, entry))
        return found

    def idle(self, records: Sequence[Record]) -> list[str]:
        """A line for each entry that is about cases that ran, but about none of the comparisons made of them."""
        ran, about = set(), set()
        for record in records:
            place, of = place_of(record), (record.tf, self.types.get(record.device, ""))
            cell = {name: place[name] for name in CELL}
            for number, entry in self._of_spec.get(record.spec, ()):
                if number not in about and entry.selects(cell, *of):
                    ran.add(number)
                    about.update([number] if entry.selects(place, *of) else [])
        return [
            f"{self.path}: entry {n} (spec {self.entries[n - 1].spec!r}) is about no comparison of this run; "
            "delete or mend it"
            for n in sorted(ran - about)
        ]


CELL = ("spec", "dtype", "recipe", "device", "mode")


def place_of(record: Record) -> dict[str, str]:
    """Where a record stands, as entries select it."""
    place = {name: getattr(record, name) for name in (*CELL, "quantity")}
    other = "claim" if record.against.startswith(CLAIM) else "plan"
    against = {"numpy": "numpy", record.plan: "itself"}.get(record.against, other)
    return {**place, "against": against}


def listed(selector: Names) -> list[str]:
    """What a selector names."""
    return [selector] if isinstance(selector, str) else selector


def _in(name: str, selector: Names) -> bool:
    return selector == "*" or name in listed(selector)


def load(path: Path, catalog: Catalog) -> Known:
    """Reads a file of `[[known]]` tables.

    Raises:
      KnownError: it is no TOML, or an entry has an unknown or missing field, names something that does not exist, or
        could never select anything.
    """
    try:
        tables: dict[str, Any] = tomllib.loads(path.read_text())
    except tomllib.TOMLDecodeError as error:
        raise KnownError(f"{path.name}: {error}") from error
    if set(tables) - {"known"}:
        raise KnownError(f"{path.name}: expected [[known]] tables, found {', '.join(sorted(set(tables) - {'known'}))}")
    entries = []
    for number, table in enumerate(tables.get("known", []), 1):
        try:
            entry = msgspec.convert(table, Entry)
            _check(entry, catalog)
        except (msgspec.ValidationError, LookupError, ValueError) as error:
            message = error.args[0] if error.args else error
            raise KnownError(f"{path.name}: entry {number} (spec {table.get('spec', '?')!r}): {message}") from error
        entries.append(entry)
    return Known(tuple(entries), path.name)


def _check(entry: Entry, catalog: Catalog) -> None:
    specs = catalog.specs
    for name in listed(entry.spec):
        if name not in specs:
            raise LookupError(unknown("spec", name, set(specs)))
    chosen = [specs[name] for name in listed(entry.spec)]
    allowed = {
        "kind": set(KINDS),
        "owner": set(OWNERS),
        "mode": set(MODES),
        "against": {"numpy", "plan", "itself"},
        "dtype": {d for s in chosen for d in s.dtypes},
        "recipe": {r for s in chosen for r in s.recipes} | set(SWEEPS),
    }
    for selector, there in allowed.items():
        for name in listed(getattr(entry, selector)):
            if name not in there and (name != "*" or selector in ("kind", "owner")):
                raise LookupError(unknown(selector, name, there))
    for name in listed(entry.quantity):
        if name != "*" and not re.fullmatch(r"(output|grad|jvp|hvp)\[\d+\]", name):
            raise ValueError(f"quantity {name!r}: expected output[i], grad[i], jvp[i] or hvp[i]")
    for name in listed(entry.device):
        if name != "*":
            Device.parse(name)
    if len(entry.reason.split()) < 3:
        raise ValueError(f"reason {entry.reason!r}: expected the checked reason, in a sentence")
    if entry.link and not entry.link.startswith("https://"):
        raise ValueError(f"link {entry.link!r}: expected https://…")
    try:
        SpecifierSet(entry.tf)
    except InvalidSpecifier as error:
        raise ValueError(f"tf {entry.tf!r}: expected a version specifier such as >=2.18,<2.22") from error
