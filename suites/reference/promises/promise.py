"""Promise: an op of several tensors with its derivatives and its errors. What a subclass leaves out is exact."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

#: The families of quantities whose elements may be rounded.
ROUNDED = ("output", "grad", "jvp", "hvp")


def together(results: Any) -> tuple[Any, ...]:
    """One result or several, as a tuple."""
    return tuple(results) if isinstance(results, tuple | list) else (results,)


class Promise:
    """What an op promises of its inputs `xs`, arrays in float64; a subclass overrides what its op has.

    Subclasses name the arguments, as the first line of each method does. An error is the largest one that is right: an
    array of the shape of the result, or 0; of several outputs, a tuple. `u` is the unit round-off of the case's dtype.
    Alternatives are further right arrays, or None if the promise has none: see `harness.spec.tolerances.tolerance`.

    alternatives        alternatives(dtype, *xs): further right results.
    grad_alternatives   grad_alternatives(i, dtype, g, *xs): further right gradients by input i.
    rounded             the families of quantities that have errors.
    bounded             the number of results that have errors of their own.
    unsigned_zeros      those in which zeros of either sign are right.
    """

    bounded: int = 1
    rounded: tuple[str, ...] = ROUNDED
    unsigned_zeros: tuple[str, ...] = ROUNDED
    alternatives: Any = None
    grad_alternatives: Any = None

    @property
    def mistaken(self) -> Promise | None:
        """What TensorFlow computes in place of this because of a known failure: see `SpecFields.mistaken`."""
        return None

    def f(self, *args: Any, **more: Any) -> Any:
        """f(*xs): the result, or several as a tuple."""
        raise NotImplementedError

    def results(self, *args: Any, **more: Any) -> int:
        """results(*xs): the number of results."""
        return self.bounded

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


class GradientOf(Promise):
    """The gradient of a promise by one of its inputs, as an op of its own: of the upstream and of the inputs."""

    def __init__(self, of: Promise, number: int = 0) -> None:
        self.of, self.number = of, number
        self.alternatives = self._alternatives if of.grad_alternatives else None

    def f(self, g: Any, *xs: Any, **attrs: Any) -> Any:
        return self.of.vjp(g, *xs, **attrs)[self.number]

    def error(self, u: float, g: Any, *xs: Any, **attrs: Any) -> Any:
        return self.of.grad_error(self.number, u, g, *xs, **attrs)

    def _alternatives(self, dtype: Any, g: Any, *xs: Any, **attrs: Any) -> Any:
        return self.of.grad_alternatives(self.number, dtype, g, *xs, **attrs)


class OfOneTensor(Promise):
    """The promise of an op of one tensor, made of functions that all take the attributes of a call.

    f, vjp, jvp, hvp            f(x), vjp(g, x), jvp(t, x) and hvp(g, t, x) → an array.
    error, grad_error, …        error(u, x), grad_error(u, g, x), jvp_error(u, t, x) and hvp_error(u, g, t, x); a
                                quantity without an error is exact.
    alternatives                alternatives(dtype, x) → further right arrays.
    grad_alternatives           grad_alternatives(dtype, g, x) → further right gradients.
    mistaken                    mistaken(x) → what TensorFlow computes in place of f(x) because of a known failure.
    """

    unsigned_zeros = ()

    def __init__(self, f: Callable[..., Any], **functions: Callable[..., Any] | None) -> None:
        self._functions = {name: function for name, function in functions.items() if function}
        errors = {"output": "error", "grad": "grad_error", "jvp": "jvp_error", "hvp": "hvp_error"}
        self.rounded = tuple(family for family, name in errors.items() if name in self._functions)
        self.f = f  # type: ignore[method-assign]
        self.alternatives = self._functions.get("alternatives")
        self.grad_alternatives = self._grad_alternatives if "grad_alternatives" in self._functions else None

    @property
    def mistaken(self) -> Promise | None:
        """The promise with the wrong result."""
        rest = {name: function for name, function in self._functions.items() if name != "mistaken"}
        return OfOneTensor(self._functions["mistaken"], **rest) if "mistaken" in self._functions else None

    def vjp(self, g: Any, x: Any, **attrs: Any) -> tuple[Any]:
        return (self._functions["vjp"](g, x, **attrs),)

    def jvp(self, ts: Any, x: Any, **attrs: Any) -> Any:
        return self._functions["jvp"](*ts, x, **attrs)

    def hvp(self, g: Any, ts: Any, x: Any, **attrs: Any) -> tuple[Any]:
        return (self._functions["hvp"](g, *ts, x, **attrs),)

    def error(self, u: float, x: Any, **attrs: Any) -> Any:
        return self._functions["error"](u, x, **attrs) if "error" in self._functions else 0.0

    def grad_error(self, i: int, u: float, g: Any, x: Any, **attrs: Any) -> Any:
        return self._functions["grad_error"](u, g, x, **attrs) if "grad_error" in self._functions else 0.0

    def jvp_error(self, u: float, ts: Any, x: Any, **attrs: Any) -> Any:
        return self._functions["jvp_error"](u, *ts, x, **attrs)

    def hvp_error(self, i: int, u: float, g: Any, ts: Any, x: Any, **attrs: Any) -> Any:
        return self._functions["hvp_error"](u, g, *ts, x, **attrs)

    def _grad_alternatives(self, i: int, dtype: Any, g: Any, x: Any, **attrs: Any) -> Any:
        return self._functions["grad_alternatives"](dtype, g, x, **attrs)
