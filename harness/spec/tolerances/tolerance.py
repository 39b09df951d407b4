"""Tolerance: how far each result of a spec may be off."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from tf_opdiff.harness.spec.tolerances.budget import Budgets, check_budgets, check_quantity, entry_of, ulps_of
from tf_opdiff.harness.spec.tolerances.by_mode import ByMode, all_modes, mode_family
from tf_opdiff.harness.spec.tolerances.ceiling import Ceiling, Ceilings
from tf_opdiff.harness.spec.tolerances.loose import Loose


@dataclass(frozen=True, kw_only=True)
class Tolerance:
    """How far each result may be off: by quantity (`output[0]`, `grad[1]`) or by family of quantities (`output`).

    The quantities and families are `output`, `grad`, `jvp` and `hvp`; the entry of a quantity replaces that of its
    family. A result may be off by its budget or by its bound, whichever is larger, but by no more than its ceiling.
    `harness.judge.promises.allowed` computes the allowed error of each element.

    ulp                         budgets in ULPs of the result's dtype; where needed, a dict by dtype.
                                `by_mode(eager=…, xla=…)` in place of a budget has one for XLA and another for all other
                                modes. A quantity without a budget must be exact.
    bound                       bound(u, g, *inputs), for `jvp` and `hvp` bound(u, g, t, *inputs), → the largest allowed
                                absolute error. For accumulations, and for errors that grow with the input. `u` is the
                                unit round-off of the case's dtype. May be `by_mode` as well.
    ceilings                    dtype → family of modes → `harness.spec.tolerances.ceiling.Ceiling`, of a quantity: the
                                largest distance in ULPs by exponent of the only input, as measured. It narrows the
                                budget and the bound where it was measured: on the CPU of this machine.
    loose                       `harness.spec.tolerances.loose.Loose`: the elements at which the bound may allow more
                                than half of the digits, or more than 2^12 ULPs (see
                                `harness.judge.promises.loose_bounds`), because the program itself loses them, and a
                                sentence that says how.
    alternatives                alternatives(dtype, g, *inputs), for `jvp` and `hvp` alternatives(dtype, g, t, *inputs),
                                → further arrays of the promise's shape, which each element may keep by itself, and
                                tuples of such arrays: whole alternatives. A result that keeps a whole alternative in
                                place of the promise keeps one of its arrays at each element. A processor that flushes
                                subnormal numbers does so at every element: see `suites.forms.elementwise.flushed`.
                                `dtype` is the NumPy dtype of the case. A side of a contract has its own.
    unsigned_zeros              a tuple of the quantities in which zeros of either sign are right, such as the maximum
                                of +0 and -0: see docs/explanations/conventions.md.

    Raises:
      TypeError, ValueError: a quantity does not exist, or an entry is no value of its kind.
    """

    ulp: Budgets = field(default_factory=dict)
    bound: Mapping[str, Callable[..., Any] | ByMode] = field(default_factory=dict)
    ceilings: Ceilings = field(default_factory=dict)
    loose: Mapping[str, Loose] = field(default_factory=dict)
    alternatives: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    unsigned_zeros: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_budgets(self.ulp)
        for quantity in (*self.bound, *self.alternatives, *self.loose):
            check_quantity(quantity)
        for what, function in self.functions():
            if not callable(function):
                raise TypeError(f"{what}: expected a function, got {function!r}")
        for quantity, loose in self.loose.items():
            if not isinstance(loose, Loose):
                raise TypeError(f"loose of {quantity}: expected Loose(where, reason), got {loose!r}")

    def functions(self) -> Iterator[tuple[str, Callable[..., Any]]]:
        """Pairs (name in messages, function) of the functions that are called with the attributes of a case."""
        yield from ((f"bound of {quantity}", b) for quantity, bounds in self.bound.items() for b in all_modes(bounds))
        yield from ((f"alternatives of {quantity}", function) for quantity, function in self.alternatives.items())

    def ulps(self, quantity: str, dtype: str, mode: str) -> float:
        """The budget of a quantity in ULPs of the result's dtype, in a dtype and a mode."""
        return ulps_of(self.ulp, quantity, dtype, mode)

    def bound_of(self, quantity: str) -> Callable[..., Any] | ByMode | None:
        """The bound of a quantity or of its family; None if there is none."""
        return entry_of(self.bound, quantity)

    def ceiling_of(self, quantity: str, dtype: str, mode: str) -> Ceiling | None:
        """The measured ceiling of a quantity in a dtype and a mode; None if there is none."""
        return self.ceilings.get(quantity, {}).get(dtype, {}).get(mode_family(mode))

    def loose_of(self, quantity: str) -> Loose | None:
        """The loose elements of a quantity or of its family, and the reason; None if there are none."""
        return entry_of(self.loose, quantity)

    def has_unsigned_zeros(self, quantity: str) -> bool:
        """Whether zeros of either sign are right in a quantity."""
        return bool(entry_of(dict.fromkeys(self.unsigned_zeros, True), quantity))

    def by_modes(self, quantity: str) -> bool:
        """Whether the budget, the bound or the ceiling of a quantity depends on the mode."""
        if quantity in self.ceilings:
            return True
        budget = entry_of(self.ulp, quantity)
        parts = [budget, self.bound_of(quantity), *(budget.values() if isinstance(budget, Mapping) else ())]
        return any(isinstance(part, ByMode) for part in parts)
