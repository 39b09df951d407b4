"""Special operands: the calls of an op with one special number in one operand, at a time.

In a program of several calls, each call has the number in this operand, in an element that the seed chooses. The other
elements are ordinary, so the reference says by IEEE 754 which elements of the result the number reaches, and which it
must not reach. Inputs that are computed from others are computed after the number is in its place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from fnmatch import fnmatch
from functools import partial
from typing import Any

import ml_dtypes
import numpy as np

from tf_opdiff.harness.spec.attrs import accepted
from tf_opdiff.harness.spec.by_mode import ByMode, mapped
from tf_opdiff.harness.spec.recipes import Draw, is_float
from tf_opdiff.harness.spec.spec import Case, Recipe, Spec
from tf_opdiff.suites.derived.twin import representative, twin
from tf_opdiff.suites.forms.calls import Drawn
from tf_opdiff.suites.forms.elements import part

#: A bound of a spec.
Bound = Callable[..., Any] | ByMode
#: The aspect of these twins.
SPECIAL_OPERANDS = "special-operands"
#: Name → the special number of a dtype of floats. The first one is in the default tier.
NUMBERS: Mapping[str, Callable[[np.dtype], float]] = {
    "nan": lambda dtype: np.nan,
    "inf": lambda dtype: np.inf,
    "minus-inf": lambda dtype: -np.inf,
    "minus-zero": lambda dtype: -0.0,
    "subnormal": lambda dtype: 3 * float(ml_dtypes.finfo(dtype).smallest_subnormal),
}
#: The size of an upstream, and of the other factors of a product.
_FACTOR = 2.0**10
#: The recipes with ordinary numbers, in the order in which they are preferred.
_ORDINARY = ("plain", "domain", "range", "positive")
#: The dtype of these twins: one that stands for the others.
_DTYPES = ("float32", "complex64", "float64")


def special_operands(main: Spec, ordinary: Mapping[str, str]) -> Iterator[Spec]:
    """The twins of a spec: `NAME-special-operands` has NaN, and runs eagerly; `-other` has all numbers, in all modes.

    Args:
      main: the values of an op.
      ordinary: pattern of recipes that are left out, such as `*inf_0`, or `grad` → the reason.
    """
    dtypes = tuple(dtype for dtype in main.dtypes if dtype in _DTYPES)
    recipes = _recipes(main, representative(dtypes)) if dtypes else {}
    recipes = {name: recipe for name, recipe in recipes.items() if not any(fnmatch(name, p) for p in ordinary)}
    if not recipes:
        return
    fields: dict[str, Any] = {"dtypes": (representative(dtypes),), "upstreams": {}, "sweep": False, "recipes": recipes}
    own = twin(main, SPECIAL_OPERANDS, **fields).but(bound=_flushing(main.tolerance.bound))
    own = own.but(vjp=None) if "grad" in ordinary else own
    first = next(iter(NUMBERS))
    some = {name: recipe for name, recipe in recipes.items() if name.startswith(f"{first}_")}
    if some and "eager" in main.modes:
        yield own.but(recipes=some, modes=("eager",))
    yield own.but(name=f"{own.name}-other", tier="full")


def _recipes(spec: Spec, dtype: str) -> dict[str, Recipe]:
    """Number and operand → a recipe with this number in this operand, of the most ordinary recipe of a spec."""
    label = next((name for name in _ORDINARY if name in spec.recipes), next(iter(spec.recipes)))
    recipe, xs = spec.recipes[label], Case(spec, dtype, label, spec.labels[0]).inputs()
    firsts = _first_inputs(recipe) if isinstance(recipe, Drawn) else {i: i for i in range(len(xs))}
    plantable = [operand for operand, i in firsts.items() if xs[i].size and is_float(part(xs[i].dtype))]
    return {
        f"{name}_{operand}": partial(_planted, recipe, operand, number)
        for operand in plantable
        for name, number in NUMBERS.items()
    }


def _first_inputs(recipe: Drawn) -> dict[int, int]:
    """Operand of a call that is drawn → the number of the first input that is this operand."""
    firsts: dict[int, int] = {}
    start = 0
    for call in recipe.calls.values():
        for operand in range(len(call.shapes or ())):
            firsts.setdefault(operand, start + operand)
        start += call.count
    return firsts


def _planted(
    recipe: Recipe, operand: int, number: Callable[[np.dtype], float], draw: Draw, dtype: np.dtype, **keywords: Any
) -> tuple[np.ndarray, ...]:
    """The inputs of a recipe, with the number in one element of the operand of each call."""
    if not isinstance(recipe, Drawn):
        xs = recipe(draw, dtype, **accepted(recipe, keywords))
        return tuple(_with_number(x, number, draw) if i == operand else x for i, x in enumerate(xs))
    elements = [recipe.elements[min(i, len(recipe.elements) - 1)] for i in range(operand + 2)]
    drawn = elements[operand]
    elements[operand] = lambda draw, dtype, *shape: _with_number(drawn(draw, dtype, *shape), number, draw)
    return replace(recipe, elements=(*elements, *recipe.elements[operand + 2 :]))(draw, dtype)


def _with_number(x: np.ndarray, number: Callable[[np.dtype], float], draw: Draw) -> np.ndarray:
    """An array with the number in one of its elements; an array without elements, or of integers, as it is."""
    if not x.size or not is_float(part(x.dtype)):
        return x
    x = np.array(x)
    at = np.unravel_index(int(draw.integers(1, low=0, high=x.size)[0]), x.shape)
    value = number(part(x.dtype))
    x[at] = complex(value, value) if x.dtype.kind == "c" else value
    return x


def _flushing(bounds: Mapping[str, Bound]) -> dict[str, Bound]:
    """The bounds, and one for all other results: where an input is subnormal, a kernel may take products for zeros."""
    none: dict[str, Bound] = dict.fromkeys(("output", "grad"), lambda u, g, *xs, **attrs: 0.0)
    return {quantity: mapped(partial(partial, _with_flushed), bound) for quantity, bound in (none | {**bounds}).items()}


def _with_flushed(bound: Callable[..., Any], u: float, g: Any, *xs: np.ndarray, **attrs: Any) -> Any:
    """A bound, or `_FACTOR` smallest normal numbers of float32 if they are larger, where an input is subnormal."""
    normal = float(np.finfo(np.float32).smallest_normal)
    sizes = (np.abs(x[np.isfinite(x)]) for x in xs if x.dtype.kind in "fc")
    tiny = any(bool(np.any((size > 0) & (size < normal))) for size in sizes)
    return np.asarray(bound(u, g, *xs, **attrs)) + (_FACTOR * normal if tiny else 0.0)
