"""Files of known failures: causes, each with its entries, read from one file or from a folder of files."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace
from packaging.specifiers import InvalidSpecifier, SpecifierSet

from tf_opdiff.harness.judge.known_failures.cause import Cause, named
from tf_opdiff.harness.judge.known_failures.distance_limit import DistanceLimit
from tf_opdiff.harness.judge.known_failures.entry import Entry
from tf_opdiff.harness.judge.known_failures.known import Known, Place
from tf_opdiff.harness.judge.known_failures.processor import Processor
from tf_opdiff.harness.judge.known_failures.region import Region
from tf_opdiff.harness.judge.known_failures.selectors import EVERY, Names, check, listed
from tf_opdiff.harness.spec.catalog import Catalog
from tf_opdiff.harness.spec.kinds import KINDS, MEASURED, OF_ELEMENTS
from tf_opdiff.harness.spec.plan import MODES, Device
from tf_opdiff.harness.spec.quantity import is_quantity
from tf_opdiff.harness.spec.settings.trait import TRAITS
from tf_opdiff.harness.spec.settings.variant import VARIANTS
from tf_opdiff.harness.spec.similar import unknown
from tf_opdiff.harness.spec.spec import BY_PATTERNS
from tf_opdiff.harness.system.text_file import read_toml


class KnownError(ValueError):
    """A file of known failures that can't be used; the message is one line that names the cause or entry."""


def load(path: Path, catalog: Catalog) -> Known:
    """Reads `[cause.ID]` tables, each with its `entries`, and `[processor.ID]` tables.

    The `defaults` of a cause are the fields of each of its entries that does not have them itself. An entry with a list
    of kinds becomes one entry for each kind; `within` is that of the kinds which have a distance.

    Args:
      path: a file; or a folder, to read its `*.toml` files in the order of their names.
      catalog: the specs that entries may name.

    Raises:
      KnownError: a file is not TOML; a cause or entry has an unknown or missing field, names something that does not
        exist, or can never select a record; two causes have the same id or reason; or a cause has no entries.
      OSError: a file can't be read.
    """
    entries, places = [], []
    causes: dict[str, Cause] = {}
    reasons: dict[str, str] = {}
    processors: list[frozenset[str]] = []
    read = {name: _tables(name, file) for name, file in files(path).items()}
    related = _related(read.values())
    for name, tables in read.items():
        processors += _processors(name, tables["processor"])
        for id, fields in tables["cause"].items():
            label = f"{name}: cause {id!r}"
            try:
                cause, items = _cause(id, fields, related[id])
                if id in causes:
                    raise ValueError("another file has a cause with the same id")
                if cause.reason in reasons:
                    raise ValueError(f"cause {reasons[cause.reason]!r} has the same reason: join the two")
            except (msgspec.ValidationError, LookupError, ValueError) as error:
                raise KnownError(f"{label}: {error.args[0]}") from error
            causes[id], reasons[cause.reason] = cause, id
            for number, item in enumerate(items, 1):
                expanded = _entries(f"{label}: entry {number}", item, cause, catalog)
                entries += expanded
                places += [Place(name, number, id)] * len(expanded)
    known = Known(tuple(entries), tuple(places), processors=tuple(processors), twins=dict(catalog.twins))
    _check_see(causes, {place.cause: place.file for place in places})
    return known


def _related(files: Iterable[Mapping[str, Any]]) -> Mapping[str, set[str]]:
    """The id of a cause → those of the causes that name it in `see`."""
    related: dict[str, set[str]] = defaultdict(set)
    for id, fields in ((id, fields) for tables in files for id, fields in tables["cause"].items()):
        for other in fields.get("see", ()) if isinstance(fields, dict) else ():
            related[str(other)].add(id)
    return related


def _check_see(causes: Mapping[str, Cause], names: Mapping[str, str]) -> None:
    """Checks that causes name other causes; `names` are those of their files."""
    for id, cause in causes.items():
        for other in cause.see:
            if other not in causes or other == id:
                wrong = unknown("cause", other, causes.keys() - {id})
                raise KnownError(f"{names[id]}: cause {id!r}: see {other!r}: {wrong}")


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


def _tables(name: str, path: Path) -> dict[str, Any]:
    """The tables of a file: `cause` and `processor`, each by their ids."""
    try:
        tables = read_toml(path, name)
    except ValueError as error:
        raise KnownError(str(error)) from error
    if "entry" in tables or isinstance(tables.get("cause"), list):
        raise KnownError(
            f"{name}: expected [cause.ID] tables, each with its entries = [{{…}}, …]; found the former [[cause]] and "
            "[[entry]] tables: `python -m tf_opdiff.reports.verbs.former_known FILE` prints the file in this format"
        )
    if wrong := sorted(tables.keys() - {"cause", "processor"}):
        raise KnownError(f"{name}: expected [cause.ID] and [processor.ID] tables, found {', '.join(wrong)}")
    tables = {"cause": {}, "processor": {}, **tables}
    if wrong := [f"{kind} = {table!r}" for kind, table in tables.items() if not isinstance(table, dict)]:
        raise KnownError(f"{name}: expected [cause.ID] and [processor.ID] tables, found {wrong[0]}")
    return tables


def _processors(name: str, tables: Mapping[str, Any]) -> Iterator[frozenset[str]]:
    """The traits of the processors of a file."""
    for id, fields in tables.items():
        try:
            processor = msgspec.convert(fields, Processor)
            processor.check()
        except (msgspec.ValidationError, LookupError, ValueError) as error:
            raise KnownError(f"{name}: processor {id!r}: {error.args[0]}") from error
        yield frozenset(processor.traits)


class _Items(msgspec.Struct, forbid_unknown_fields=True):
    """The fields of a cause's table that belong to its entries."""

    entries: list[dict[str, Any]] = []
    defaults: dict[str, Any] = {}


def _cause(id: str, fields: Any, related: Iterable[str]) -> tuple[Cause, list[dict[str, Any]]]:
    """A cause that sees those that name it too, and the fields of its entries with the defaults."""
    table = msgspec.convert(fields, dict[str, Any])
    own = {name: value for name, value in table.items() if name not in _Items.__struct_fields__}
    if "id" in own:
        raise ValueError("id: expected in the head of the table alone, [cause.ID]")
    if "severity_reason" in own:
        raise ValueError('severity_reason: expected behind the severity: severity = "SEVERITY: REASON"')
    cause = msgspec.convert({"id": id, **own}, Cause)
    severity, _, reason = cause.severity.partition(": ")
    cause = msgspec.structs.replace(cause, severity=severity, severity_reason=reason)
    if "function" not in own:
        cause = msgspec.structs.replace(cause, function=named(cause.title))
    cause = msgspec.structs.replace(cause, see=tuple(sorted({*cause.see, *related})))
    cause.check()
    items = msgspec.convert({name: value for name, value in table.items() if name not in own}, _Items)
    if not items.entries:
        raise ValueError("expected at least one entry: entries = [{spec = …, kind = …}]")
    return cause, [items.defaults | item for item in items.entries]


def _entries(where: str, fields: dict[str, Any], cause: Cause, catalog: Catalog) -> list[Entry]:
    """An entry for each of the kinds."""
    try:
        if "cause" in fields:
            raise ValueError("cause: expected no such field: the entry stands in its cause")
        kinds = fields.get("kind")
        if not isinstance(kinds, list):
            entries = [msgspec.convert({**fields, "cause": cause}, Entry)]
        else:
            if not kinds or len(set(map(str, kinds))) < len(kinds):
                raise ValueError(f"kind {kinds!r}: expected a kind, or a list of different kinds")
            entries = [msgspec.convert({**fields, "kind": kind, "cause": cause}, Entry) for kind in kinds]
            if any(entry.kind in MEASURED for entry in entries):
                entries = [entry if entry.kind in MEASURED else replace(entry, within="") for entry in entries]
        specs = _expanded(entries[0].spec, catalog.specs)
        entries = [replace(entry, spec=specs) for entry in entries]
        for entry in entries:
            _check(entry, catalog)
    except (msgspec.ValidationError, LookupError, ValueError) as error:
        raise KnownError(f"{where} (spec {fields.get('spec', '?')!r}): {error.args[0]}") from error
    return entries


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
