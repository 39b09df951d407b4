"""Maturity: the kernels that a vendor lists for a device, and whether the device has them."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import msgspec

from tf_opdiff.harness.judge.known_failures.selectors import Names, admits, check, listed
from tf_opdiff.harness.spec.catalog import Catalog
from tf_opdiff.harness.spec.plan import DEVICE_TYPE, MODES, type_of
from tf_opdiff.harness.spec.quantity import FAMILIES, family_of
from tf_opdiff.harness.store.records.record import Record
from tf_opdiff.harness.system.text_file import read_toml

#: `mandatory`: a missing kernel fails the run. `expected`: a missing kernel is listed. `skip`: the device does not have
#: the kernel yet; a kernel that keeps its promise is stale, and one that breaks it is a mismatch, as elsewhere.
LEVELS = ("mandatory", "expected", "skip")
Cell = tuple[str, str, str, str]  # spec, dtype, mode, family of quantities


class Entry(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The maturity of some kernels. Every selector is a name, a list of names, or absent for all.

    `op` names specs, families or OpDefs, as `--op` does; `quantity` names families, such as `grad`.
    """

    level: str
    op: Names = "*"
    dtype: Names = "*"
    mode: Names = "*"
    quantity: Names = "*"
    reason: str = ""


@dataclass(frozen=True)
class Maturity:
    """A file of entries about one device type; each cell has the number of the first entry about it, counted from 1."""

    device: str = ""
    path: str = ""
    cells: Mapping[Cell, tuple[int, Entry]] = field(default_factory=dict)

    def graded(self, record: Record, *, came: bool) -> Record:
        """The record; the list may change its verdict if it is against NumPy. `came`: the plan gave values."""
        family = family_of(record.quantity)
        listing = self.cells.get((record.spec, record.dtype, record.mode, family))
        if not listing or record.against != "numpy" or type_of(record.device) != self.device:
            return record
        number, entry = listing
        place, because = f"entry {number} of {self.path}", f" ({entry.reason})" if entry.reason else ""
        reason, detail = f"{entry.level}, by {place}{because}", record.detail
        if record.verdict == "unavailable" and entry.level == "mandatory":
            missing, _, message = detail.partition(":")
            detail = f"{missing}, which is {reason}:{message}"[:1000]
            return replace(record, verdict="mismatch", kind="status", detail=detail, reason=reason)
        if record.verdict == "unavailable":
            return replace(record, reason=reason)
        if entry.level == "skip" and came and record.verdict in ("match", "contract"):
            detail = f"is there, and gives what is promised: delete or narrow {place}{because}"
            return replace(record, verdict="stale", detail=detail, reason=reason)
        if entry.level == "skip" and came and record.verdict == "mismatch":
            return replace(record, detail=f"is there, though {place} says that it is not{because}. {detail}"[:1000])
        return record


def load(path: Path, catalog: Catalog) -> Maturity:
    """Reads a file with a `device` and `[[maturity]]` tables.

    Raises:
      ValueError: the file is not TOML, has no device, has an unknown field or lacks a field; or earlier entries select
        everything that an entry selects.
      LookupError: an entry names something that does not exist; the message has similar names.
      OSError: the file can't be read.
    """
    tables = read_toml(path, path.name)
    device, entries = tables.get("device"), tables.get("maturity")
    if not isinstance(device, str) or not DEVICE_TYPE.fullmatch(device):
        raise ValueError(f'{path.name}: device {device!r}: expected a type of device, such as device = "gpu"')
    if not isinstance(entries, list) or set(tables) != {"device", "maturity"}:
        raise ValueError(f"{path.name}: expected device and [[maturity]] tables, found {', '.join(sorted(tables))}")
    cells: dict[Cell, tuple[int, Entry]] = {}
    for number, table in enumerate(entries, 1):
        try:
            entry = msgspec.convert(table, Entry)
            selected = _cells(entry, catalog)
        except (msgspec.ValidationError, LookupError) as error:
            kind = LookupError if isinstance(error, LookupError) else ValueError
            raise kind(f"{path.name}: entry {number}: {error.args[0]}") from error
        if not selected - cells.keys():
            why = "the entries before it select all that it does" if selected else "no spec has these together"
            raise ValueError(f"{path.name}: entry {number} is about nothing: {why}")
        cells |= dict.fromkeys(selected - cells.keys(), (number, entry))
    return Maturity(device, path.name, cells)


def _cells(entry: Entry, catalog: Catalog) -> set[Cell]:
    """The cells that an entry selects.

    Raises:
      LookupError: the entry names something that does not exist.
    """
    specs = set(catalog.specs)
    if entry.op != "*":
        specs = {spec for op in listed(entry.op) for spec in catalog.named(op)}
    items = [item for item in catalog.items if item.spec.name in specs]
    allowed = {"dtype": {i.dtype for i in items}, "mode": set(MODES), "quantity": set(FAMILIES), "level": set(LEVELS)}
    check(entry, allowed, exact=("level",))
    return {
        cell
        for item in items
        for cell in itertools.product([item.spec.name], [item.dtype], item.spec.modes, _families(item.spec))
        if all(
            admits(selector, value)
            for value, selector in zip(cell[1:], (entry.dtype, entry.mode, entry.quantity), strict=True)
        )
    }


def _families(spec: Any) -> tuple[str, ...]:
    """The families of quantities that a spec promises."""
    promised = {"output": True, "grad": spec.derivatives.vjp, "jvp": spec.derivatives.jvp, "hvp": spec.derivatives.hvp}
    return tuple(family for family in FAMILIES if promised[family])
