"""Complex: parts that promise values and gradients of a function of two complex numbers.

A VJP is conj(∂f/∂z) g + (∂f/∂z̄) conj(g). Of complex arithmetic, only the error relative to |f(z)| is small: Higham,
Accuracy and Stability of Numerical Algorithms, section 3.6.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import COMPLEX, Draw, plain
from tf_opdiff.harness.spec.spec import Recipe
from tf_opdiff.suites.forms.elementwise.binary import summed
from tf_opdiff.suites.forms.part import Part, part, together
from tf_opdiff.suites.forms.recipes.pairs import many, shaped
from tf_opdiff.suites.reference.elementwise.broadcast import unbroadcast
from tf_opdiff.suites.reference.elementwise.complex import from_parts
from tf_opdiff.suites.reference.promises.function import Function


def _crossed_parts(*more: float) -> Recipe:
    """A recipe: 67 pairs of numbers whose parts are zeros of both signs, ones, and more values, each with each."""

    def recipe(draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
        values = np.array([0.0, -0.0, 1.0, -1.0, *more], f"f{dtype.itemsize // 2}")
        z = from_parts(np.repeat(values, values.size), np.tile(values, values.size), dtype)
        at = np.arange(67)
        return z[at % z.size], z[(at * 5 + at // z.size + 3) % z.size]

    return recipe


SHAPES: dict[str, Recipe] = {"plain": many(plain, size=67), "outer": shaped((4, 1), (1, 17))}
#: Pairs at which sums and products are exact, also those of infinite and NaN parts.
SPECIAL: dict[str, Recipe] = {
    "infinite": _crossed_parts(np.inf, -np.inf, np.nan),
    "signed_zeros": _crossed_parts(),
    "small": _crossed_parts(2.0**-40),
}


def complex_numbers(
    function: Function, *, output: float, grad: float, zero: int | None = None, special: bool = False
) -> Part:
    """A part: a holomorphic function of two complex numbers, with both gradients.

    Args:
      function: the function.
      output, grad: errors allowed in output and gradients, in units of round-off of their sizes.
      special: whether special numbers are promised: where the function is sums and products of parts, in one order.
      zero: the argument, by number, that makes the result 0, whatever the other one is; zeros have a spec of their own.
    """

    def vjp(g: np.ndarray, *xs: np.ndarray) -> tuple[np.ndarray, ...]:
        pairs = zip(function.partials, xs, strict=True)
        return tuple(unbroadcast(g * np.conj(d(*xs)), x.shape) for d, x in pairs if d)

    values = pair_of_complex(function, vjp, output=output, grad=grad, special=special)
    if zero is None:
        return values
    return together(
        values,
        part(
            "-complex-zeros",
            dtypes=COMPLEX,
            reference=function.f,
            recipes={"zeros": _zeros(zero)},
            bound={"output[0]": size(function.f, output)},
        ),
    )


def pair_of_complex(
    function: Function, vjp: Callable[..., Any], *, output: float, grad: float, special: bool = False
) -> Part:
    """A part: a function of two complex numbers, with both gradients, which `vjp` gives."""
    return part(
        "-complex",
        dtypes=COMPLEX,
        positions=True,
        reference=function.f,
        vjp=vjp,
        recipes=SHAPES | (SPECIAL if special else {}),
        bound={"output[0]": size(function.f, output), **summed(function.partials, grad)},
    )


def size(f: Callable[..., Any], units: float) -> Callable[..., Any]:
    """A bound: an error in either part of so many units of round-off of the number's size."""
    return lambda u, g, x, y: units * u * np.abs(f(x, y))


def _zeros(argument: int) -> Recipe:
    """A recipe: numbers; some of those of one argument are zero."""

    def recipe(draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
        xs = many(plain, size=67)(draw, dtype)
        zero = np.arange(67) % 3 == 1
        return tuple(np.where(zero & (i == argument), 0, x).astype(dtype) for i, x in enumerate(xs))

    return recipe


def ordered_parts(draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
    """Plain numbers, and bounds whose parts are in order."""
    t, x, y = many(plain, 3)(draw, dtype)
    low = np.minimum(x.real, y.real) + 1j * np.minimum(x.imag, y.imag)
    high = np.maximum(x.real, y.real) + 1j * np.maximum(x.imag, y.imag)
    return t, low.astype(dtype), high.astype(dtype)
