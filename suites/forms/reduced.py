"""Reduced: what a reduction promises of a tensor and some of its axes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tf_opdiff.suites.reference.accumulation import Axis, axes
from tf_opdiff.suites.reference.promise import OfOneTensor
from tf_opdiff.suites.reference.subnormal import flushed_in


@dataclass(frozen=True, kw_only=True)
class Reduced:
    """What a reduction promises over the axes of a tensor; every function keeps the axes with size 1.

    f           f(x, axis) → the result.
    vjp         vjp(g, x, axis) → the gradient, of the shape of x. None without gradients.
    jvp, hvp    jvp(t, x, axis), and hvp(g, t, x, axis), which is None if second order is unconnected.
    error, …    error(u, x, axis), grad_error(u, g, x, axis), jvp_error(u, t, x, axis), hvp_error(u, g, t, x, axis)
                → the largest errors; None where a quantity is exact.
    flushes     whether subnormal terms, and results, may be flushed.
    mistaken    mistaken(x, axis) → what TensorFlow computes in place of f because of a known failure.
    """

    f: Callable[..., Any]
    vjp: Callable[..., Any] | None = None
    jvp: Callable[..., Any] | None = None
    hvp: Callable[..., Any] | None = None
    error: Callable[..., Any] | None = None
    grad_error: Callable[..., Any] | None = None
    jvp_error: Callable[..., Any] | None = None
    hvp_error: Callable[..., Any] | None = None
    flushes: bool = True
    mistaken: Callable[..., Any] | None = None

    def promise(self) -> OfOneTensor:
        """The promise of a call with the attributes `axis` and `keep_dims`."""

        def kept(g: Any, x: Any, axis: Axis) -> Any:
            where = axes(axis, x.ndim)
            return np.reshape(g, tuple(1 if i in where else n for i, n in enumerate(x.shape)))

        def dropped(y: Any, x: Any, axis: Axis, *, keep_dims: bool = False) -> Any:
            return np.asarray(y) if keep_dims else np.squeeze(y, axis=axes(axis, x.ndim))

        def others(dtype: np.dtype, x: Any, axis: Axis, *, keep_dims: bool = False) -> list[np.ndarray]:
            exact, of_flushed = self.f(x, axis), self.f(flushed_in(dtype, x), axis)
            return [dropped(y, x, axis, keep_dims=keep_dims) for y in (flushed_in(dtype, exact), of_flushed)]

        def other_gradients(
            dtype: np.dtype, g: Any, x: Any, axis: Axis, *, keep_dims: bool = False
        ) -> list[np.ndarray]:
            return [self.vjp(kept(g, x, axis), flushed_in(dtype, x), axis)] if self.vjp else []

        def hvp(g: Any, t: Any, x: Any, axis: Axis, *, keep_dims: bool = False) -> Any:
            return self.hvp and self.hvp(kept(g, x, axis), t, x, axis)

        def errors(function: Callable[..., Any] | None, *, to_input: bool) -> Callable[..., Any] | None:
            """The error with its first array, an upstream, in shape, or with the axes of its result dropped."""
            if function is None:
                return None
            if to_input:
                return lambda u, g, *xs, axis, keep_dims=False: function(u, kept(g, xs[-1], axis), *xs, axis)
            return lambda u, *xs, axis, keep_dims=False: dropped(
                function(u, *xs, axis), xs[-1], axis, keep_dims=keep_dims
            )

        vjp, jvp, wrong = self.vjp, self.jvp, self.mistaken
        return OfOneTensor(
            f=lambda x, axis, keep_dims=False: dropped(self.f(x, axis), x, axis, keep_dims=keep_dims),
            vjp=vjp and (lambda g, x, axis, keep_dims=False: vjp(kept(g, x, axis), x, axis)),
            jvp=jvp and (lambda t, x, axis, keep_dims=False: dropped(jvp(t, x, axis), x, axis, keep_dims=keep_dims)),
            hvp=jvp and hvp,
            error=errors(self.error, to_input=False),
            grad_error=errors(self.grad_error, to_input=True),
            jvp_error=errors(self.jvp_error, to_input=False),
            hvp_error=errors(self.hvp_error, to_input=True),
            others=others if self.flushes else None,
            grad_others=other_gradients if self.flushes and vjp else None,
            mistaken=wrong and (lambda x, axis, keep_dims=False: dropped(wrong(x, axis), x, axis, keep_dims=keep_dims)),
        )
