"""Hessian: forward mode of an elementwise op of several inputs, and the gradient of its gradient.

The second derivatives stand in the declaration of the op, each as the terms whose sum it is. The twins
`NAME-second-order` and, for other dtypes than float32, `NAME-second-order-other` have three recipes. `inside` is the
domain of the function. `sizes` are numbers of many sizes, whose fourth powers stay in range. `points` crosses zeros,
ones, infinities and NaN, ties among them.

`inside` and `sizes` leave out inputs at which a result, a derivative or a term is subnormal or near the largest number:
a kernel may flush a factor of it. The recipes of first derivatives have such inputs.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

import ml_dtypes
import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import SIZE, Draw, is_float
from tf_opdiff.harness.spec.spec import Recipe, Spec
from tf_opdiff.harness.spec.tolerances.loose import Loose
from tf_opdiff.suites.derived.twin import in_tiers
from tf_opdiff.suites.reference.promises.function import Interval
from tf_opdiff.suites.reference.reductions.reduction import long

#: A function of the inputs.
Values = Callable[..., Any]
#: terms(g, tangents, *inputs) → the terms of a sum.
Terms = Callable[..., list[np.ndarray]]
#: The numbers of each input that `points` crosses.
POINTS = (0.0, -0.0, 1.0, -1.0, 2.0, 0.5, np.inf, -np.inf, np.nan)


@dataclass(frozen=True, kw_only=True)
class Hessian:
    """What an op of several inputs promises of its second derivatives.

    terms       (i, j) with i <= j → the terms whose sum is the second derivative by the inputs i and j. A pair that is
                absent has the second derivative zero, and TensorFlow connects no gradient. None if second order is not
                promised, because TensorFlow has no gradient of an op that the gradient contains; forward mode is.
    jvp, hvp    the errors of forward mode and of second order, in units of round-off of the sum of the sizes of all
                terms: a sum of products may cancel, and each product is rounded. Measured over 200,000 inputs of each
                recipe and dtype, 2,000 of special functions, in eager mode and under XLA.
    growth      growth(*inputs), a factor of both bounds: the rounded exponent of a power is multiplied by a logarithm.
    domain      the intervals of `inside`; by default, those of the function.
    points      the numbers of each input that `points` crosses; empty for no such recipe.
    sizes       whether there is the recipe `sizes`.
    size        the elements of each recipe.
    recipes     more recipes.
    loose       as of a spec, where TensorFlow's formula loses the digits.
    kept        the recipes of the main spec that take the place of `inside`, where it leaves out more than that.
    function    the function and its first derivatives; `floats` and `special_function` know theirs.
    """

    terms: Mapping[tuple[int, int], Sequence[Values]] | None
    jvp: float
    hvp: float = 0
    growth: Values = lambda *xs: 1.0
    domain: tuple[Interval, ...] = ()
    points: Sequence[Sequence[float]] = (POINTS, POINTS)
    sizes: bool = True
    size: int = 3 * SIZE
    recipes: Mapping[str, Recipe] = field(default_factory=dict)
    loose: Mapping[str, Loose] = field(default_factory=dict)
    kept: Collection[str] = ()
    function: Any = None

    def first(self, g: Any, ts: Sequence[np.ndarray], *xs: np.ndarray) -> list[np.ndarray]:
        """The terms of the directional derivative along the tangents: one for each input that has a derivative."""
        return [long(t) * d(*xs) for t, d in zip(ts, self.function.partials, strict=True) if d]

    def second(self, j: int) -> Terms:
        """The terms of the derivative by input j of the gradients along the tangents."""
        inputs = [i for i, d in enumerate(self.function.partials) if d]
        curves = [(i, f) for i in inputs for f in (self.terms or {}).get((min(i, j), max(i, j)), ())]
        return lambda g, ts, *xs: [long(g) * long(ts[i]) * f(*xs) for i, f in curves]

    def hvp_of(self, g: np.ndarray, ts: Sequence[np.ndarray], *xs: np.ndarray) -> tuple[Any, ...]:
        """The second derivatives along the tangents; None for an input that is not connected."""
        terms = [self.second(j)(g, ts, *xs) for j in range(len(xs))]
        return tuple(sum(each) if each else None for each in terms)

    def all_terms(self) -> dict[str, Terms]:
        """The terms of each quantity."""
        return {"jvp[0]": self.first, **{f"hvp[{j}]": self.second(j) for j in range(len(self.function.partials))}}


def linear(
    *recipes: str, moving: Collection[int] = (0,), sparse: bool = False, suffix: str = "-second-order"
) -> Callable[[Spec], tuple[Spec, ...]]:
    """A function from the spec of an op, without state, to the twins of one that is linear in some inputs.

    It maps their tangents as it maps the inputs. No gradient depends on these inputs, so that second order is
    unconnected.

    Args:
      recipes: the recipes of the spec that the twins keep.
      moving: the numbers of these inputs.
      sparse: whether a gradient is sparse. No reverse mode can follow it then, which second order needs, and forward
        mode in a v1 graph.
      suffix: the end of the names of the twins.
    """

    def moved(ts: Any, *xs: np.ndarray) -> tuple[np.ndarray, ...]:
        tangents = ts if len(xs) > 1 else (ts,)
        return tuple(tangents[i] if i in moving else x for i, x in enumerate(xs))

    def twins(spec: Spec) -> tuple[Spec, ...]:
        allowed, bound = spec.tolerance, cast(Any, spec.tolerance.bound.get("output[0]"))
        twin = spec.but(
            recipes={name: spec.recipes[name] for name in recipes},
            jvp=lambda ts, *xs, **attrs: spec.reference(*moved(ts, *xs), **attrs),
            hvp=None if sparse else lambda g, ts, *xs, **attrs: (None,) * len(xs),
            upstreams={},
            ulp={**allowed.ulp, "jvp": allowed.ulp.get("output", 0)},
            bound={**allowed.bound, **({"jvp": lambda u, g, ts, *xs: bound(u, g, *moved(ts, *xs))} if bound else {})},
            alternatives={},
            modes=tuple(mode for mode in spec.modes if not (sparse and mode == "graph")),
        )
        return by_dtype(twin, spec.name + suffix, [d for d in spec.dtypes if is_float(np.dtype(d))])

    return twins


def chosen_second_order(spec: Spec, *recipes: str) -> tuple[Spec, ...]:
    """The twins of an op that chooses among numbers, such as a maximum: linear wherever it chooses the same ones.

    Forward mode is the transpose of the gradient: each output moves as the sum of the tangents, each times the gradient
    of this output alone. No gradient depends on the inputs, so that second order is unconnected. The spec has one
    output; the twins keep some of its recipes.
    """

    def jvp(ts: Sequence[np.ndarray], *xs: np.ndarray) -> np.ndarray:
        shape = np.shape(spec.reference(*xs))
        moved = np.zeros(shape, np.longdouble)
        for place in np.ndindex(*shape):
            alone = np.zeros(shape)
            alone[place] = 1
            pairs = zip(spec.derivatives.vjp(alone, *xs), ts, strict=True)  # type: ignore[misc]
            moved[place] = sum(np.sum(long(g) * long(t)) for g, t in pairs if g is not None)
        return moved

    twin = spec.but(
        recipes={name: spec.recipes[name] for name in recipes},
        jvp=jvp,
        hvp=lambda g, ts, *xs: (None,) * len(xs),
        upstreams={},
        ulp={**spec.tolerance.ulp, "jvp": spec.tolerance.ulp.get("grad", 0)},
        alternatives={},
        unsigned_zeros=(*spec.tolerance.unsigned_zeros, "jvp"),
    )
    return by_dtype(twin, f"{spec.name}-second-order", [d for d in spec.dtypes if is_float(np.dtype(d))])


def second_orders(main: Spec, name: str, hessian: Hessian) -> tuple[Spec, ...]:
    """The twins of a spec, by its second derivatives; their names begin with that of the op."""
    twin = main.but(
        recipes=_recipes(hessian) | {name: main.recipes[name] for name in hessian.kept},
        upstreams={},
        jvp=lambda ts, *xs: sum(hessian.first(None, ts, *xs)),
        hvp=None if hessian.terms is None else hessian.hvp_of,
        unsigned_zeros=(*main.tolerance.unsigned_zeros, "jvp", "hvp"),
        bound={**main.tolerance.bound, **_bounds(main, hessian)},
        alternatives={
            **main.tolerance.alternatives,
            **{q: _of_either_sign(terms) for q, terms in hessian.all_terms().items()},
        },
        loose={**main.tolerance.loose, **hessian.loose},
    )
    return by_dtype(twin, f"{name}-second-order", main.dtypes)


def by_dtype(curved: Spec, name: str, dtypes: Sequence[str]) -> tuple[Spec, ...]:
    """The twin of a spec in float32, and that in the other dtypes; no twin without a dtype."""
    fields: dict[str, Any] = {"aspect": "second-order", "elementwise": False, "every_input": False, "tier": "full"}
    return in_tiers(replace(curved, name=name, dtypes=tuple(dtypes), **fields), "float32")


def _bounds(main: Spec, hessian: Hessian) -> dict[str, Callable[..., Any]]:
    """The bounds of `jvp` and of each `hvp`: see `Hessian.jvp`.

    Forward mode computes each derivative as the gradient does, so that it also has the bounds of the gradients.
    """

    def of_terms(units: float, terms: Terms) -> Callable[..., Any]:
        return lambda u, g, ts, *xs: units * u * hessian.growth(*xs) * sum(map(np.abs, terms(g, ts, *xs)))

    def first(u: float, g: Any, ts: Any, *xs: Any) -> Any:
        bounds = [main.tolerance.bound.get(f"grad[{i}]") for i in range(len(ts))]
        of_gradients = sum(bound(u, t, *xs) for bound, t in zip(bounds, ts, strict=True) if callable(bound))
        return of_terms(hessian.jvp, hessian.first)(u, g, ts, *xs) + of_gradients

    return {**{q: of_terms(hessian.hvp, terms) for q, terms in hessian.all_terms().items()}, "jvp[0]": first}


def _of_either_sign(terms: Terms) -> Callable[..., list[np.ndarray]]:
    """Alternatives of a sum: an infinity of either sign for a sum of infinities of both signs.

    A program that takes out a common factor, as of t (x - y) - s (x - y), gets an infinity there, and no NaN.
    """

    def alternatives(dtype: np.dtype, *inputs: Any) -> list[np.ndarray]:
        each = terms(*inputs)
        total, open_sign = sum(each), ~np.any([np.isnan(term) for term in each], axis=0)
        return [np.where(np.isnan(total) & open_sign, infinity, total) for infinity in (np.inf, -np.inf)]

    return alternatives


def _recipes(hessian: Hessian) -> dict[str, Recipe]:
    """The recipes of the twins, by name."""
    function = hessian.function
    domain = hessian.domain or function.domain

    def inside(draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
        xs = [draw.uniform(2 * hessian.size, low=low, high=high).astype(dtype) for low, high in domain]
        return tuple(np.floor(x) if i in function.whole else x for i, x in enumerate(xs))

    def sizes(draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
        highest, count = ml_dtypes.finfo(dtype).maxexp // 5, 4 * hessian.size
        powers = [draw.integers(count, low=-highest, high=highest) for _ in domain]
        xs = [np.ldexp(draw.uniform(count, low=1.0, high=2.0), n) * (1 - 2.0 * draw.booleans(count)) for n in powers]
        return tuple((np.abs(x) if low >= 0 else x).astype(dtype) for x, (low, _) in zip(xs, domain, strict=True))

    def points(draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
        crossed = np.meshgrid(*(np.array(values).astype(dtype) for values in hessian.points), indexing="ij")
        return tuple(np.resize(x, hessian.size) for x in crossed)

    recipes: dict[str, Recipe] = {} if hessian.kept else {"inside": _usable(inside, hessian)}
    recipes |= {"sizes": _usable(sizes, hessian)} if hessian.sizes else {}
    return {**recipes, **({"points": points} if hessian.points else {}), **hessian.recipes}


def _usable(recipe: Recipe, hessian: Hessian) -> Recipe:
    """The recipe, without elements at which a result, derivative or term is subnormal or near the largest number."""
    curves = [f for terms in (hessian.terms or {}).values() for f in terms]
    parts = [hessian.function.f, *filter(None, hessian.function.partials), *curves]

    def usable(draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
        xs, info = recipe(draw, dtype), ml_dtypes.finfo(dtype)
        margin = 2.0 ** max(6, int(info.maxexp) // 8)
        least, top = margin * float(info.smallest_normal), float(info.max) / margin
        sizes = [np.abs(f(*(x.astype(np.float64) for x in xs))) for f in parts]
        chosen = np.logical_and.reduce([(size == 0) | (size > least) & (size < top) for size in sizes])
        return tuple(np.resize(x[chosen], hessian.size) for x in xs)

    return usable
