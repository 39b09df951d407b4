"""Catalog: all specs of the suites, by name."""

from __future__ import annotations

import gc
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, cached_property
from types import MappingProxyType

from tf_opdiff.harness.spec.lists.tiers import TIERS
from tf_opdiff.harness.spec.similar import unknown
from tf_opdiff.harness.spec.spec import Case, Spec
from tf_opdiff.harness.spec.suite_modules import imported, modules_with_specs


@dataclass(frozen=True)
class Item:
    """A spec × dtype: one test of pytest."""

    module: str
    spec: Spec
    dtype: str

    @property
    def suite(self) -> str:
        return self.module.rpartition(".")[2]

    @property
    def id(self) -> str:
        return f"{self.spec.name}-{self.dtype}"

    @property
    def tier(self) -> str:
        return self.spec.tier_in(self.dtype)

    @property
    def cases(self) -> tuple[Case, ...]:
        return self.spec.cases(self.dtype)

    @property
    def sweeps(self) -> tuple[Case, ...]:
        """The sweep cases of a 16-bit dtype; other dtypes have too many bit patterns for an item."""
        return self.spec.sweeps(self.dtype) if self.dtype in ("float16", "bfloat16") else ()


@dataclass(frozen=True)
class Catalog:
    """The items of every suite, in order."""

    items: tuple[Item, ...]

    @classmethod
    @cache
    def load(cls, packages: str) -> Catalog:
        """Imports modules of suites, or all modules of packages and their subpackages, and reads their `SPECS`.

        `packages` holds one name, or several with spaces between them, such as one's own suites and these.
        If a package has `SPECS` itself, its modules are not searched. A process reads them once.

        Raises:
          ValueError: a module can't be imported (for example, a spec lacks its reference), two specs have the same
            name, or two cases have the same id.
        """
        with _without_garbage_collection():
            return cls(_items(packages))

    @cached_property
    def specs(self) -> Mapping[str, Spec]:
        """The specs by name; made once, because each known failure looks for its own."""
        return MappingProxyType({item.spec.name: item.spec for item in self.items})

    @cached_property
    def twins(self) -> Mapping[str, tuple[str, ...]]:
        """The names of the specs that are twins of a spec, by its name: see `twin_of` in `SpecFields`."""
        twins: dict[str, tuple[str, ...]] = {}
        for spec in self.specs.values():
            if spec.twin_of:
                twins[spec.twin_of] = (*twins.get(spec.twin_of, ()), spec.name)
        return MappingProxyType(twins)

    @cached_property
    def cases(self) -> Mapping[str, Case]:
        """The cases by id, with the sweeps that items run."""
        return {case.id: case for item in self.items for case in (*item.cases, *item.sweeps)}

    @cached_property
    def smoke(self) -> Mapping[str, tuple[str, ...]]:
        """Item id → case ids of the smoke tier: all cases of its specs, one of every other op of the default tier.

        An op's case is the first of the first spec about it, in float32 if the spec has it. Ops that a spec compiles
        itself are not TensorFlow's: only the default tier has them, because a compiler takes long.
        """
        chosen: dict[str, tuple[str, ...]] = {}
        ops: set[str] = set()
        for item in sorted(self.items, key=lambda item: (TIERS.index(item.tier), item.dtype != "float32")):
            about = item.spec.every_op
            if item.tier == "smoke":
                chosen[item.id] = tuple(case.id for case in item.cases)
            elif item.tier == "default" and about - ops and not item.spec.files:
                chosen[item.id] = (item.cases[0].id,)
            else:
                continue
            ops |= about
        return MappingProxyType(chosen)

    def named(self, name: str) -> set[str]:
        """The names of the specs that have this name, belong to this family, or run this OpDef.

        Raises:
          LookupError: no spec matches; the message names similar names.
        """
        if name not in self._by_name:
            raise LookupError(unknown("op", name, self._by_name.keys()))
        return self._by_name[name]

    @cached_property
    def _by_name(self) -> Mapping[str, set[str]]:
        """The names of specs by the name of a spec, of a family and of an OpDef."""
        matching: dict[str, set[str]] = {}
        for spec, suite in {item.spec.name: (item.spec, item.suite) for item in self.items}.values():
            for key in {spec.name, suite, *spec.every_op}:
                matching.setdefault(key, set()).add(spec.name)
        return matching

    def within(self, module: str, name: str = "") -> set[str]:
        """The ids of the items of a module or package; of all suites if `module` is empty.

        `name` selects one spec or item among them; pytest's `test_op[ID]` selects the item ID.

        Raises:
          LookupError: the module has no specs, or none of its specs and items has this name.
          ValueError: the module does not exist, or can't be imported.
        """
        generic = re.fullmatch(r"test_op(?:\[(.*)\])?", name)
        wanted = (generic[1] or "") if generic else name
        if module not in self._modules:
            self._modules[module] = self._names_in(module)
        named = self._modules[module]
        if wanted not in named:
            names = named.keys() - {""}
            raise LookupError(unknown(f"spec or item of {module}:" if module else "spec or item", wanted, names))
        return named[wanted]

    @cached_property
    def _modules(self) -> dict[str, Mapping[str, set[str]]]:
        """The modules that were asked for, with their names: a run may name thousands of items of one module."""
        return {}

    def _names_in(self, module: str) -> Mapping[str, set[str]]:
        """The ids of a module's items by the name of a spec and by the id itself; all of them by an empty name."""
        specs = self._specs_of(module) if module else set(self.specs)
        if not specs:
            raise LookupError(f"{module}: expected a module of suites, with SPECS")
        named: dict[str, set[str]] = {}
        for item in self.items:
            if item.spec.name in specs:
                for name in ("", item.spec.name, item.id):
                    named.setdefault(name, set()).add(item.id)
        return named

    def _specs_of(self, module: str) -> set[str]:
        """The names of the specs in a module's `SPECS`; for a package without `SPECS`, of the specs in its modules."""
        own = {spec.name for spec in getattr(imported(module), "SPECS", ())}
        return own or {item.spec.name for item in self.items if item.module.startswith(f"{module}.")}

    def select(
        self,
        *,
        tier: str = "default",
        ops: Iterable[str] = (),
        cases: Iterable[str] = (),
        within: Iterable[tuple[str, str]] = (),
    ) -> tuple[Item, ...]:
        """The items of a tier and of the tiers below it that match `ops`, `cases` and `within`.

        An item matches each of the three if it matches any of its entries. An empty one matches every item.
        Items of named `cases` are selected in any tier. Those of the smoke tier are in `smoke`.

        Args:
          tier: one of `TIERS`.
          ops: names of specs, families or OpDefs.
          cases: ids of cases.
          within: pairs (module, name), the arguments of `Catalog.within`.

        Raises:
          LookupError: a name is unknown.
        """
        wanted = TIERS.index(tier)
        scopes = [self.within(module, name) for module, name in within]
        inside = set().union(*scopes) if scopes else {item.id for item in self.items}
        specs = {name for op in ops for name in self.named(op)} if ops else set(self.specs)
        known = self.cases if cases else {}
        for case in cases:
            if case not in known:
                raise LookupError(unknown("case", case, set(known)))
        items = {(known[c].spec.name, known[c].dtype) for c in cases}
        if tier == "smoke" and not cases:
            inside &= self.smoke.keys()
            wanted = TIERS.index("default")
        return tuple(
            item
            for item in self.items
            if item.spec.name in specs
            and item.id in inside
            and (not cases or (item.spec.name, item.dtype) in items)
            and (cases or TIERS.index(item.tier) <= wanted)
        )


@contextmanager
def _without_garbage_collection() -> Iterator[None]:
    """Pauses garbage collection: specs live to the end of the process, and walking them again and again is slow."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _items(packages: str) -> tuple[Item, ...]:
    """The items of `Catalog.load`."""
    modules: dict[str, str] = {}  # by the name of the spec
    items: list[Item] = []
    for module in [m for package in packages.split() for m in sorted(modules_with_specs(package))]:
        for spec in imported(module).SPECS:
            if spec.name in modules:
                raise ValueError(f"spec {spec.name!r} stands in {modules[spec.name]} and again in {module}")
            modules[spec.name] = module
            items.extend(Item(module, spec, dtype) for dtype in spec.dtypes)
    _check_ids(items)
    return tuple(items)


def _check_ids(items: Iterable[Item]) -> None:
    """Refuses two cases with the same id: they would share a seed and a cell of a run.

    Raises:
      ValueError: two cases have the same id; the message names their specs.
    """
    cases: dict[str, Case] = {}
    for case in (case for item in items for case in (*item.cases, *item.spec.sweeps(item.dtype))):
        other = cases.setdefault(case.id, case)
        if other is not case:
            specs = f"of a case of {other.spec.name!r} and of one of {case.spec.name!r}"
            raise ValueError(f"case id {case.id!r} is that {specs}")
