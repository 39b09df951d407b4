"""Second order: forward mode of a unary elementwise op, and the gradient of its gradient."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np

from tf_opdiff.harness.spec.inputs.elementary import powers
from tf_opdiff.harness.spec.inputs.recipes import Draw
from tf_opdiff.harness.spec.spec import Recipe, Spec
from tf_opdiff.harness.spec.tolerances.by_mode import mapped
from tf_opdiff.harness.spec.tolerances.loose import Loose
from tf_opdiff.suites.derived.twin import in_tiers, twin
from tf_opdiff.suites.reference.promises.wide import Differentiable, Wide, mp


@dataclass(frozen=True, kw_only=True)
class SecondOrder:
    """What an op promises of its second derivative.

    jvp, hvp    budgets in ULPs, as `bench.budgets` measures them over 2,680 inputs of each dtype. Budgets above 4 are
                of results that divide by a rounded number, or raise it to a power.
    condition   k of the bounds k u (|f'| + |x f''|) of `jvp`, and k u (|f''| + |x f'''|) of `hvp`, for ops that
                multiply x before they take the exponential, or whose terms cancel: the error follows the condition of
                f' and f'' (mixed forward-backward stability: Higham, Accuracy and Stability, section 1.6).
    flat        c(x) of the term c u in both bounds, for ops that compute 1 - y of a y near 1.
    loose       as of a spec, of `jvp` and `hvp`: where 1 - y has lost its digits.
    linear      whether f'' is zero: of either sign, so that `hvp` is not asked for.
    unconnected whether the gradient does not depend on x, so that `hvp` is None.
    """

    jvp: float = 0
    hvp: float = 0
    condition: tuple[float, float] | None = None
    flat: Callable[[np.ndarray], Any] = lambda x: 0
    loose: Loose | None = None
    linear: bool = False
    unconnected: bool = False


def second_orders(spec: Spec, function: Differentiable, second: SecondOrder) -> tuple[Spec, ...]:
    """The twins of a spec inside its domain, with forward mode and second order; f'' and f''' are differences.

    XLA's compiler takes most of a second for an item: float32 stands for the other dtypes in the default tier.
    """
    curve = Wide(lambda x: mp.diff(function.df.f, x))
    far_curve = Wide(lambda x: _difference(function.df.f, x))
    conditioned = _bounds(function, curve, second) if second.condition else {}
    curved = twin(
        spec,
        "second-order",
        tier="full",
        recipes={"inside": _inside(function, curve), "limits": _limits(function, far_curve)},
        upstreams={},
        jvp=lambda t, x: t * function.df(x),
        hvp=None if second.linear else (lambda g, t, x: None if second.unconnected else g * t * far_curve(x)),
        unsigned_zeros=(*spec.tolerance.unsigned_zeros, "hvp"),
        ulp={**spec.tolerance.ulp, "jvp": second.jvp, "hvp": second.hvp},
        bound={**spec.tolerance.bound, **(conditioned or _beyond(spec, function, far_curve))},
        loose={**spec.tolerance.loose, **({"jvp": second.loose, "hvp": second.loose} if second.loose else {})},
    )
    return in_tiers(curved, "float32", recipes={"inside": curved.recipes["inside"]})


def _inside(function: Differentiable, curve: Wide) -> Recipe:
    """A recipe: values all over the inside of the domain, where no derivative is subnormal or near the largest."""
    low, high = function.domain
    margin = (high - low) / 64

    def recipe(draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
        x = draw.uniform(134, low=low + margin, high=high - margin).astype(dtype)
        return (np.resize(x[_usable(function, curve, x)], 67),)

    return recipe


def _limits(function: Differentiable, curve: Wide) -> Recipe:
    """A recipe: zeros, tiny and large numbers, and numbers near the ends of the domain, as far as they are usable."""

    def recipe(draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
        info = ml_dtypes.finfo(dtype)
        exponents = np.concatenate([np.linspace(info.minexp + 2, 0, 12), np.linspace(0, info.maxexp - 3, 12)])
        sizes = powers(2, exponents)
        apart = powers(2, -draw.uniform(8, low=1, high=info.nmant - 1))
        low, high = function.domain
        beside = np.concatenate([low + apart, high - apart, -apart, 1 - apart, apart - 1])
        x = np.concatenate([[0.0, -0.0], sizes, -sizes, beside]).astype(dtype)
        usable = x[_usable(function, curve, x)]
        return (np.resize(usable, 67),)

    return recipe


def _usable(function: Differentiable, curve: Wide, x: np.ndarray) -> np.ndarray:
    """Where neither the function nor its derivatives are subnormal or near the largest number."""
    tiny, top = float(ml_dtypes.finfo(x.dtype).smallest_normal), float(ml_dtypes.finfo(x.dtype).max)
    sizes = [np.abs(f(x)) for f in (function.f, function.df, curve)]
    return np.logical_and.reduce([(s == 0) | (s > 64 * tiny) & (s < top / 64) for s in sizes])


def _difference(f: Callable[[Any], Any], x: Any) -> Any:
    """f'(x) as a central difference, in a precision and with a step that suit an x of any size.

    The error, relative to the size of f', is that of the square of the step: about 2^-180.
    """
    size = mp.mag(x) if x else 0
    step = mp.ldexp(1, min(size, 0) - 90)
    with mp.workprec(mp.prec + 300 + 3 * abs(size)):
        return (f(x + step) - f(x - step)) / (2 * step)


def _beyond(spec: Spec, function: Differentiable, curve: Wide) -> dict[str, Any]:
    """The bounds of `jvp` and `hvp` outside of the inside of the domain, from that of the gradient.

    A JVP is computed as the gradient is. The second derivative is of the third power of the term that the bound of the
    gradient is about, such as √(1 - x²), so its relative error is three times as large.
    """
    if not (bound := spec.tolerance.bound.get("grad[0]")):
        return {}
    low, high = function.domain
    margin = (high - low) / 64

    def outside(x: Any) -> Any:
        return np.where((x >= low + margin) & (x <= high - margin), 0.0, 1.0)

    def first(of_gradient: Callable[..., Any]) -> Callable[..., Any]:
        return lambda u, g, t, x: outside(x) * of_gradient(u, t, x)

    def hessian(of_gradient: Callable[..., Any]) -> Callable[..., Any]:
        return lambda u, g, t, x: outside(x) * 3 * of_gradient(u, g * t, x) * np.abs(curve(x) / function.df(x))

    return {"jvp[0]": mapped(first, bound), "hvp[0]": mapped(hessian, bound)}


def _bounds(function: Differentiable, curve: Wide, second: SecondOrder) -> dict[str, Callable[..., Any]]:
    """The bounds of `jvp` and `hvp` by the conditions of f' and f''; see `SecondOrder.condition`."""
    assert second.condition
    at_first, at_second = second.condition
    third = Wide(lambda x: mp.diff(function.df.f, x, 2))

    def first(u: float, g: Any, t: Any, x: Any) -> Any:
        return u * np.abs(t) * (at_first * (np.abs(function.df(x)) + np.abs(x * curve(x))) + second.flat(x))

    def hessian(u: float, g: Any, t: Any, x: Any) -> Any:
        return u * np.abs(g * t) * (at_second * (np.abs(curve(x)) + np.abs(x * third(x))) + second.flat(x))

    return {"jvp[0]": first, "hvp[0]": hessian}
