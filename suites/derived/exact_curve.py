"""Exact curve: forward mode and second order of a unary op whose second derivative is known as a formula.

The twin `NAME-second-order` has four recipes. `inside` and `limits` leave out the inputs at which TensorFlow's formula
loses the digits, or at which the op itself has a recipe of its own; `lost` has these, under the same promise. `special`
has NaN, infinities, zeros and ones, with upstreams that are zero, infinite or NaN.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np

from tf_opdiff.harness.spec.inputs.elementary import powers
from tf_opdiff.harness.spec.inputs.recipes import SIZE, Draw
from tf_opdiff.harness.spec.spec import Recipe, Spec
from tf_opdiff.harness.spec.tolerances.loose import Loose
from tf_opdiff.suites.derived.twin import twin
from tf_opdiff.suites.reference.promises.wide import Differentiable, Wide, mp

#: where(dtype, x): elements of a float64 array.
Where = Callable[[np.dtype, np.ndarray], Any]


@dataclass(frozen=True, kw_only=True)
class ExactCurve:
    """What an op promises of its second derivative, whose formula is known.

    curve       f''.
    condition   k of the bounds k u (|f'| + |x f''|) of `jvp`, and k u (|f''| + |x f'''|) of `hvp`: the error follows
                the condition of f' and f'' (mixed forward-backward stability: Higham, Accuracy and Stability, section
                1.6). See docs/explanations/budgets.md for the measurement.
    steep       f''' as a float64 function, for bounds, if mpmath takes long for it.
    growth      growth(x), a factor of both bounds: a rounded number that is large is squared, or in an exponent.
    lost        lost(x): where TensorFlow's formula loses more digits than that.
    loose       as of a spec, of `jvp` and `hvp`: where the bound is that of a rounded phase.
    """

    curve: Wide
    condition: tuple[float, float]
    steep: Callable[[np.ndarray], Any] | None = None
    growth: Callable[[np.ndarray], Any] = lambda x: 1.0
    lost: Callable[[np.ndarray], Any] = lambda x: np.zeros(x.shape, bool)
    loose: Loose | None = None


def exact_curve(spec: Spec, function: Differentiable, exact: ExactCurve, aside: Where) -> Spec:
    """The twin of a main spec, in float32.

    Args:
      spec: the main spec of a unary op.
      function: its function, derivative and domain.
      exact: the promise.
      aside: where the main spec has recipes of their own, because TensorFlow fails there.
    """

    def apart(dtype: np.dtype, x: np.ndarray) -> Any:
        return aside(dtype, x) | exact.lost(x)

    return twin(
        spec,
        "second-order",
        tier="full",
        recipes={
            "inside": _only(_inside(function), function, exact, lambda dtype, x: ~apart(dtype, x)),
            "limits": _only(_limits(function), function, exact, lambda dtype, x: ~apart(dtype, x)),
            "lost": _only(_everywhere(function), function, exact, apart),
            "special": _special(_points(function, exact, nan=not spec.contract)),
        },
        upstreams={"special": _special_upstreams},
        jvp=lambda t, x: t * function.df(x),
        hvp=lambda g, t, x: g * t * exact.curve(x),
        unsigned_zeros=(*spec.tolerance.unsigned_zeros, "jvp", "hvp"),
        ulp={**spec.tolerance.ulp, "jvp": 1, "hvp": 1},
        bound={**spec.tolerance.bound, **_bounds(function, exact)},
        alternatives={**spec.tolerance.alternatives, "hvp[0]": _products(exact)},
        contract={},
        loose={**spec.tolerance.loose, **({"jvp": exact.loose, "hvp": exact.loose} if exact.loose else {})},
        dtypes=("float32",),
    )


def _bounds(function: Differentiable, exact: ExactCurve) -> Mapping[str, Callable[..., Any]]:
    """The bounds of `jvp` and `hvp`; see `ExactCurve.condition`. Eight terms may be flushed to zero besides."""
    steep = exact.steep or _slope_of(exact.curve)
    at_first, at_second = exact.condition

    def first(u: float, g: Any, t: Any, x: Any) -> Any:
        scale = at_first * u * exact.growth(x)
        slope = np.abs(function.df(x))
        return np.abs(t) * (scale * (slope + _steepness(x, exact.curve(x))) + _flushed_terms(u, slope))

    def second(u: float, g: Any, t: Any, x: Any) -> Any:
        scale = at_second * u * exact.growth(x)
        curve = np.abs(exact.curve(x))
        return np.abs(g * t) * (scale * (curve + _steepness(x, steep(x))) + _flushed_terms(u, curve))

    return {"jvp[0]": first, "hvp[0]": second}


def _steepness(x: np.ndarray, slope: np.ndarray) -> Any:
    """|x| times the size of a slope; 0 where x is infinite."""
    return np.where(np.isfinite(x), np.abs(x * slope), 0)


def _flushed_terms(u: float, total: np.ndarray) -> Any:
    """Eight times the smallest normal number of the dtype whose unit round-off is u, where the sum is not 0.

    There is none of that for 16 bits, which are computed in 32.
    """
    smallest_normal = {2.0**-24: 2.0**-126, 2.0**-53: 2.0**-1022}.get(u, 0.0)
    return np.where(total == 0, 0, 8 * smallest_normal)


def _slope_of(curve: Wide) -> Callable[[np.ndarray], Any]:
    """The derivative of a curve as a difference; 0 at zero and where the curve is not finite: there is no bound."""
    difference = Wide(lambda x: mp.diff(curve.f, x, h=mp.ldexp(1, min(mp.mag(x), 0) - 50)))

    def slope(x: np.ndarray) -> Any:
        near = np.isfinite(x) & (x != 0) & np.isfinite(curve(x))
        return np.where(near, difference(np.where(near, x, 0.75)), 0)

    return slope


def _products(exact: ExactCurve) -> Callable[..., Sequence[np.ndarray]]:
    """Alternatives of `hvp`: see docs/explanations/conventions.md.

    NaN for an infinite upstream, because the terms whose sum is f'' may be infinities of both signs. Where f'' is zero,
    an upstream that is infinite or NaN gives a zero, an infinity or NaN.
    """

    def alternatives(dtype: np.dtype, g: np.ndarray, t: np.ndarray, x: np.ndarray) -> Sequence[np.ndarray]:
        curve = exact.curve(x)
        product, extreme = g * t * curve, ~np.isfinite(g)
        flat = extreme & (curve == 0)
        signs = [np.where(flat, value, product) for value in (0.0, np.inf, -np.inf)]
        return [np.where(np.isinf(g), np.nan, product), *signs]

    return alternatives


def _inside(function: Differentiable) -> Callable[[Draw], np.ndarray]:
    low, high = function.domain
    return lambda draw: draw.uniform(SIZE + 8, low=low, high=high)


def _limits(function: Differentiable) -> Callable[[Draw], np.ndarray]:
    """Numbers of all sizes, and numbers next to the ends of the domain, to 0 and to 1."""
    low, high = function.domain

    def numbers(draw: Draw) -> np.ndarray:
        exponents = np.concatenate([np.linspace(-124, -20, 8), np.linspace(-18, 12, 16), np.linspace(13, 124, 8)])
        sizes = powers(2, exponents) * draw.uniform(len(exponents), low=1.0, high=2.0)
        near = powers(2, -draw.uniform(8, low=1, high=22))
        beside = [end + side * near for end in {low, high, 1.0} for side in (1, -1)]
        within = draw.uniform(16, low=low, high=high)
        return np.concatenate([sizes, -sizes, *beside, within])

    return numbers


def _everywhere(function: Differentiable) -> Callable[[Draw], np.ndarray]:
    """A third of the numbers of `_inside`, and those of `_limits`."""
    inside, limits = _inside(function), _limits(function)
    return lambda draw: np.concatenate([inside(draw)[::3], limits(draw)])


def _only(numbers: Callable[[Draw], np.ndarray], function: Differentiable, exact: ExactCurve, where: Where) -> Recipe:
    """A recipe: those of the numbers that are in a region, and whose derivatives are neither tiny nor huge.

    A term may be subnormal, and flushed, if the sum is below 2^16 times the smallest normal number: see `_bounds`.
    """

    def recipe(draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
        x = numbers(draw).astype(dtype)
        x = x[np.asarray(where(dtype, x.astype(np.float64)), bool)]
        info = ml_dtypes.finfo(dtype)
        least, top = 2.0**16 * float(info.smallest_normal), float(info.max) / 64
        sizes = [np.abs(f(x.astype(np.float64))) for f in (function.f, function.df, exact.curve)]
        usable = [(s == 0) | (s > least) & (s < top) for s in sizes]
        x = x[np.logical_and.reduce(usable)]
        return (np.resize(x if len(x) else np.ones(1, dtype), SIZE),)

    return recipe


def _points(function: Differentiable, exact: ExactCurve, nan: bool) -> list[float]:
    """Infinities, zeros, ones and NaN, each once; without those at which the function has no second derivative."""
    values = np.array([np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, *([np.nan] if nan else [])])
    return list(values[~np.isnan(exact.curve(values)) | np.isnan(function.f(values))])


def _special(points: Sequence[float]) -> Recipe:
    """A recipe: each point, so often that every special upstream meets it."""

    def recipe(draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
        return (np.resize(np.repeat(np.array(points), len(_UPSTREAMS)), SIZE).astype(dtype),)

    return recipe


_UPSTREAMS = (2.0, 0.0, -0.0, np.inf, -np.inf, np.nan)


def _special_upstreams(draw: Draw, dtype: np.dtype, *shape: int) -> np.ndarray:
    return np.resize(np.array(_UPSTREAMS), shape).astype(dtype)
