"""Spec: the promises of an op or a small program, and the cases that test them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any

import numpy as np

from tf_opdiff.harness.spec.claim import Claim, Topic
from tf_opdiff.harness.spec.contract import Raises, Side, Sparse, Undocumented
from tf_opdiff.harness.spec.derivatives import Derivatives
from tf_opdiff.harness.spec.execution import Execution
from tf_opdiff.harness.spec.inputs.attrs import Keywords, accepted
from tf_opdiff.harness.spec.inputs.recipes import Draw
from tf_opdiff.harness.spec.plan import Plan
from tf_opdiff.harness.spec.quantity import family_of, number_of
from tf_opdiff.harness.spec.spec_checks import check_names, check_promises, check_together
from tf_opdiff.harness.spec.spec_fields import Recipe, SpecFields
from tf_opdiff.harness.spec.tolerances.tolerance import Tolerance

#: The names that suites import to declare specs.
__all__ = ("Case", "Claim", "Raises", "Recipe", "Side", "Sparse", "Spec", "Topic", "Unavailable", "Undocumented")

CASE_ID = re.compile(r"[A-Za-z0-9_.=,:+-]{1,150}")
#: The recipes of a sweep: all bit patterns but the subnormal ones, and all subnormal ones.
SWEEPS = ("sweep", "sweep_subnormal")
#: The recipe of a search: the inputs with the largest errors that it found.
SEARCH = "search"
#: The names of recipes that a spec does not declare: their inputs are known by bit patterns.
BY_PATTERNS = (*SWEEPS, SEARCH)


class Unavailable(Exception):
    """Raised by a program that can't run on this machine; the message names the missing part, such as a compiler."""


#: The fields that hold groups of fields, and the class of each group.
GROUPS: Mapping[str, type[Any]] = {"tolerance": Tolerance, "derivatives": Derivatives, "execution": Execution}
_FIELDS = {name: [field.name for field in fields(group)] for name, group in GROUPS.items()}


class Spec(SpecFields):
    """The promises of an op or a small program; `SpecFields` says what each of its fields means.

    Raises:
      TypeError, ValueError: a field holds no value of its kind, or two fields exclude each other.
    """

    def __init__(self, **declared: Any) -> None:
        try:
            for name, group in GROUPS.items():
                own = {field: declared.pop(field) for field in _FIELDS[name] if field in declared}
                if own or not isinstance(declared.get(name), group):
                    declared[name] = replace(declared.get(name, group()), **own)
            super().__init__(**declared)
            check_names(self)
            check_together(self)
            check_promises(self)
            self._check_ids()
        except (TypeError, ValueError) as why:
            says = str(why).replace("SpecFields.__init__", "Spec.__init__")
            raise type(why)(f"spec {declared.get('name')}: {says}") from why

    def but(self, **changes: Any) -> Spec:
        """A copy of the spec with other values of some fields, or of fields of its groups."""
        return replace(self, **changes)

    def _check_ids(self) -> None:
        """Refuses case ids that a command line could not name."""
        for case in self.cases():
            if not CASE_ID.fullmatch(case.id):
                raise ValueError(f"case id {case.id!r} does not match {CASE_ID.pattern}")

    def cases(self, dtype: str | None = None) -> tuple[Case, ...]:
        """The spec's cases, of one dtype if `dtype` names one, in the order of declaration."""
        dtypes = self.dtypes if dtype is None else (dtype,)
        return self._cases(dtypes, self.recipes)

    def sweeps(self, dtype: str) -> tuple[Case, ...]:
        """The sweep cases of a dtype; none if the spec can't be swept."""
        return self._cases((dtype,), SWEEPS) if self.sweepable else ()

    def _cases(self, dtypes: Iterable[str], recipes: Iterable[str]) -> tuple[Case, ...]:
        return tuple(Case(self, d, r, label) for d in dtypes for label in self.labels for r in recipes)

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of `attrs`; one empty label if the spec has no `attrs`."""
        return tuple(self.attrs) or ("",)

    def ops_in(self, mode: str, variants: Iterable[str] = ()) -> tuple[str, ...]:
        """The names of OpDefs that the graph of this mode must contain, on a device with these variants."""
        names = self.ops
        if isinstance(names, Mapping):
            names = next((names[f"+{v}"] for v in variants if f"+{v}" in names), names.get(mode, ""))
        return tuple(filter(None, names.split(";")))

    @property
    def every_op(self) -> frozenset[str]:
        """The names of OpDefs that the graph of some mode must contain, on a device without variants."""
        return frozenset(op for mode in self.modes for op in self.ops_in(mode))

    def side(self, plan: Plan) -> Side | None:
        """The side of the contract that applies to this plan; None if the reference applies."""
        return self.contract.get(self.promise(plan))

    def promise(self, plan: Plan) -> str:
        """The name of a plan's promise: a pattern of the contract, or empty if the reference applies.

        Patterns with equal sides share one promise, named by the first of these patterns.
        """
        sides = (s for p, s in self.contract.items() if plan.matches(p) and s.unless not in plan.device.variants)
        side = next(sides, None)
        return "" if side is None else next(p for p, s in self.contract.items() if s == side)

    def runs_under(self, plan: Plan) -> bool:
        """Whether a plan can express the program, and is for one of its ops."""
        return plan.mode in self.modes and (not plan.ops or not plan.ops.isdisjoint(self.ops_in(plan.mode)))

    @property
    def sweepable(self) -> bool:
        """Whether sweeps can run the spec: it has one input, and holds for every bit pattern."""
        return self.every_input and self.takes_one_input

    def called_with(self, keywords: Keywords) -> Spec:
        """A copy of the spec with these keyword arguments bound to its program and state; the copy has no cases."""
        if not keywords:
            return self
        state = self.execution.state
        state = state and partial(state, **accepted(state, keywords))
        return self.but(program=partial(self.program, **keywords), state=state, attrs={}, recipes={}, upstreams={})

    def name_of(self, quantity: str) -> str:
        """The name of an output; empty for an output without a name, and for other quantities."""
        number = number_of(quantity)
        return self.names[number] if family_of(quantity) == "output" and number < len(self.names) else ""


@dataclass(frozen=True)
class Case:
    """One dtype, one label of `attrs` (empty if the spec has none) and one input recipe of a spec."""

    spec: Spec
    dtype: str
    recipe: str
    attrs: str = ""

    def __post_init__(self) -> None:
        if self.attrs not in self.spec.labels:
            expected = ", ".join(filter(None, self.spec.labels)) or "none"
            raise ValueError(f"spec {self.spec.name}: attrs {self.attrs!r}: expected {expected}")

    @property
    def id(self) -> str:
        return self._id_in(self.spec.name)

    def _id_in(self, spec: str) -> str:
        return "-".join(filter(None, (spec, self.dtype, self.attrs, self.recipe)))

    @property
    def keywords(self) -> Keywords:
        """The keyword arguments for the functions of the spec."""
        return self.spec.attrs.get(self.attrs, {})

    @property
    def seed(self) -> int:
        """A hash of the id, so a case has the same inputs on every machine; of a twin, those of the other spec."""
        id = self._id_in(self.spec.twin_of or self.spec.name)
        return int.from_bytes(hashlib.blake2b(id.encode(), digest_size=8).digest(), "big")

    def inputs(self) -> tuple[np.ndarray, ...]:
        """The case's input arrays; every call returns the same values."""
        recipe = self.spec.recipes[self.recipe]
        with np.errstate(all="ignore"):
            arrays = recipe(Draw(self.seed), np.dtype(self.dtype), **accepted(recipe, self.keywords))
        return tuple(np.asarray(a) for a in arrays)
