"""Softmax over the last axis, and its logarithm, in long double, with derivatives and errors."""

from __future__ import annotations

import numpy as np

from tf_opdiff.suites.reference.promises.accumulation import accumulator
from tf_opdiff.suites.reference.reductions.reduction import long


def _last(x: np.ndarray) -> np.ndarray:
    """The sums over the last axis, which stays with size 1."""
    return np.asarray(np.sum(x, axis=-1, keepdims=True))


def _off(x: np.ndarray) -> np.ndarray:
    """The distance of each number from the largest of its row."""
    x = long(x)
    return np.asarray(x - np.max(x, axis=-1, keepdims=True, initial=-np.inf))


def softmax(x: np.ndarray) -> np.ndarray:
    """exp(x) / Σ exp(x); NaN in a row with NaN or +inf, and in a row of -inf alone."""
    e = np.exp(_off(x))
    return np.asarray(e / _last(e))


def log_softmax(x: np.ndarray) -> np.ndarray:
    """x - log Σ exp(x)."""
    off = _off(x)
    return np.asarray(off - np.log(_last(np.exp(off))))


def softmax_vjp(g: np.ndarray, x: np.ndarray) -> np.ndarray:
    """p (g - Σ g p)."""
    p, g = softmax(x), long(g)
    return np.asarray(p * (g - _last(g * p)))


#: The Jacobian is symmetric.
softmax_jvp = softmax_vjp


def softmax_hvp(g: np.ndarray, t: np.ndarray, x: np.ndarray) -> np.ndarray:
    """The derivative of p (g - Σ g p) along t."""
    p, g, dp = softmax(x), long(g), softmax_jvp(t, x)
    return np.asarray(dp * (g - _last(g * p)) - p * _last(g * dp))


def log_softmax_vjp(g: np.ndarray, x: np.ndarray) -> np.ndarray:
    """g - p Σ g."""
    return np.asarray(long(g) - softmax(x) * _last(long(g)))


def log_softmax_jvp(t: np.ndarray, x: np.ndarray) -> np.ndarray:
    """t - Σ p t."""
    return np.asarray(long(t) - _last(softmax(x) * long(t)))


def log_softmax_hvp(g: np.ndarray, t: np.ndarray, x: np.ndarray) -> np.ndarray:
    """The derivative of -p Σ g along t."""
    return np.asarray(-softmax_jvp(t, x) * _last(long(g)))


def _terms(u: float, x: np.ndarray) -> float:
    """The error of a sum over the last axis in units of round-off: long sums of 16 bits are taken in float32."""
    n = x.shape[-1]
    return n * (accumulator(u, n) / u)


def units(u: float, x: np.ndarray) -> np.ndarray:
    """The error of a softmax in units of round-off: a difference, its exponential, a sum of n, and a quotient.

    The rounded difference x - max changes the exponential by its own size. Beyond a distance of 1000 all is zero.
    One class has the whole share, without an error.
    """
    sizes = np.minimum(np.abs(_off(x)), 1000) + _terms(u, x) + 6
    return np.asarray(sizes).astype(np.float64) * (x.shape[-1] > 1)


def _worst(u: float, x: np.ndarray) -> np.ndarray:
    """The units of the elements that have a share, at most, in each row."""
    p = softmax(x).astype(np.float64)
    return np.max(np.where(p > 1e-30, units(u, x), 0), axis=-1, keepdims=True, initial=0)


def softmax_error(u: float, x: np.ndarray) -> np.ndarray:
    """Relative to each share; a subnormal share of float16 is rounded to a multiple of 2^-24 at last."""
    return u * units(u, x) * softmax(x).astype(np.float64) + 2.0**-25 * (u == 2.0**-11)


def log_softmax_error(u: float, x: np.ndarray) -> np.ndarray:
    """The difference from the largest, and the logarithm of a sum from 1 to n: both are rounded, and their sum.

    The sum is off by no more than the shares that are not the largest, for an addition is off by at most its smaller
    term (Higham, Accuracy and Stability, section 2.2): a row with one number far above the others has no error.
    """
    others = (_last(np.exp(_off(x))) - 1).astype(np.float64)
    of_sum = np.minimum(u * (_terms(u, x) + 10), 4 * others)
    return 4 * u * np.abs(log_softmax(x)).astype(np.float64) + of_sum


def softmax_vjp_error(u: float, g: np.ndarray, x: np.ndarray) -> np.ndarray:
    """The errors of the shares, and a sum of n products."""
    p, g = softmax(x).astype(np.float64), np.abs(g)
    size = (units(u, x) + 2) * (g + _last(g * p)) + (_worst(u, x) + _terms(u, x)) * _last(g * p)
    return u * p * size * (x.shape[-1] > 1)


def log_softmax_vjp_error(u: float, g: np.ndarray, x: np.ndarray) -> np.ndarray:
    """The errors of the shares, which are exponentials of rounded logarithms, and a sum of n upstreams."""
    p, g = softmax(x).astype(np.float64), np.abs(g)
    return u * (2 * g + p * (units(u, x) + _terms(u, x) + 4) * _last(g)) * (x.shape[-1] > 1)


softmax_jvp_error = softmax_vjp_error


def log_softmax_jvp_error(u: float, t: np.ndarray, x: np.ndarray) -> np.ndarray:
    """The errors of the shares in a sum of n products."""
    p, t = softmax(x).astype(np.float64), np.abs(t)
    return u * (4 * t + _last(p * t * (2 * units(u, x) + _terms(u, x))))


def softmax_hvp_error(u: float, g: np.ndarray, t: np.ndarray, x: np.ndarray) -> np.ndarray:
    """The sizes of all products, times the errors of the shares and of two sums."""
    p, g, t = softmax(x).astype(np.float64), np.abs(g), np.abs(t)
    of_g, of_t = g + _last(g * p), t + _last(p * t)
    return u * (_worst(u, x) + _terms(u, x)) * p * (of_t * of_g + _last(g * p * of_t))


def log_softmax_hvp_error(u: float, g: np.ndarray, t: np.ndarray, x: np.ndarray) -> np.ndarray:
    """The errors of the shares, and of two sums."""
    p, t = softmax(x).astype(np.float64), np.abs(t)
    return u * (_worst(u, x) + _terms(u, x)) * p * (t + _last(p * t)) * _last(np.abs(g))
