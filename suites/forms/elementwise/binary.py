"""Binary: parts that promise values and gradients of a function of two floats, summed over axes that are broadcast."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import FLOATS, Draw, bit_patterns, plain, subnormals
from tf_opdiff.harness.spec.spec import Recipe
from tf_opdiff.harness.spec.tolerances.by_mode import all_modes
from tf_opdiff.suites.derived.hessian import Hessian
from tf_opdiff.suites.forms.bounds import Budget, by_dtype
from tf_opdiff.suites.forms.elementwise.flushed import either
from tf_opdiff.suites.forms.elementwise.subnormal import subnormal_numbers
from tf_opdiff.suites.forms.part import Part, part, together
from tf_opdiff.suites.forms.recipes.hard_pairs import crossed_upstreams, hard_pairs
from tf_opdiff.suites.forms.recipes.left_out import Region
from tf_opdiff.suites.forms.recipes.pairs import crossed, extreme_regions, many, normal, replaced, within
from tf_opdiff.suites.reference.elementwise.arithmetic import SUM
from tf_opdiff.suites.reference.elementwise.broadcast import unbroadcast
from tf_opdiff.suites.reference.promises.function import Function, Interval

#: The upstreams of the recipe that `hard_pairs` names so.
UPSTREAMS = {"upstreams": crossed_upstreams}
_SHAPES: dict[str, tuple[tuple[int, ...], ...]] = {
    "outer": ((4, 1), (1, 17)),
    "scalar": ((), (3, 5)),
    "empty": ((0, 3), (3,)),
}
#: Pairs on which every function of two floats is tried.
PAIRS: dict[str, Recipe] = {"edges": crossed, "bits": many(bit_patterns), "plain": many(plain)}
#: Those whose sum is a normal number, for functions that are exact.
EXACT_PAIRS = {name: normal(recipe, SUM) for name, recipe in PAIRS.items()}


@dataclass(frozen=True)
class Instead:
    """Inputs to take in place of those for which condition(dtype, *arguments) holds."""

    condition: Callable[..., Any]
    x: float
    y: float

    def of(self, recipe: Recipe) -> Recipe:
        return replaced(recipe, self.condition, self.x, self.y)


def products(function: Function) -> Callable[..., Any]:
    """The VJP of a function: each derivative times the upstream, summed over axes that are broadcast."""

    def vjp(g: np.ndarray, *xs: np.ndarray) -> tuple[Any, ...]:
        pairs = zip(function.partials, xs, strict=True)
        return tuple(None if d is None else unbroadcast(g * d(*xs), x.shape) for d, x in pairs)

    return vjp


def no_nan_vjp(function: Function) -> Callable[..., Any]:
    """As any other VJP, but +0 for x where y is 0, and not g × 0: there the kernel does not multiply."""
    vjp = products(function)

    def chosen(g: np.ndarray, x: np.ndarray, y: np.ndarray) -> tuple[Any, Any]:
        return vjp(np.where(y == 0, 1, g), x, y)[0], vjp(g, x, y)[1]

    return chosen


def floats(
    function: Function,
    *,
    ulp: Mapping[str, Budget],
    vjp_of: Callable[[Function], Callable[..., Any]] = products,
    instead: Sequence[Instead] = (),
    hard_without: Mapping[str, Region] | None = None,
    hessian: Hessian | None = None,
    **fields: Any,
) -> Part:
    """A part: a function of two floats with both gradients, also where arguments are broadcast.

    Args:
      function: the function.
      ulp: budgets of `output` and `grad`, measured with AVX-512, in all modes.
      vjp_of: the function's VJP; by default, each derivative times the upstream.
      instead: inputs that have specs of their own.
      hard_without: name of a recipe of `hard_pairs` → the region that it leaves to others.
      hessian: its second derivatives.
      fields: further fields of the values.
    """
    if ulp.keys() != {"output", "grad"}:
        raise ValueError(f"ulp: expected budgets of output and grad, got those of {', '.join(ulp) or 'nothing'}")
    promise = function.wider or function
    vjp, hard = vjp_of(promise), hard_pairs_of(function, instead)
    hard |= {name: replaced(hard[name], region, 1, 1) for name, region in (hard_without or {}).items()}
    bound = summed(function.partials, each=2 * max(float(np.max(one)) for one in all_modes(ulp["grad"])))
    return together(
        part(
            positions=True,
            every_input=True,
            reference=promise,
            vjp=vjp,
            recipes={**pairs_of(function, instead), **hard},
            upstreams=UPSTREAMS,
            dtypes=FLOATS,
            ulp={quantity: by_dtype(budget, FLOATS) for quantity, budget in ulp.items()},
            hessian=hessian and replace(hessian, function=function),
            **{"alternatives": either(promise, vjp_of), **fields},
        ),
        broadcast(function, vjp, output=ulp["output"], domain=function.domain, bound=bound),
    )


def pairs_of(function: Function, instead: Sequence[Instead] = (), *, gradient: bool = True) -> dict[str, Recipe]:
    """Recipes: pairs from all floats, and from the function's domain. Their results are normal numbers."""
    recipes = {**PAIRS, "domain": within(*function.domain)}
    for other in instead:
        recipes = {name: other.of(recipe) for name, recipe in recipes.items()}
    return {name: normal(recipe, function, gradient) for name, recipe in recipes.items()}


def hard_pairs_of(function: Function, instead: Sequence[Instead] = (), *, gradient: bool = True) -> dict[str, Recipe]:
    """Recipes: subnormal pairs, pairs of all sizes, special pairs, and the inputs that `pairs_of` leaves out."""
    extreme = extreme_regions(function, gradient)
    huge = {name: extreme.pop(name) for name in ("huge_derivative",) if name in extreme}
    others = {f"replaced_{i}": other.condition for i, other in enumerate(instead)}
    return hard_pairs({"underflow": extreme, "huge": huge, "replaced": others}, within(*function.domain))


def hard_exact_pairs(left_out: Mapping[str, Mapping[str, Region]] | None = None, *extra: Recipe) -> dict[str, Recipe]:
    """Recipes of functions that are exact: those of `hard_pairs`, with the inputs that `EXACT_PAIRS` leave out."""
    return hard_pairs({"underflow": extreme_regions(SUM), **(left_out or {})}, *extra)


def broadcast(
    reference: Callable[..., Any],
    vjp: Callable[..., Any],
    *,
    output: Budget = 0,
    domain: Sequence[Interval],
    bound: Mapping[str, Callable[..., Any]],
) -> Part:
    """A part: two float32 arguments whose shapes differ, each in its interval of the domain."""
    recipes = {name: _spread(domain, *shapes) for name, shapes in _SHAPES.items()}
    return part(
        "-broadcast",
        reference=reference,
        vjp=vjp,
        recipes=recipes,
        ulp={"output": by_dtype(output, FLOATS)},
        bound=bound,
    )


def subnormal_results(reference: Callable[..., Any], **fields: Any) -> Part:
    """A part: subnormal numbers and results, which a CPU may flush to zero; `fields` are other fields of its spec."""
    own: dict[str, Any] = {"reference": reference, "ulp": {"output": 0.5}, **fields}
    return subnormal_numbers({"subnormals": subnormal_pairs}, results=True, **own)


def summed(partials: Sequence[Callable[..., Any] | None], each: float) -> dict[str, Callable[..., Any]]:
    """Bounds (n - 1 + each) u Σ|g d|: broadcasting sums up n terms, each off by `each` units of round-off."""

    def bound(argument: int, d: Callable[..., Any]) -> Callable[..., Any]:
        def allowed(u: float, g: np.ndarray, *xs: np.ndarray) -> np.ndarray:
            terms = np.abs(g * d(*xs))
            n = np.size(g) // max(1, np.size(xs[argument]))
            return (n - 1 + each) * u * unbroadcast(np.broadcast_to(terms, np.shape(g)), np.shape(xs[argument]))

        return allowed

    return {f"grad[{i}]": bound(i, d) for i, d in enumerate(partials) if d is not None}


def product_of(*values: Sequence[float]) -> Recipe:
    """A recipe: each value of an argument with each value of the others."""

    def recipe(draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
        crossed = np.meshgrid(*(np.array(xs).astype(dtype) for xs in values), indexing="ij")
        return tuple(np.resize(a, 199) for a in crossed)

    return recipe


def subnormal_pairs(draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
    """Subnormal numbers with subnormal numbers, and with plain numbers, in either order."""
    x, y, p, q = (r(draw, dtype)[0] for r in (subnormals, subnormals, plain, plain))
    return np.concatenate([x, x, p]), np.concatenate([np.roll(y, 5), q, y])


def _spread(domain: Sequence[Interval], *shapes: tuple[int, ...]) -> Recipe:
    """A recipe: arguments of these shapes, each in its interval."""
    return lambda draw, dtype: tuple(
        draw.uniform(*shape, low=low, high=high).astype(dtype)
        for shape, (low, high) in zip(shapes, domain, strict=True)
    )
