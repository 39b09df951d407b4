"""Complex alternatives: the complex numbers that are right besides the promised one, part by part.

A part of a complex number may be flushed if it is subnormal. A part that rounds to zero is the difference of two terms,
and may be a zero of either sign; of a gradient, which is a product, so may a part that is zero. Where a promise is a
complex infinity, which C99, annex G.3, defines as a number with at least one infinite part, any complex infinity is
right. So is NaN, which products and quotients of complex infinities give without the recovery of annex G.5.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np

from tf_opdiff.suites.forms.elementwise.flushed import ROUNDED
from tf_opdiff.suites.reference.elementwise.complex import from_parts

#: The parts of a complex infinity, or of a NaN in its place.
_PARTS = (np.inf, -np.inf, np.nan, 0.0, -0.0)
_INFINITIES = tuple((a, b) for a, b in product(_PARTS, _PARTS) if a or b)


def of_complex(
    exact: np.ndarray, dtype: np.dtype, others: Sequence[np.ndarray] = (), *, signs: bool = False
) -> list[np.ndarray]:
    """Alternatives of an array of complex numbers, as of a spec.

    Args:
      exact: the promise.
      dtype: complex64 or complex128.
      others: further values that are right.
      signs: whether a part that is exactly zero may have either sign.
    """
    part = np.dtype(f"f{dtype.itemsize // 2}")
    alternatives = []
    for value in (exact, *others):
        parts = product(_either(value.real, part, signs), _either(value.imag, part, signs))
        alternatives += [from_parts(real, imag) for real, imag in parts]
    rounded = exact.astype(dtype)
    infinite = np.isinf(rounded.real) | np.isinf(rounded.imag)
    if infinite.any():
        alternatives += [np.where(infinite, from_parts(np.array(a), np.array(b)), exact) for a, b in _INFINITIES]
    return alternatives


def in_range(values: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """The values as a kernel may hold them in a dtype: rounded, and with zeros for subnormal parts."""
    part = np.dtype(f"f{dtype.itemsize // 2}")
    rounded = values.astype(dtype).astype(np.clongdouble)
    return from_parts(ROUNDED.flushed(rounded.real, part), ROUNDED.flushed(rounded.imag, part))


def _either(x: np.ndarray, dtype: np.dtype, signs: bool) -> tuple[np.ndarray, ...]:
    """A part itself, flushed, and with the other sign where it rounds to zero."""
    zero = x.astype(dtype) == 0
    return x, ROUNDED.flushed(x, dtype), np.where(zero if signs else zero & (x != 0), -np.copysign(0, x), x)
