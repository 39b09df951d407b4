"""Conversion between dtypes, done in integers and powers of two; NumPy and ml_dtypes agree with it, says a test."""

from collections.abc import Callable

import ml_dtypes
import numpy as np

from tf_opdiff.harness.spec.recipes import is_float


def odd(x: np.ndarray) -> np.ndarray:
    """Integers as float64, rounded so that a second rounding, to half the digits, gives what one rounding would.

    An inexact result gets an odd last bit: S. Boldo, G. Melquiond, https://doi.org/10.1109/TC.2007.70819.
    """
    near = x.astype(np.float64)
    back = np.array([int(v) for v in near.ravel()], object).reshape(x.shape)
    over = np.where(back > x.astype(object), np.nextafter(near, -np.inf, dtype=np.float64), near)
    inexact = (back != x.astype(object)) & ((over.view(np.int64) & 1) == 0)
    return np.where(inexact, np.nextafter(over, np.inf), over)


def rounded(x: np.ndarray, dtype: np.dtype, rounding: Callable[[np.ndarray], np.ndarray] = np.rint) -> np.ndarray:
    """float64 numbers rounded to nearest, ties to even. Too large numbers become inf, or NaN if there is no inf."""
    info = ml_dtypes.finfo(dtype)
    last = np.maximum(np.frexp(x)[1] - 1, int(info.minexp)) - int(info.nmant)
    finite = np.isfinite(x)
    near = np.where(finite, np.ldexp(rounding(np.ldexp(np.where(finite, x, 0), -last)), last), x)
    return np.where(np.abs(near) > float(info.max), np.copysign(np.inf, x), near).astype(dtype)


def cast(x: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """An array in another dtype; floats arrive widened.

    A complex number gives its real part. As a boolean it is true if either part is not zero, as in NumPy:
    https://www.tensorflow.org/api_docs/python/tf/cast. Integers wrap around; floats are rounded towards zero, and
    have to be in the range of 64 bits.
    """
    if dtype.kind == "c":
        joined = np.zeros(x.shape, dtype)
        joined.real = cast(x.real, joined.real.dtype)
        joined.imag = cast(x.imag, joined.real.dtype) if x.dtype.kind == "c" else 0
        return joined
    if dtype.kind == "b":
        return x != 0
    if x.dtype.kind == "c":
        x = x.real
    if x.dtype.kind == "f":
        if is_float(dtype):
            return rounded(x, dtype)
        return x.astype(np.uint64 if dtype == np.uint64 and (x >= 0).all() else np.int64).astype(dtype)
    whole = x if x.dtype == np.uint64 else x.astype(np.int64)
    return rounded(odd(whole), dtype) if is_float(dtype) and dtype != np.float64 else whole.astype(dtype)
