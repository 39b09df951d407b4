"""Special operands: the calls of an op with one special number in one operand, at a time.

In a program of several calls, each call has the number in this operand, in an element that the seed chooses. The other
elements are ordinary, so the reference says by IEEE 754 which elements of the result the number reaches, and which it
must not reach. Inputs that are computed from others are computed after the number is in its place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from fnmatch import fnmatch
from functools import partial
from typing import Any

import ml_dtypes
import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import Draw, is_float
from tf_opdiff.harness.spec.spec import Recipe, Spec
from tf_opdiff.harness.spec.tolerances.budget import entry_of
from tf_opdiff.harness.spec.tolerances.by_mode import mapped
from tf_opdiff.suites.derived.twin import representative, twin
from tf_opdiff.suites.forms.recipes.elements import part
from tf_opdiff.suites.forms.recipes.operands import Operands, changed
from tf_opdiff.suites.reference.promises.exact_results import ExactResults, exact_results
from tf_opdiff.suites.reference.promises.subnormal import Others, flushed_in, wholes

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
#: The largest number of roundings of a subnormal result.
_ROUNDINGS = 64
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
    own = spec.tolerance.alternatives
    alternatives = dict(own) | {
        quantity: partial(_flushed, entry_of(own, quantity), results, i)
        for quantity, results, i in exact_results(spec, count, partial(_with_zeros, dtype))
    }
    bounds = dict.fromkeys(("output", "grad"), _exact) | {**spec.tolerance.bound}
    rounded = {quantity: mapped(partial(partial, _rounded, dtype), bound) for quantity, bound in bounds.items()}
    return {"alternatives": alternatives, "bound": rounded}


def _with_zeros(dtype: np.dtype, xs: Sequence[np.ndarray]) -> Sequence[Sequence[np.ndarray]]:
    """The inputs, and those of a kernel that takes subnormal ones for zeros; nothing if no input is subnormal."""
    return (xs, [flushed_in(dtype, x) for x in xs]) if _subnormal(dtype, *xs) else ()


def _flushed(
    own: Any, exact: ExactResults, number: int, dtype: np.dtype, g: Any, *xs: np.ndarray, **attrs: Any
) -> Others:
    """The alternatives of a spec and, where an input is subnormal, those of a kernel that takes it for a zero."""
    results = [arrays[number] for arrays in exact.arrays(g, xs, attrs)]
    others = [each for result in results for each in (result, flushed_in(dtype, result))]
    return [*(own(dtype, g, *xs, **attrs) if own else ()), *wholes(*others)]


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
