"""Calls: calls of the ops of specs with values and sizes that no recipe has, judged by the specs themselves.

The values come from the recipes of an elementwise spec: what recipes give to the inputs in one place may stand in any
other place, also several times. So a call is as valid as those that the spec declares. It also gets other sizes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from tf_opdiff.discover.group import NEW, UNSTABLE, CallGroup
from tf_opdiff.discover.programs.draw import SHAPES
from tf_opdiff.harness.cases.case_runner import CaseRunner
from tf_opdiff.harness.device.processes.server_handle import DeviceServer, memory_limit
from tf_opdiff.harness.judge.known_failures.known import Known
from tf_opdiff.harness.judge.verdicts.trial import Origin
from tf_opdiff.harness.judge.verdicts.verdict import Context
from tf_opdiff.harness.spec.catalog import Catalog, Item
from tf_opdiff.harness.spec.plan import Device, Plan
from tf_opdiff.harness.spec.spec import Case
from tf_opdiff.harness.store.records.record import Record
from tf_opdiff.harness.store.shards.cell_lines import CellWriter
from tf_opdiff.model.shrink import smallest

Arrays = tuple[np.ndarray, ...]
#: The most elements of a recipe's inputs: larger calls take too long.
_LARGEST = 20_000
#: The share of calls with other sizes alone.
_UNCHANGED = 0.2
#: The recipe of a call.
_NAME = "drawn"
#: The most changed elements that are left out one by one.
_MOST = 64


@dataclass(frozen=True)
class Call:
    """A call of a spec's program with the inputs of a case, after some elements were replaced.

    Attributes:
      item: the spec and a dtype.
      attrs, recipe: those of the case.
      base: the inputs of the case, maybe of other sizes.
      inputs: the inputs of the call.
    """

    item: Item
    attrs: str
    recipe: str
    base: Arrays
    inputs: Arrays

    @property
    def changed(self) -> list[tuple[int, int]]:
        """(input, place) of each replaced element."""
        pairs = enumerate(zip(self.base, self.inputs, strict=True))
        return [(n, int(i)) for n, (x, y) in pairs for i in np.flatnonzero(_bits(x) != _bits(y))]

    def with_only(self, places: Collection[tuple[int, int]]) -> Call:
        """The call with only these elements replaced."""
        arrays = tuple(x.copy() for x in self.base)
        for n, i in places:
            arrays[n].flat[i] = self.inputs[n].flat[i]
        return replace(self, inputs=arrays)

    def __str__(self) -> str:
        replaced = [f"input[{n}][{i}] = {self.inputs[n].flat[i]}" for n, i in self.changed[:6]]
        sizes = ", ".join(str(list(x.shape)) for x in self.inputs)
        case = "-".join(filter(None, (self.item.id, self.attrs, self.recipe)))
        return f"{case}, sizes {sizes}" + (f", with {', '.join(replaced)}" if replaced else "")


def _bits(x: np.ndarray) -> np.ndarray:
    """The elements as numbers that are equal if the elements have the same bits."""
    if x.dtype.kind in "OS":
        return x.ravel()
    return x.ravel().view(f"V{x.dtype.itemsize}") if x.size else np.empty(0, bool)


@dataclass
class Caller:
    """Draws calls of some specs, and judges them under all modes of a device.

    Attributes:
      device: the device.
      logs: a folder for logs.
      known: the known failures, of which those about single recipes count for all calls.
      specs: the names of specs.
      catalog: the catalog that has them.
      timeout: seconds for one request.
    """

    device: Device
    logs: Path
    known: Known
    specs: Collection[str]
    catalog: Catalog
    timeout: float = 60.0

    def __post_init__(self) -> None:
        everywhere = tuple(msgspec.structs.replace(entry, recipe="*") for entry in self.known.entries)
        self._context = Context(
            run="discover",
            started="",
            here=Origin(version("tensorflow")),
            known=replace(self.known, entries=everywhere),
        )
        self._server = DeviceServer(self.device, self.logs, timeout=self.timeout, memory=memory_limit(self.device))
        self._drawn = Counter[str]()

    def close(self) -> None:
        """Ends the process."""
        self._server.stop()

    @cached_property
    def items(self) -> Sequence[Item]:
        """The elementwise specs with their dtypes; those of the full tier take too long.

        Of others it is not known whether their elements may change places: `tf.searchsorted` takes sorted rows.
        """
        items = [item for item in self.catalog.items if item.spec.name in self.specs and item.spec.elementwise]
        return [item for item in items if item.tier != "full" and item.spec.recipes]

    def draw(self, random: np.random.Generator) -> Call | None:
        """A call of an item that was drawn as rarely as any; None if its inputs are too large."""
        least = min(self._drawn[item.id] for item in self.items)
        rare = [item for item in self.items if self._drawn[item.id] == least]
        item = rare[random.integers(len(rare))]
        self._drawn[item.id] += 1
        labels, recipes = item.spec.labels, list(item.spec.recipes)
        attrs, recipe = labels[random.integers(len(labels))], recipes[random.integers(len(recipes))]
        own = Case(item.spec, item.dtype, recipe, attrs).inputs()
        if sum(x.size for x in own) > _LARGEST:
            return None
        others = [Case(item.spec, item.dtype, name, attrs).inputs() for name in recipes]
        if recipe not in item.spec.derivatives.upstreams and len({x.shape for x in own}) == 1 and random.random() < 0.5:
            shape = SHAPES[random.integers(len(SHAPES))]
            own = tuple(np.resize(x, shape) for x in own)
        types = [x.dtype for x in own]
        return Call(
            item, attrs, recipe, own, _changed(random, own, [x for x in others if [y.dtype for y in x] == types])
        )

    def failing(self, call: Call, modes: Collection[str] = ()) -> list[Record]:
        """The records of a call that no known failure explains."""
        spec, own = call.item.spec, call.item.spec.derivatives.upstreams.get(call.recipe)
        drawn = spec.but(recipes={_NAME: lambda draw, dtype: call.inputs}, upstreams={_NAME: own} if own else {})
        case = Case(drawn, call.item.dtype, _NAME, call.attrs)
        plans = [Plan(self.device, mode) for mode in spec.modes if not modes or mode in modes]
        runner = CaseRunner(self._context, plans, {self.device: self._server}, only={case.id})
        writer = CellWriter()
        runner.run(Item(call.item.module, drawn, call.item.dtype), writer)
        return [record for record in writer.records if record.verdict == "mismatch" and record.against != record.plan]

    def shrunk(self, call: Call, record: Record) -> Call:
        """The call with the fewest replaced elements that still fails in the same mode, quantity and kind."""
        modes = {record.mode, record.against.rpartition("/")[2]} & {*call.item.spec.modes} or {record.mode}

        def fails(places: Collection[tuple[int, int]]) -> bool:
            return any(alike(one, record) for one in self.failing(call.with_only(places), modes))

        places = call.changed
        if not places or len(places) > _MOST * 8 or not fails(places):
            return call
        if fails([]):
            return call.with_only([])
        numbers = range(len(places))
        return call.with_only([places[n] for n in smallest(numbers, lambda part: fails([places[n] for n in part]))])

    def fresh(self) -> None:
        """From now on another process runs the calls."""
        self._server.stop()


def alike(one: Record, other: Record) -> bool:
    """Whether two records fail alike."""
    return (one.mode, one.quantity, one.kind, one.against) == (other.mode, other.quantity, other.kind, other.against)


def _changed(random: np.random.Generator, own: Arrays, others: Sequence[Arrays]) -> Arrays:
    """Copies with some elements replaced by others that recipes have: everywhere, in few places, or by few numbers.

    The elements of one place stay together: a lower limit stays below its upper one. Inputs of several sizes stay as
    they are.
    """
    pools = [x for x in others if len({y.size for y in x}) == 1]
    arrays = [x.copy() for x in own]
    if len({x.size for x in own}) != 1 or not own[0].size or not pools or random.random() < _UNCHANGED:
        return tuple(arrays)
    pool = [np.concatenate([x[n].ravel() for x in pools]) for n in range(len(own))]
    size = own[0].size
    drawn, how = random.integers(0, max(1, len(pool[0])), size), random.integers(4)
    if how == 0:  # ties
        drawn = drawn[random.integers(0, min(3, size), size)]
    chosen = random.random(size) < (1.0, 1.0, 0.3, 2 / size)[how]
    for n, values in enumerate(pool if len(pool[0]) else ()):
        arrays[n] = np.where(chosen, values[drawn], own[n].ravel()).reshape(own[n].shape).astype(own[n].dtype)
    return tuple(arrays)


def groups_of(caller: Caller, seed: int, known: Collection[str]) -> Iterator[CallGroup]:
    """The groups of the call of a seed; one whose id is not known is shrunk, and runs again in a fresh process."""
    call = caller.draw(np.random.default_rng(seed))
    if call is None:
        return
    records = caller.failing(call)
    for record in {(r.quantity, r.kind): r for r in reversed(records)}.values():
        place: dict[str, Any] = {name: getattr(record, name) for name in ("mode", "kind", "spec", "quantity")}
        name = "-".join(place.values()).translate({ord("["): None, ord("]"): None})
        place |= {"dtype": record.dtype, "call": str(call), "result": record.detail}
        group = CallGroup(id=name, seed=seed, **place)
        yield group if name in known else _settled(caller, call, record, (group, records))


def _settled(caller: Caller, call: Call, record: Record, of: tuple[CallGroup, Sequence[Record]]) -> CallGroup:
    """The group with its smallest call, which runs again in a fresh process; `of` has all records of the first call."""
    group, records = of
    small = caller.shrunk(call, record)
    caller.fresh()
    again = [one for one in caller.failing(small) if alike(one, record)]
    same = [r for r in records if (r.quantity, r.kind) == (record.quantity, record.kind)]
    everywhere = {*call.item.spec.modes} <= {r.mode for r in same if r.against == "numpy"}
    shown = (again or [record])[0]
    return replace(
        group,
        call=str(small),
        result=shown.detail[:300] or f"{shown.kind}: {shown.got} in place of {shown.want}",
        state=NEW if again else UNSTABLE,
        reason="every mode gives this: check the reference first" if everywhere else "",
    )
