"""Bounds and budgets: how far an op may be off; a bound where the error grows with the input of a unary op."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tf_opdiff.harness.spec.tolerances.by_mode import ByMode, mapped
from tf_opdiff.suites.reference.promises.wide import Differentiable

#: A budget in ULPs: a number, or a tuple with one for each dtype, or either by family of modes.
Budget = float | tuple[float | ByMode, ...] | ByMode
#: A bound of an op's output, or of its gradient: (function, quantity) → bound(u, g, x), as of a spec.
Bound = Callable[[Differentiable, str], Callable[..., Any]]


def relative(ulps: Callable[..., Any]) -> Bound:
    """An error of ulps(x, |f(x)|, |f'(x)|) × u × the value, which is f(x) or g f'(x)."""

    def bound(function: Differentiable, quantity: str) -> Callable[..., Any]:
        def error(u: float, g: Any, x: Any) -> Any:
            f, df = function.f(x), function.df(x)
            value = f if quantity == "output" else g * df
            return u * np.abs(value) * ulps(x, np.abs(f), np.abs(df))

        return error

    return bound


def absolute(error: Callable[..., Any]) -> Bound:
    """An error of error(u, x, y), where y is f(x), or f'(x) for the gradient, whose error is |g| times that."""

    def bound(function: Differentiable, quantity: str) -> Callable[..., Any]:
        if quantity == "output":
            return lambda u, g, x: error(u, x, function.f(x))
        return lambda u, g, x: np.abs(g) * error(u, x, function.df(x))

    return bound


def by_dtype(budget: Budget, dtypes: tuple[str, ...]) -> Any:
    """A budget as of a spec, from one number, or one for each dtype; in each family of modes if it is `by_mode`."""

    def of(ulps: Any) -> Any:
        if isinstance(ulps, tuple) and len(ulps) != len(dtypes):
            raise ValueError(f"ulp: expected one number, or one for each of {', '.join(dtypes)}; got {ulps}")
        return dict(zip(dtypes, ulps, strict=True)) if isinstance(ulps, tuple) else ulps

    return mapped(of, budget)
