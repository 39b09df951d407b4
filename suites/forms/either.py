"""Either: the results that are right as well where subnormals are flushed, or where a derivative alone overflows."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import ml_dtypes
import numpy as np

from tf_opdiff.suites.reference.function import Function
from tf_opdiff.suites.reference.subnormal import flushed_in

#: alternatives(dtype, g, *inputs) → further arrays that keep a promise, element by element.
Alternatives = Callable[..., list[np.ndarray]]


def either(
    function: Function, vjp_of: Callable[[Function], Callable[..., Any]] | None = None
) -> dict[str, Alternatives]:
    """The alternatives of the output, and of the gradients if `vjp_of` gives the function's VJP.

    Subnormal inputs and results may be flushed. A gradient may be computed from the derivative in the dtype: one that
    is infinite there, or flushed, also where the product with the upstream is an ordinary number.
    """
    found: dict[str, Alternatives] = {"output": flushed_outputs(function)}
    for i, derivative in enumerate(function.partials if vjp_of else ()):
        if vjp_of and derivative is not None:
            found[f"grad[{i}]"] = _gradients(function, vjp_of, i)
    return found


def flushed_outputs(reference: Callable[..., Any]) -> Alternatives:
    """The alternatives of an output: the results for flushed inputs, and those results flushed."""

    def alternatives(dtype: np.dtype, g: Any, *xs: np.ndarray) -> list[np.ndarray]:
        exact, flushed = reference(*xs), reference(*_flushed(dtype, xs))
        return distinct(exact, [flushed, *_flushed_results(dtype, (exact, flushed))])

    return alternatives


def distinct(exact: np.ndarray, others: Iterable[np.ndarray]) -> list[np.ndarray]:
    """Those of the arrays that differ from the first one, and from each other."""
    chosen = [np.asarray(exact)]
    for other in map(np.asarray, others):
        if not any(_same(other, one) for one in chosen):
            chosen.append(other)
    return chosen[1:]


def _same(one: np.ndarray, other: np.ndarray) -> bool:
    equal = (one == other) & (np.signbit(one) == np.signbit(other)) | np.isnan(one) & np.isnan(other)
    return bool(np.all(equal))


def _flushed(dtype: np.dtype, xs: Iterable[np.ndarray]) -> list[np.ndarray]:
    return [flushed_in(dtype, x) for x in xs]


def _flushed_results(dtype: np.dtype, ys: Iterable[np.ndarray]) -> list[np.ndarray]:
    """Results flushed; a processor flushes before it rounds, so that float64 rounded to the smallest normal counts."""
    least = np.nextafter(float(ml_dtypes.finfo(dtype).smallest_normal), np.inf) if dtype == np.float64 else 0
    return [np.where(np.abs(y) < least, np.copysign(0, y), flushed_in(dtype, y)) for y in map(np.asarray, ys)]


def _gradients(function: Function, vjp_of: Callable[[Function], Callable[..., Any]], i: int) -> Alternatives:
    """The alternatives of the gradient with respect to input i."""

    def alternatives(dtype: np.dtype, g: np.ndarray, *xs: np.ndarray) -> list[np.ndarray]:
        exact = vjp_of(function)(g, *xs)[i]
        rounded = [vjp_of(_in_dtype(function, dtype, flush)) for flush in (False, True)]
        places = [(u, zs) for u in (g, flushed_in(dtype, g)) for zs in (xs, _flushed(dtype, xs))]
        products = [vjp(u, *zs)[i] for u, zs in places for vjp in (vjp_of(function), *rounded)]
        return distinct(exact, [*products, *_flushed_results(dtype, [exact, *products])])

    return alternatives


def _in_dtype(function: Function, dtype: np.dtype, flush: bool) -> Function:
    """The function whose derivatives are rounded to the dtype where they are infinite or subnormal there.

    Below four times the smallest normal number it may be flushed, as 2 (x - y) is where x - y is subnormal.
    """
    tiny = float(ml_dtypes.finfo(dtype).smallest_normal)

    def rounded(derivative: Callable[..., Any]) -> Callable[..., Any]:
        def partial(*xs: np.ndarray) -> np.ndarray:
            d = derivative(*xs)
            near = d.astype(dtype).astype(np.float64)
            near = 4 * flushed_in(dtype, near / 4) if flush else near
            extreme = ~np.isfinite(near) | (np.abs(near) < tiny)
            return np.where(extreme, near, d)

        return partial

    return replace(function, partials=tuple(d and rounded(d) for d in function.partials))
