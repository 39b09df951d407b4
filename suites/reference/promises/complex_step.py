"""Complex step: derivatives along tangents by an imaginary step, which cancels no digits.

The function must be a formula that takes complex numbers, such as a polynomial.
W. Squire, G. Trapp, Using Complex Variables to Estimate Derivatives of Real Functions:
https://doi.org/10.1137/S003614459631241X
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tf_opdiff.suites.reference.promises.promise import together
from tf_opdiff.suites.reference.reductions.reduction import long

_STEP = np.longdouble(2) ** -200


def along(function: Callable[..., Any], xs: Sequence[np.ndarray], ts: Sequence[np.ndarray]) -> tuple[np.ndarray, ...]:
    """The derivative of each result along the tangents of all floats, in long double; integers do not move."""
    moved = (long(x) + 1j * _STEP * long(t) if x.dtype.kind == "f" else x for x, t in zip(xs, ts, strict=True))
    return tuple(np.asarray(np.imag(y) / _STEP) for y in together(function(*moved)))
