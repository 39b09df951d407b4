"""Allowed: the errors and the alternatives that the tolerance of a spec allows, computed for the promises of a case."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import ml_dtypes
import numpy as np

from tf_opdiff.harness.judge.promises import reference
from tf_opdiff.harness.judge.promises.reference import ReferenceFault
from tf_opdiff.harness.judge.promises.want import Want
from tf_opdiff.harness.spec.contract import Side
from tf_opdiff.harness.spec.inputs.recipes import is_float
from tf_opdiff.harness.spec.modes import MODE_FAMILIES
from tf_opdiff.harness.spec.quantity import family_of
from tf_opdiff.harness.spec.spec import Case
from tf_opdiff.harness.spec.tolerances.budget import entry_of
from tf_opdiff.harness.spec.tolerances.by_mode import ByMode, mapped


@dataclass(frozen=True)
class Arguments:
    """Widened arguments of a derivative or a bound: inputs, upstreams, tangents; several of a kind are a tuple."""

    inputs: tuple[np.ndarray, ...]
    upstreams: Any = None
    tangents: Any = None

    def of(self, quantity: str) -> tuple[Any, ...]:
        """The arguments of a bound, or of alternatives: upstreams, tangents for `jvp` and `hvp`, inputs."""
        tangents = (self.tangents,) if family_of(quantity) in ("jvp", "hvp") else ()
        return self.upstreams, *tangents, *self.inputs


def limited(case: Case, wants: Mapping[str, Want], arguments: Arguments, side: Side | None) -> dict[str, Want]:
    """The promises with the budgets, bounds and alternatives that the side, or else the spec, allows."""
    bounded = {q: _bounded(case, q, budgeted(case, q, want), arguments, side) for q, want in wants.items()}
    alternatives = (side or case.spec.tolerance).alternatives
    return {q: _with_alternatives(case, q, want, arguments, alternatives) for q, want in bounded.items()}


def budgeted(case: Case, quantity: str, want: Want) -> Want:
    """The promise with the budget of the spec."""
    eager, xla = (case.spec.tolerance.ulps(quantity, case.dtype, family) for family in MODE_FAMILIES)
    return replace(want, budget=eager) if eager == xla else replace(want, budgets=ByMode(eager=eager, xla=xla))


def _with_alternatives(
    case: Case, quantity: str, want: Want, arguments: Arguments, alternatives: Mapping[str, Callable[..., Any]]
) -> Want:
    """The promise with the alternatives of the spec or the side; unchanged if they have none for the quantity.

    Raises:
      ReferenceFault: the alternatives raised, or one does not have the promise's shape.
    """
    function = entry_of(alternatives, quantity)
    if not function or want.value is None:
        return want
    what = f"alternatives of {quantity}"
    values = reference.call(function, what, case, np.dtype(case.dtype), *arguments.of(quantity))
    each = [(number if isinstance(value, tuple) else 0, value) for number, value in enumerate(values, 1)]
    arrays = [(group, np.asarray(a)) for group, value in each for a in (value if group else (value,))]
    for _, array in arrays:
        if array.shape != want.value.shape:
            shapes = f"have shape {array.shape}: expected {want.value.shape}"
            raise ReferenceFault(f"the {what} of {case.id} {shapes}")
    equal: dict[tuple[str, bytes], np.ndarray] = {}  # groups share most of their arrays
    shared = tuple(equal.setdefault((array.dtype.str, array.tobytes()), array) for _, array in arrays)
    return replace(want, alternatives=shared, groups=tuple(group for group, _ in arrays))


def _bounded(case: Case, quantity: str, want: Want, arguments: Arguments, side: Side | None) -> Want:
    """The promise with the largest absolute error that the side or the spec allows; unchanged if neither has a bound.

    If the spec's bound depends on the mode, so does that of the promise.

    A bound may be NaN or infinite where the promise or its derivative is; NaN allows nothing.

    Raises:
      ReferenceFault: the bound raised, has negative or complex elements, or does not have the promise's shape.
    """
    bound = (side and entry_of(side.bound, quantity)) or case.spec.tolerance.bound_of(quantity)
    if not bound or want.value is None:  # no gradients for a bool, say
        return want
    if isinstance(bound, ByMode):
        return replace(want, bounds=mapped(partial(_allowed, case, quantity, want.value, arguments), bound))
    return replace(want, bound=_allowed(case, quantity, want.value, arguments, bound))


def _allowed(
    case: Case, quantity: str, value: np.ndarray, arguments: Arguments, bound: Callable[..., Any]
) -> np.ndarray:
    """The largest absolute error of each element of a promised value, by one bound."""
    dtype = np.dtype(case.dtype)
    unit = float(ml_dtypes.finfo(dtype).eps) / 2 if dtype.kind == "c" or is_float(dtype) else 0.0
    what = f"bound of {quantity}"
    allowed = np.asarray(reference.call(bound, what, case, unit, *arguments.of(quantity)))
    if allowed.dtype.kind not in "biuf":
        raise ReferenceFault(f"the {what} of {case.id} is {allowed.dtype}: expected real numbers")
    try:
        everywhere = np.broadcast_to(allowed, value.shape)
    except ValueError as error:
        shapes = f"has shape {allowed.shape}: expected {value.shape}"
        raise ReferenceFault(f"the {what} of {case.id} {shapes}") from error
    finite = np.isfinite(value)
    if (allowed < 0).any():
        raise ReferenceFault(f"the {what} of {case.id} is {allowed.min()}: expected no negative number")
    if finite.any() and ((not allowed.ndim and np.isnan(allowed)) or np.isposinf(everywhere[finite]).all()):
        raise ReferenceFault(f"the {what} of {case.id} is {allowed.flat[0]} everywhere: expected finite numbers")
    return allowed
