"""Subnormals: what a spec promises where a processor may take them for zeros."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import ml_dtypes
import numpy as np

from tf_opdiff.harness.spec.spec import Side
from tf_opdiff.suites.reference.subnormal import DENORMALS, LINK, WHY, flushed


def flushing(reference: Callable[..., Any], why: str = WHY) -> Side:
    """The side that promises the reference's result for inputs whose subnormals are zeros."""
    return Side(reference=lambda *xs: reference(*map(flushed, xs)), why=why, link=LINK, unless=DENORMALS)


def without_subnormals(x: Any, dtype: np.dtype) -> np.ndarray:
    """The values, with a zero of the same sign in place of each subnormal number of a dtype.

    Args:
      x: float64 or long double, of any shape.
      dtype: a float dtype.
    """
    x = np.asarray(x)
    return np.where(np.abs(x) < float(ml_dtypes.finfo(dtype).smallest_normal), np.copysign(0, x), x)


def either_output(f: Callable[..., Any]) -> Callable[..., Sequence[np.ndarray]]:
    """Alternatives of an output: the result for flushed inputs, and either result flushed.

    Args:
      f: f(*inputs), elementwise.

    Returns:
      alternatives(dtype, g, *inputs), as of a spec.
    """

    def alternatives(dtype: np.dtype, g: Any, *xs: np.ndarray) -> Sequence[np.ndarray]:
        without = f(*(without_subnormals(x, dtype) for x in xs))
        return [without, *(without_subnormals(y, dtype) for y in (f(*xs), without))]

    return alternatives


def either_gradient(derivative: Callable[..., Any]) -> Callable[..., Sequence[np.ndarray]]:
    """Alternatives of a gradient g f'(x): any of the inputs, the derivative, the upstream and the result flushed.

    The derivative may also be rounded to the dtype before it meets the upstream. It then overflows where a small
    upstream would bring it back into range.

    Args:
      derivative: f'(*inputs), elementwise.

    Returns:
      alternatives(dtype, g, *inputs), as of a spec. There are none where shapes differ, since broadcasting sums up.
    """

    def alternatives(dtype: np.dtype, g: Any, *xs: np.ndarray) -> Sequence[np.ndarray]:
        if g is None or any(x.shape != g.shape for x in xs):
            return []
        near, wide = [without_subnormals(x, dtype) for x in xs], np.promote_types(g.dtype, np.float64)
        slopes = [derivative(*xs), derivative(*near)]
        rounded = [np.asarray(slope).astype(dtype).astype(wide) for slope in slopes]
        slopes += [*rounded, *(without_subnormals(slope, dtype) for slope in rounded)]
        products = [upstream * slope for slope in slopes for upstream in (g, without_subnormals(g, dtype))]
        return [*products[1:], *(without_subnormals(product, dtype) for product in products)]

    return alternatives


def either(f: Callable[..., Any], *partials: Callable[..., Any] | None) -> Mapping[str, Callable[..., Any]]:
    """Alternatives of an elementwise function and of its gradients, by quantity: see `Spec.alternatives`.

    Args:
      f: f(*inputs).
      partials: the derivative by each input; None for an input without a gradient.
    """
    gradients = {f"grad[{i}]": either_gradient(d) for i, d in enumerate(partials) if d is not None}
    return {"output[0]": either_output(f), **gradients}
