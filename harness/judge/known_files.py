"""Files of known failures: causes and the entries that name them, read from one file or from a folder of files."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace
from packaging.specifiers import InvalidSpecifier, SpecifierSet

from tf_opdiff.harness.judge.cause import Cause
from tf_opdiff.harness.judge.distance_limit import DistanceLimit
from tf_opdiff.harness.judge.entry import MEASURED, OF_ELEMENTS, Entry
from tf_opdiff.harness.judge.known import Known, Place
from tf_opdiff.harness.judge.processor import Processor
from tf_opdiff.harness.judge.region import Region
from tf_opdiff.harness.judge.selectors import EVERY, Names, check, listed
from tf_opdiff.harness.spec.catalog import Catalog
from tf_opdiff.harness.spec.plan import MODES, Device
from tf_opdiff.harness.spec.quantity import is_quantity
from tf_opdiff.harness.spec.similar import unknown
from tf_opdiff.harness.spec.spec import BY_PATTERNS
from tf_opdiff.harness.spec.trait import TRAITS
from tf_opdiff.harness.spec.variant import VARIANTS
from tf_opdiff.harness.store.record import KINDS
from tf_opdiff.harness.system.text_file import read_toml


class KnownError(ValueError):
    """A file of known failures that can't be used; the message is one line that names the cause or entry."""


def load(path: Path, catalog: Catalog) -> Known:
    """Reads `[[cause]]`, `[[entry]]` and `[[processor]]` tables.

    Args:
      path: a file; or a folder, to read its `*.toml` files in the order of their names.
      catalog: the specs that entries may name.

    Raises:
      KnownError: a file is not TOML; a cause or entry has an unknown or missing field, names something that does not
        exist, or can never select a record; two causes have the same id or reason; or no entry names a cause.
      OSError: a file can't be read.
    """
    tables = {name: _tables(name, file) for name, file in files(path).items()}
    causes = _causes(tables)
    entries, places = [], []
    for name, table in tables.items():
        for number, fields in enumerate(table["entry"], 1):
            entries.append(_entry(f"{name}: entry {number}", fields, causes, catalog))
            places.append(Place(name, number))
    if unused := sorted(causes.keys() - {entry.cause.id for entry in entries}):
        raise KnownError(f"{path.name}: cause {unused[0]!r}: no entry names it; delete it")
    return Known(tuple(entries), tuple(places), processors=tuple(_processors(tables)))


def files(path: Path) -> dict[str, Path]:
    """The files of known failures at a path, in order, by the names that messages use.

    Raises:
      KnownError: a folder has none.
    """
    if not path.is_dir():
        return {path.name: path}
    files = {f"{path.name}/{file.name}": file for file in sorted(path.glob("*.toml"))}
    if not files:
        raise KnownError(f"{path.name}: expected *.toml files in this folder")
    return files


def _tables(name: str, path: Path) -> dict[str, list[Any]]:
    try:
        tables = read_toml(path, name)
    except ValueError as error:
        raise KnownError(str(error)) from error
    kinds = ("cause", "entry", "processor")
    wrong = sorted(key for key, value in tables.items() if key not in kinds or not isinstance(value, list))
    if wrong:
        raise KnownError(f"{name}: expected [[cause]], [[entry]] and [[processor]] tables, found {', '.join(wrong)}")
    return {**{kind: [] for kind in kinds}, **tables}


def _processors(tables: Mapping[str, Mapping[str, list[Any]]]) -> Iterator[frozenset[str]]:
    """The traits of the processors of all files."""
    for name, table in tables.items():
        for number, fields in enumerate(table["processor"], 1):
            try:
                processor = msgspec.convert(fields, Processor)
                processor.check()
            except (msgspec.ValidationError, LookupError, ValueError) as error:
                raise KnownError(f"{name}: processor {number}: {error.args[0]}") from error
            yield frozenset(processor.traits)


def _causes(tables: Mapping[str, Mapping[str, list[Any]]]) -> dict[str, Cause]:
    """The causes of all files, by their ids."""
    causes: dict[str, Cause] = {}
    reasons: dict[str, str] = {}
    for name, table in tables.items():
        for number, fields in enumerate(table["cause"], 1):
            label = fields.get("id", number) if isinstance(fields, dict) else number
            try:
                cause = msgspec.convert(fields, Cause)
                cause.check()
                if cause.id in causes:
                    raise ValueError("another cause has the same id")
                if cause.reason in reasons:
                    raise ValueError(f"cause {reasons[cause.reason]!r} has the same reason: entries can name that one")
            except (msgspec.ValidationError, LookupError, ValueError) as error:
                raise KnownError(f"{name}: cause {label!r}: {error.args[0]}") from error
            causes[cause.id], reasons[cause.reason] = cause, cause.id
    return causes


def _entry(where: str, fields: Any, causes: Mapping[str, Cause], catalog: Catalog) -> Entry:
    if not isinstance(fields, dict):
        raise KnownError(f"{where}: expected a table")
    try:
        cause = fields.get("cause")
        if isinstance(cause, str) and cause not in causes:
            raise LookupError(unknown("cause", cause, set(causes)))
        if cause is not None and not isinstance(cause, str):
            raise ValueError("cause: expected the id of a cause")
        named = {"cause": causes[cause]} if cause is not None else {}
        entry = msgspec.convert(fields | named, Entry)
        entry = replace(entry, spec=_expanded(entry.spec, catalog.specs))
        _check(entry, catalog)
    except (msgspec.ValidationError, LookupError, ValueError) as error:
        raise KnownError(f"{where} (spec {fields.get('spec', '?')!r}): {error.args[0]}") from error
    return entry


def _expanded(selector: Names, specs: Iterable[str]) -> Names:
    """The names of the specs that a selector selects: a name with `*` in it stands for all names of that form.

    A form without a spec, and `*` itself, stay as they are: the check of names refuses them.
    """
    names: list[str] = []
    for name in listed(selector):
        matching: list[str] = []
        if "*" in name and name != EVERY:
            form = re.compile(".+".join(map(re.escape, name.split("*"))))
            matching = [spec for spec in specs if form.fullmatch(spec)]
        names += matching or [name]
    return names if names != [selector] else selector


def _check(entry: Entry, catalog: Catalog) -> None:
    specs = catalog.specs
    check(entry, {"spec": specs.keys()}, exact=("spec",))
    selected = [specs[name] for name in listed(entry.spec)]
    allowed = {
        "kind": set(KINDS),
        "mode": set(MODES),
        "against": {"numpy", "plan", "itself"},
        "trait": TRAITS.keys(),
        "dtype": {dtype for spec in selected for dtype in spec.dtypes},
        "attrs": {label for spec in selected for label in spec.attrs},
        "recipe": {recipe for spec in selected for recipe in spec.recipes} | set(BY_PATTERNS),
    }
    check(entry, allowed, exact=("kind",))
    for name in listed(entry.quantity):
        if name != EVERY and not is_quantity(name):
            raise ValueError(f"quantity {name!r}: expected output[i], grad[i], jvp[i] or hvp[i]")
    for name in listed(entry.device):
        if name != EVERY:
            Device.parse(name)
    if entry.unless and entry.unless not in {*VARIANTS, *TRAITS}:
        expected = f"a variant, of {', '.join(VARIANTS)}, or a trait, of {', '.join(TRAITS)}"
        raise ValueError(f"unless {entry.unless!r}: expected {expected}")
    if entry.intermittent and entry.cause.severity != "memory":
        raise ValueError(f"intermittent: expected for a cause of severity memory, not {entry.cause.severity}")
    _check_elements(entry)
    try:
        SpecifierSet(entry.tf)
    except InvalidSpecifier as error:
        raise ValueError(f"tf {entry.tf!r}: expected a version specifier such as >=2.18,<2.22") from error


def _check_elements(entry: Entry) -> None:
    """Checks the region and the distance of an entry, which are about elements."""
    Region.parse(entry.where)
    DistanceLimit.parse(entry.within)
    if entry.within and entry.kind not in MEASURED:
        raise ValueError(f"within {entry.within!r}: expected for a kind with a distance, of {', '.join(MEASURED)}")
    if entry.blind and len(entry.blind.split()) < 3:
        raise ValueError(f"blind {entry.blind!r}: expected why planted faults can't be seen, in a sentence")
    if entry.where and entry.kind not in OF_ELEMENTS:
        raise ValueError(f"where {entry.where!r}: expected for a kind of elements, of {', '.join(OF_ELEMENTS)}")
