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

from tf_opdiff.suites.forms.elementwise.kernel import ROUNDED
from tf_opdiff.suites.reference.elementwise.complex import from_parts
from tf_opdiff.suites.reference.promises.subnormal import Others

#: The parts of a complex infinity, or of a NaN in its place.
_PARTS = (np.inf, -np.inf, np.nan, 0.0, -0.0)
_INFINITIES = tuple((a, b) for a, b in product(_PARTS, _PARTS) if a or b)


def of_complex(exact: np.ndarray, dtype: np.dtype, others: Sequence[np.ndarray] = (), *, signs: bool = False) -> Others:
    """Alternatives of an array of complex numbers, as of a spec.

    Args:
      exact: the promise.
      dtype: complex64 or complex128.
      others: further values that are right.
      signs: whether a part that is exactly zero may have either sign.
    """
    part = np.dtype(f"f{dtype.itemsize // 2}")
    alternatives: Others = []
    for value in (exact, *others):
        real, imag = ((x, *ROUNDED.flushed(x, part)) for x in (value.real, value.imag))
        alternatives += _of_parts(real[:1], imag[:1], part, signs=signs)
        alternatives += [
            tuple(_of_parts(*parts, part, signs=signs))
            for parts in ((real[1:], imag[1:]), (real[:1], imag[1:]), (real[1:], imag[:1]))
        ]
    rounded = exact.astype(dtype)
    infinite = np.isinf(rounded.real) | np.isinf(rounded.imag)
    if infinite.any():
        alternatives += [np.where(infinite, from_parts(np.array(a), np.array(b)), exact) for a, b in _INFINITIES]
    return alternatives


def in_range(values: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """The values as a kernel may hold them in a dtype: rounded, and with zeros for subnormal parts."""
    part = np.dtype(f"f{dtype.itemsize // 2}")
    rounded = values.astype(dtype).astype(np.clongdouble)
    return from_parts(*(ROUNDED.flushed(x, part)[1] for x in (rounded.real, rounded.imag)))


def _of_parts(
    reals: Sequence[np.ndarray], imaginaries: Sequence[np.ndarray], dtype: np.dtype, *, signs: bool
) -> list[np.ndarray]:
    """The numbers of these parts, each with either sign where it rounds to zero."""
    either = [[one for x in parts for one in (x, _other_sign(x, dtype, signs))] for parts in (reals, imaginaries)]
    return [from_parts(real, imag) for real, imag in product(*either)]


def _other_sign(x: np.ndarray, dtype: np.dtype, signs: bool) -> np.ndarray:
    """A part with the other sign where it rounds to zero."""
    zero = x.astype(dtype) == 0
    return np.where(zero if signs else zero & (x != 0), -np.copysign(0, x), x)
