"""Reduced: what a reduction promises of a tensor and some of its axes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tf_opdiff.suites.reference.accumulation import Axis, axes
from tf_opdiff.suites.reference.promise import OfOneTensor
from tf_opdiff.suites.reference.subnormal import flushed_in

Function = Callable[..., Any]


def reduced(f: Function, *, flushes: bool = True, **functions: Function) -> OfOneTensor:
    """The promise of a reduction, whose calls have the attributes `axis` and `keep_dims`.

    Args:
      f: f(x, axis) → the result; every function keeps the axes with size 1.
      flushes: whether subnormal terms, and results, may be flushed.
      functions: the others of `OfOneTensor`, with the axes as their last argument. A gradient has the shape of x. An
        upstream comes with the axes of size 1. Without `hvp`, second order is unconnected.
    """
    vjp = functions.get("vjp")
    promised = {name: _with_axes(function, name) for name, function in functions.items()}
    if "jvp" in functions:
        promised.setdefault("hvp", lambda g, t, x, axis, keep_dims=False: None)
    if flushes:
        promised["alternatives"] = lambda dtype, x, axis, keep_dims=False: [
            _dropped(y, x, axis, keep_dims) for y in (flushed_in(dtype, f(x, axis)), f(flushed_in(dtype, x), axis))
        ]
    if flushes and vjp:
        promised["grad_alternatives"] = lambda dtype, g, x, axis, keep_dims=False: [
            vjp(_kept(g, x, axis), flushed_in(dtype, x), axis)
        ]
    return OfOneTensor(_with_axes(f, "f"), **promised)


#: The place of the upstream among the arguments of functions whose results have the shape of the input.
_UPSTREAM = {"vjp": 0, "hvp": 0, "grad_error": 1, "hvp_error": 1}


def _with_axes(function: Function, name: str) -> Function:
    """A function whose upstream has the axes of size 1, or whose result drops them unless they are kept."""
    if name not in _UPSTREAM:
        return lambda *xs, axis, keep_dims=False: _dropped(function(*xs, axis), xs[-1], axis, keep_dims)
    at = _UPSTREAM[name]
    return lambda *xs, axis, keep_dims=False: function(*xs[:at], _kept(xs[at], xs[-1], axis), *xs[at + 1 :], axis)


def _kept(g: Any, x: Any, axis: Axis) -> Any:
    where = axes(axis, x.ndim)
    return np.reshape(g, tuple(1 if i in where else n for i, n in enumerate(x.shape)))


def _dropped(y: Any, x: Any, axis: Axis, keep_dims: bool) -> Any:
    return np.asarray(y) if keep_dims else np.squeeze(y, axis=axes(axis, x.ndim))
