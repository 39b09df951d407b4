"""Conversion between dtypes, done in integers and powers of two; NumPy and ml_dtypes agree with it, says a test."""

from collections.abc import Callable

import ml_dtypes
import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import is_float


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
        upper = x.astype(np.uint64).astype(dtype)  # of numbers that 63 bits do not hold
        return np.where((x >= 2.0**63) & (dtype == np.uint64), upper, x.astype(np.int64).astype(dtype))
    whole = x if x.dtype == np.uint64 else x.astype(np.int64)
    return rounded(odd(whole), dtype) if is_float(dtype) and dtype != np.float64 else whole.astype(dtype)


def unpacked(x: np.ndarray) -> np.ndarray:
    """The integers, as many as x has, that one reads who takes each byte of x for two numbers of 4 bits.

    x has one number of 4 bits in each byte, in the lower half, which comes first. The upper half is 0.
    """
    at = np.arange(x.size)
    return np.where(at % 2 == 0, x.astype(np.int64)[at // 2], 0)


def limits(dtype: np.dtype) -> tuple[int, int]:
    """The least and the largest number of an integer dtype."""
    info = ml_dtypes.iinfo(dtype)
    return int(info.min), int(info.max)


def beyond(dtype: np.dtype, x: np.ndarray) -> np.ndarray:
    """Where a float, rounded towards zero, is NaN or not in the range of an integer dtype; false for other dtypes."""
    real = x.real if x.dtype.kind == "c" else x
    if not is_float(real.dtype) or dtype.kind in "bc" or is_float(dtype):
        return np.zeros(x.shape, bool)
    low, high = limits(dtype)
    cut = np.trunc(real.astype(np.float64))
    return ~((cut >= low) & (cut < float(high) + 1) & (cut <= high))


def saturating_cast(x: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """`cast`; beyond the range of an integer dtype, its nearest number, and 0 for NaN.

    C++ and the documentation of tf.cast leave those casts undefined: see docs/explanations/conventions.md. Finite
    negative numbers wrap around in unsigned dtypes, as in NumPy.
    """
    out = beyond(dtype, x)
    if not out.any():
        return cast(x, dtype)
    low, high = limits(dtype)
    out &= ~((low == 0) & np.isfinite(x.real) & (x.real < 0))
    end = np.where(x.real > 0, np.array(high, dtype), np.array(low, dtype))
    return np.where(out, np.where(np.isnan(x.real), np.zeros((), dtype), end), cast(np.where(out, 0, x), dtype))
