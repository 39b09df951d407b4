"""Complex power: a part that promises x^y of complex numbers with special parts in both operands.

C99, annex G.6.4.1, allows exp(y log x) for every pair of numbers, which TensorFlow's kernels and XLA compute in some
form. Finite numbers have the right power. A power of 0 is 1, 0 or an infinity by the real part of y, and NaN where that
is 0 and y is not. Where a part is infinite or NaN, the promise is exp(y log x) by annex G, or NaN. Where y log x is NaN
and one of its factors is an infinity, annex G.5 recovers an infinity of any direction, so that the power may be 0 or an
infinity as well. x^0 and 1^y are 1 or NaN there: both conventions exist.

Gradients have no such promise: they are products of powers and logarithms in an order that nothing documents.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tf_opdiff.harness.spec.loose import Loose
from tf_opdiff.harness.spec.recipes import COMPLEX, Draw
from tf_opdiff.suites.forms.analytic import crossed_pairs
from tf_opdiff.suites.forms.complex_alternatives import of_complex
from tf_opdiff.suites.forms.part import Part, part
from tf_opdiff.suites.reference.complex import from_parts
from tf_opdiff.suites.reference.complex_power import exponent_of, power, unrecovered

_NAN = np.array(np.nan)
#: An exponent whose error may be more than this says nothing of the power: i^(10^30) is as good as any number.
_LOST = 2.0**-6


def special_powers(units: float) -> Part:
    """A part: powers of each of 121 numbers by each of them.

    Args:
      units: the error of the exponent y log x, in units of round-off of its size.
    """

    def alternatives(dtype: np.dtype, g: Any, x: np.ndarray, y: np.ndarray) -> Sequence[np.ndarray]:
        value, special, recovered = power(x, y), ~(np.isfinite(x) & np.isfinite(y)), unrecovered(x, y)
        nan = np.where(special, from_parts(_NAN, _NAN), value)
        one = np.where(special & ((y == 0) | (x == 1)), 1, value)
        zero, infinity = (np.where(recovered, end, value) for end in (0, np.inf))
        reach = bound(float(np.finfo(dtype).eps) / 2, g, x, y)
        real, imag = (np.where(np.abs(part) < reach, 0, part) for part in (value.real, value.imag))
        near = [from_parts(*parts) for parts in ((real, value.imag), (value.real, imag))]
        return [*of_complex(value, dtype, (nan, one, zero, *near), signs=True), *of_complex(infinity, dtype)]

    def bound(u: float, g: Any, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        value, exponent = np.abs(power(x, y)), np.abs(exponent_of(x, y))
        return np.where(np.isfinite(value), value * units * u * (1 + np.where(np.isfinite(exponent), exponent, 0)), 0)

    return part(
        "-complex-special",
        reference=power,
        recipes={"special": _pairs},
        dtypes=COMPLEX,
        bound={"output[0]": bound},
        loose={
            "output": Loose(
                lambda x, y: np.abs(exponent_of(x, y)) > 16, "the exponent y log x, rounded, is off by u times it"
            )
        },
        alternatives={"output[0]": alternatives},
    )


def _pairs(draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
    """Each of 121 numbers with each of them, without pairs whose exponent is lost: see `_LOST`."""
    x, y = crossed_pairs(dtype)
    error = np.abs(exponent_of(*(z.astype(np.complex128) for z in (x, y)))) * float(np.finfo(dtype).eps)
    precise = ~(np.isfinite(x) & np.isfinite(y) & (error > _LOST))
    return x[precise], y[precise]
