"""Promise: an op of several tensors with its derivatives and its errors. What a subclass leaves out is exact."""

from __future__ import annotations

from typing import Any


def together(results: Any) -> tuple[Any, ...]:
    """One result or several, as a tuple."""
    return tuple(results) if isinstance(results, tuple | list) else (results,)


class Promise:
    """What an op promises of its inputs `xs`, arrays in float64; a subclass overrides what its op has.

    Subclasses name the arguments, as the first line of each method does. An error is the largest one that is right: an
    array of the shape of the result, or 0. `u` is the unit round-off of the case's dtype. Others are further right
    arrays, or None if the promise has none: see `harness.spec.spec.Spec.alternatives`.

    others          others(dtype, *xs): further right results.
    grad_others     grad_others(i, dtype, g, *xs): further right gradients by input i.
    """

    others: Any = None
    grad_others: Any = None

    @property
    def mistaken(self) -> Promise | None:
        """What TensorFlow computes in place of this because of a known failure: see `SpecFields.mistaken`."""
        return None

    def f(self, *args: Any, **more: Any) -> Any:
        """f(*xs): the result, or several as a tuple."""
        raise NotImplementedError

    def results(self, *args: Any, **more: Any) -> int:
        """results(*xs): the number of results."""
        return 1

    def vjp(self, *args: Any, **more: Any) -> Any:
        """vjp(g, *xs): the gradient by each input, None where it is unconnected; g is a tuple of several upstreams."""
        raise NotImplementedError

    def jvp(self, *args: Any, **more: Any) -> Any:
        """jvp(ts, *xs): forward mode, along the tangents of all inputs."""
        raise NotImplementedError

    def hvp(self, *args: Any, **more: Any) -> Any:
        """hvp(g, ts, *xs): the derivative of the gradients along the tangents; by default unconnected."""
        _, _, *xs = args
        return (None,) * len(xs)

    def error(self, *args: Any, **more: Any) -> Any:
        """error(u, *xs): the error of the result."""
        return 0.0

    def grad_error(self, *args: Any, **more: Any) -> Any:
        """grad_error(i, u, g, *xs): the error of the gradient by input i."""
        return 0.0

    def jvp_error(self, *args: Any, **more: Any) -> Any:
        """jvp_error(u, ts, *xs): the error of forward mode."""
        return 0.0

    def hvp_error(self, *args: Any, **more: Any) -> Any:
        """hvp_error(i, u, g, ts, *xs): the error of second order by input i."""
        return 0.0
