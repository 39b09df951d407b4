"""Recognising: the causes of known failures that fit a difference of a shrunk program."""

from __future__ import annotations

import hashlib
import json
import os
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from importlib.metadata import version

from tf_opdiff.discover.group import CallGroup
from tf_opdiff.discover.signature import Signature, Types
from tf_opdiff.harness.judge.known_failures import known_files
from tf_opdiff.harness.judge.known_failures.entry import Entry
from tf_opdiff.harness.judge.known_failures.known import Known
from tf_opdiff.harness.judge.known_failures.selectors import EVERY, admits, listed
from tf_opdiff.harness.paths import KNOWN, ROOT, SUITES, cache_folder
from tf_opdiff.harness.spec.catalog import Catalog
from tf_opdiff.harness.spec.plan import Device
from tf_opdiff.harness.spec.quantity import family_of
from tf_opdiff.harness.spec.spec import Spec
from tf_opdiff.model.worker import Worker


class Recogniser:
    """Finds the causes that fit a difference: those of specs about the same ops."""

    def __init__(self, worker: Worker, device: Device) -> None:
        """A `ProgramServer` traces the texts of compositions."""
        self.catalog = catalog = Catalog.load(SUITES)
        self.known: Known = known_files.load(ROOT / KNOWN, catalog)
        self._device, self._tf = device, version("tensorflow")
        self._by_types: dict[Types, list[tuple[Spec, str]]] = defaultdict(list)
        for spec in catalog.specs.values():
            if self.known.of_spec(spec.name):
                for types in {frozenset(spec.ops_in(mode)) for mode in spec.modes}:
                    self._by_types[types].append((spec, ""))
        for spec, number, types in _compositions(worker, self.known, catalog):
            self._by_types[types].append((spec, f"output[{number}]"))

    def without(self, hidden: Collection[str]) -> Known:
        """The known failures without those of some causes."""
        pairs = zip(self.known.entries, self.known.places, strict=True)
        others = [(entry, place) for entry, place in pairs if entry.cause.id not in hidden]
        return replace(self.known, entries=tuple(e for e, _ in others), places=tuple(p for _, p in others))

    def causes(self, signature: Signature) -> tuple[str, ...]:
        """The ids of the causes that fit; of a program of one function, those of a part of its ops fit as well."""
        if not signature.types:  # it has no trace
            return ()
        fitting = [signature.types]
        if signature.words == 1:
            fitting += [types for types in self._by_types if types and types < signature.types]
        specs = [pair for types in fitting for pair in self._by_types.get(types, ())]
        return self._causes(specs, signature)

    def of_call(self, group: CallGroup) -> tuple[str, ...]:
        """The ids of the causes about the spec, the quantity, the kind, the dtype and the mode of a call."""
        place = {"dtype": group.dtype, "device": str(self._device), "mode": group.mode, "quantity": group.quantity}
        entries = (entry for _, entry in self.known.of_spec(group.spec) if entry.kind == group.kind)
        return tuple({e.cause.id: None for e in entries if e.selects(place, self._tf, self._device.type)})

    def alike(self, signature: Signature, parts: Collection[Types] = ()) -> tuple[str, ...]:
        """The ids of the causes that may fit.

        They are about programs that share an op and all but one of their ops with the difference's, or about one
        function of it; `parts` are the types of each of its functions.
        """
        near = [t for t in self._by_types if t & signature.types and len(t ^ signature.types) in (1, 2)]
        near += [types for types in parts if types]
        specs = [pair for types in near for pair in self._by_types[types]]
        return self._causes(specs, signature)

    def _causes(self, specs: Sequence[tuple[Spec, str]], signature: Signature) -> tuple[str, ...]:
        """The ids of the causes of the entries that fit, of specs with their quantities."""
        entries = (entry for spec, quantity in specs for entry in self._fitting(spec, quantity, signature))
        return tuple(dict.fromkeys(entry.cause.id for entry in entries))

    def _fitting(self, spec: Spec, quantity: str, signature: Signature) -> Iterator[Entry]:
        """The entries of a spec that are about the kind, the dtype, and one of the two plans."""
        for _, entry in self.known.of_spec(spec.name):
            if entry.kind != signature.kind or not _about(entry, quantity, signature.family):
                continue
            place = {"dtype": signature.dtype, "device": str(self._device)}
            modes = {signature.mode, "eager"}
            if any(entry.selects({**place, "mode": mode}, self._tf, self._device.type) for mode in modes):
                yield entry


def _about(entry: Entry, quantity: str, family: str) -> bool:
    """Whether an entry is about an output of a composition, or else about a family of quantities."""
    names = listed(entry.quantity)
    if quantity:
        return admits(entry.quantity, quantity)
    return EVERY in names or family in {family_of(name) for name in names}


def _compositions(worker: Worker, known: Known, catalog: Catalog) -> Iterator[tuple[Spec, int, Types]]:
    """(spec, number of an output, types of its ops) of the compositions with known failures."""
    pieces = []
    for spec in catalog.specs.values():
        for number in _numbers(spec, [entry for _, entry in known.of_spec(spec.name)]):
            text = f"def program(x, y, z):\n    return {spec.names[number]}\n"
            pieces.append((spec, number, (text, (spec.dtypes[0],) * 3)))
    for (spec, number, _), types in zip(pieces, _traced(worker, [piece for *_, piece in pieces]), strict=True):
        if types:
            yield spec, number, frozenset(types)


def _traced(worker: Worker, programs: Sequence[tuple[str, Sequence[str]]]) -> Sequence[Sequence[str]]:
    """The types of the ops of each program; kept in the cache, because tracing hundreds takes half a minute."""
    key = hashlib.blake2b(repr((version("tensorflow"), programs)).encode(), digest_size=16).hexdigest()
    file = cache_folder() / "discover" / f"{key}.json"
    if file.exists():
        kept: list[list[str]] = json.loads(file.read_text("utf-8"))
        return kept
    traced: Sequence[Sequence[str]] = worker.ask("traced", programs)
    file.parent.mkdir(parents=True, exist_ok=True)
    part = file.with_suffix(f".{os.getpid()}")
    part.write_text(json.dumps(traced), "utf-8")
    part.replace(file)
    return traced


def _numbers(spec: Spec, entries: Collection[Entry]) -> Iterator[int]:
    """The numbers of the named outputs that entries are about."""
    for number in range(len(spec.names or ())):
        if any(admits(entry.quantity, f"output[{number}]") for entry in entries):
            yield number
