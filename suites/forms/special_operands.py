"""Special operands: the calls of an op with one special number in one operand, at a time.

In a program of several calls, each call has the number in this operand, in an element that the seed chooses. The other
elements are ordinary, so the reference says by IEEE 754 which elements of the result the number reaches, and which it
must not reach. Inputs that are computed from others are computed after the number is in its place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import partial
from typing import Any

import ml_dtypes
import numpy as np

from tf_opdiff.harness.spec.contract import Sparse
from tf_opdiff.harness.spec.inputs.recipes import Draw, is_float
from tf_opdiff.harness.spec.spec import Recipe, Spec
from tf_opdiff.harness.spec.tolerances.budget import entry_of
from tf_opdiff.harness.spec.tolerances.by_mode import mapped
from tf_opdiff.suites.derived.twin import representative, twin
from tf_opdiff.suites.forms.recipes.elements import part
from tf_opdiff.suites.forms.recipes.operands import Operands, changed
from tf_opdiff.suites.reference.promises.promise import together
from tf_opdiff.suites.reference.promises.subnormal import flushed_in

#: The aspect of these twins.
SPECIAL_OPERANDS = "special-operands"
#: Name → the special number of a dtype of floats. The first one is in the default tier.
NUMBERS: Mapping[str, Callable[[np.dtype], float]] = {
    "nan": lambda dtype: np.nan,
    "inf": lambda dtype: np.inf,
    "minus-inf": lambda dtype: -np.inf,
    "minus-zero": lambda dtype: -0.0,
    "subnormal": lambda dtype: 0.375 * float(ml_dtypes.finfo(dtype).smallest_normal),
}
#: The largest number of results of an op per input, and of roundings of a subnormal result.
MOST_RESULTS, _ROUNDINGS = 4, 64
#: The dtype of these twins: one that stands for the others.
_DTYPES = ("float32", "complex64", "float64")


def special_operands(main: Spec, operands: Operands, ordinary: Mapping[str, str]) -> Iterator[Spec]:
    """The twins of a spec: `NAME-special-operands` has NaN, and runs eagerly; `-other` has all numbers, in all modes.

    Args:
      main: the values of an op.
      operands: those of these values.
      ordinary: pattern of recipes that are left out, such as `*inf_0`, or `grad` → the reason.
    """
    dtypes = tuple(dtype for dtype in main.dtypes if dtype in _DTYPES)
    if not dtypes:
        return
    dtype = representative(dtypes)
    recipes = _recipes(main.recipes[operands.label], operands.floating)
    recipes = {name: recipe for name, recipe in recipes.items() if not any(fnmatch(name, p) for p in ordinary)}
    if not recipes:
        return
    fields: dict[str, Any] = {"dtypes": (dtype,), "upstreams": {}, "every_input": False, "recipes": recipes}
    own = twin(main, SPECIAL_OPERANDS, **fields).but(**_flushing(main, np.dtype(dtype), operands.inputs))
    own = own.but(vjp=None) if "grad" in ordinary else own
    first = next(iter(NUMBERS))
    some = {name: recipe for name, recipe in recipes.items() if name.startswith(f"{first}_")}
    if some and "eager" in main.modes:
        yield own.but(recipes=some, modes=("eager",))
    yield own.but(name=f"{own.name}-other", tier="full")


def _recipes(recipe: Recipe, operands: Sequence[int]) -> dict[str, Recipe]:
    """Number and operand → a recipe with this number in this operand of a recipe."""
    return {
        f"{name}_{operand}": changed(recipe, partial(_planted, operand, number))
        for operand in operands
        for name, number in NUMBERS.items()
    }


def _planted(operand: int, number: Callable[[np.dtype], float], i: int, x: np.ndarray, draw: Draw) -> np.ndarray:
    """Operand i of a call, with the number in one element if it is this operand."""
    return _with_number(x, number, draw) if i == operand else x


def _with_number(x: np.ndarray, number: Callable[[np.dtype], float], draw: Draw) -> np.ndarray:
    """An array with the number in one of its elements; an array without elements, or of integers, as it is."""
    if not x.size or not is_float(part(x.dtype)):
        return x
    x = np.array(x)
    at = np.unravel_index(int(draw.integers(1, low=0, high=x.size)[0]), x.shape)
    value = number(part(x.dtype))
    x[at] = complex(value, value) if x.dtype.kind == "c" else value
    return x


def _flushing(spec: Spec, dtype: np.dtype, count: int) -> dict[str, Any]:
    """The tolerance of a spec in a dtype: a kernel may take subnormal numbers among `count` inputs for zeros."""
    alternatives: dict[str, Any] = {**spec.tolerance.alternatives}
    families: dict[str, Any] = {"output": lambda g: spec.reference}
    if spec.derivatives.vjp:
        families["grad"] = partial(partial, spec.derivatives.vjp)
    for family, of in families.items():
        kernel = _Kernel(of)
        for i in range(MOST_RESULTS * count):
            own = entry_of(spec.tolerance.alternatives, f"{family}[{i}]")
            alternatives[f"{family}[{i}]"] = partial(_flushed, own, kernel, i)
    bounds = dict.fromkeys(("output", "grad"), _exact) | {**spec.tolerance.bound}
    rounded = {quantity: mapped(partial(partial, _rounded, dtype), bound) for quantity, bound in bounds.items()}
    return {"alternatives": alternatives, "bound": rounded}


@dataclass
class _Kernel:
    """The results of a reference, and those of a kernel that takes subnormal inputs for zeros.

    of      of(g) → the reference, or the VJP of upstreams g.
    last    the last inputs and their results: all quantities of a case have the same inputs.
    """

    of: Callable[..., Callable[..., Any]]
    last: tuple[Any, list[list[np.ndarray]]] = ((), [])

    def results(self, dtype: np.dtype, g: Any, xs: Sequence[np.ndarray], attrs: Mapping[str, Any]) -> Any:
        """The arrays of all results by the inputs, and by flushed inputs; none if no input is subnormal."""
        own = (g, *xs)
        if len(own) != len(self.last[0]) or any(x is not y for x, y in zip(own, self.last[0], strict=True)):
            inputs = (xs, [flushed_in(dtype, x) for x in xs]) if _subnormal(dtype, *xs) else ()
            self.last = own, [arrays_of(self.of(g)(*each, **attrs)) for each in inputs]
        return self.last[1]


def _flushed(
    own: Any, kernel: _Kernel, number: int, dtype: np.dtype, g: Any, *xs: np.ndarray, **attrs: Any
) -> list[np.ndarray]:
    """The alternatives of a spec and, where an input is subnormal, those of a kernel that takes it for a zero."""
    results = [arrays[number] for arrays in kernel.results(dtype, g, xs, attrs)]
    others = [each for result in results for each in (result, flushed_in(dtype, result))]
    return [*(own(dtype, g, *xs, **attrs) if own else ()), *others]


def arrays_of(promised: Any) -> list[np.ndarray]:
    """The arrays of a promise: those of the results or the gradients, and of the state."""
    *results, last = together(promised)
    values = (*results, *(last.values() if isinstance(last, dict) else [last]))
    return [np.asarray(value.values if isinstance(value, Sparse) else value) for value in values]


def _exact(u: float, g: Any, *xs: np.ndarray, **attrs: Any) -> float:
    """The bound of a result that has no error."""
    return 0.0


def _rounded(dtype: np.dtype, bound: Callable[..., Any], u: float, g: Any, *xs: np.ndarray, **attrs: Any) -> Any:
    """A bound and, where an input is subnormal, the error of some roundings of subnormal numbers."""
    least = float(ml_dtypes.finfo(part(dtype)).smallest_subnormal)
    return np.asarray(bound(u, g, *xs, **attrs)) + (_ROUNDINGS * least if _subnormal(dtype, *xs) else 0.0)


def _subnormal(dtype: np.dtype, *xs: np.ndarray) -> bool:
    """Whether an input has a number that is subnormal in a dtype."""
    return any(bool(np.any((flushed_in(dtype, x) != x) & ~np.isnan(x))) for x in xs if x.dtype.kind in "fc")
