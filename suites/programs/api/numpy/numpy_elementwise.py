"""Elementwise functions of `tf.experimental.numpy` against NumPy itself."""

from dataclasses import replace

import numpy as np

from tf_opdiff.suites.forms.programs.api import Call, calls, fixed, large, within
from tf_opdiff.suites.reference.promises.function import wide

_SIZE = 67
_VALUES = (0.0, -0.0, 1.0, -1.0, 0.5, np.inf, -np.inf, np.nan, 1e30, -3.0, 2.0)


def _crossed(draw, dtype):
    """Special numbers in every pair."""
    x, y = np.meshgrid(_VALUES, _VALUES)
    return x.ravel().astype(dtype), y.ravel().astype(dtype)


def _pairs(draw, dtype):
    """Numbers of moderate size; every third pair is equal or nearly so."""
    x, y = draw.values(dtype, _SIZE), draw.values(dtype, _SIZE)
    y[::3] = (x[::3].astype(np.float64) * (1 + 1e-6 * np.arange(len(x[::3])))).astype(dtype)
    return x, y


def _huge(draw, dtype):
    """Numbers whose squares overflow, beside smaller ones."""
    power = 2.0 ** int(0.6 * np.finfo(dtype).maxexp)
    return (draw.uniform(_SIZE, low=1, high=2) * power).astype(dtype), draw.values(dtype, _SIZE)


def _small_integers(draw, dtype):
    """Numbers of both signs; no zero among the second ones."""
    x, y = draw.integers(_SIZE, low=-50, high=50), draw.integers(_SIZE, low=1, high=12)
    return x.astype(dtype), np.where(draw.booleans(_SIZE), y, -y).astype(dtype)


def _log_sum(base):
    def f(x, y):
        delta = np.where(x == y, 0, np.abs(x - y))
        return np.maximum(x, y) + np.log1p(base**-delta) / np.log(base)

    return wide(lambda x, y: np.where(np.isinf(x) & (x == y), x, f(x, y)))


_E, _TWO = _log_sum(np.exp(np.longdouble(1))), _log_sum(np.longdouble(2))


def _log_sum_error(u, x, y):
    return 6 * u * (np.maximum(np.abs(x), np.abs(y)) + 1)


def _unary(name, program, f, error=None, **fields):
    return Call(name=f"experimental.numpy.{name}", program=program, reference=wide(f), error=error, **fields)


def _binary(name, program, f, **fields):
    return Call(name=f"experimental.numpy.{name}", program=program, reference=f, **fields)


def _angle(x):
    return np.where(np.isnan(x), x, np.where(x < 0, np.longdouble(np.pi), 0))


def _next(x, y):
    return np.nextafter(x.astype(np.float32), y.astype(np.float32))


def _within(equal_nan):
    """|x - y| ≤ atol + rtol |y|, as by `numpy.isclose`: infinities are close to themselves."""
    return lambda x, y: np.isclose(x, y, rtol=1e-3, atol=1e-5, equal_nan=equal_nan)


_SINC = _unary(
    "sinc",
    lambda tf, x: tf.experimental.numpy.sinc(x),
    np.sinc,
    # πx is off by u, and so is the sine's argument.
    lambda u, x: 6 * u * np.minimum(1 + 0 * x, 1 + np.abs(np.sinc(x))),
)


@wide
def _sinc_slope(x):
    """(cos πx - sinc x) / x, and its limit 0 at 0; near 0 its terms cancel."""
    divisor = np.where(x == 0, 1, x)
    return np.where(x == 0, 0, (np.cos(np.pi * x) - np.sinc(x)) / divisor)


SPECS = (
    *calls(
        "api-numpy-unary",
        _unary("cbrt", lambda tf, x: tf.experimental.numpy.cbrt(x), np.cbrt, lambda u, x: 24 * u * np.cbrt(np.abs(x))),
        _SINC,
        _unary("deg2rad", lambda tf, x: tf.experimental.numpy.deg2rad(x), np.deg2rad, ulp=2),
        _unary("sign", lambda tf, x: tf.experimental.numpy.sign(x), np.sign, signed=False),
        _unary("angle", lambda tf, x: tf.experimental.numpy.angle(x), _angle, ulp=0.5),
        recipes={"plain": within(-4, 4)},
        ops="Pow;Sin;Sign",
    ),
    *calls(
        "api-numpy-sinc",
        replace(
            _SINC,
            vjp=lambda g, x: g * _sinc_slope(x),
            grad_error=lambda u, g, x: 24 * u * np.abs(g) * (1 + 1 / np.where(x == 0, 1, np.abs(x))),
        ),
        recipes={"plain": within(-4, 4), "whole": fixed(0.0, -0.0, 1.0, -1.0, 2.0, 0.5, -0.25)},
        ops="Sin",
        more=("float64",),
    ),
    *calls(
        "api-numpy-unary-special",
        _unary(
            "cbrt",
            lambda tf, x: tf.experimental.numpy.cbrt(x),
            np.cbrt,
            lambda u, x: 60 * u * np.cbrt(np.abs(x)),
            signed=False,
        ),
        _unary("sign", lambda tf, x: tf.experimental.numpy.sign(x), np.sign, signed=False),
        _unary("fix", lambda tf, x: tf.experimental.numpy.fix(x), np.fix, signed=False),
        _unary("square", lambda tf, x: tf.experimental.numpy.square(x), np.square, ulp=0.5),
        recipes={"large": large},
        ops="Pow;Sign",
    ),
    *calls(
        "api-numpy-binary",
        _binary(
            "logaddexp", lambda tf, x, y: tf.experimental.numpy.logaddexp(x, y), _E, error=_log_sum_error, signed=False
        ),
        _binary(
            "logaddexp2",
            lambda tf, x, y: tf.experimental.numpy.logaddexp2(x, y),
            _TWO,
            error=_log_sum_error,
            signed=False,
        ),
        _binary(
            "hypot",
            lambda tf, x, y: tf.experimental.numpy.hypot(x, y),
            wide(np.hypot),
            error=lambda u, x, y: 4 * u * np.hypot(x, y),
        ),
        _binary("heaviside", lambda tf, x, y: tf.experimental.numpy.heaviside(x, y), np.heaviside, signed=False),
        _binary("isclose", lambda tf, x, y: tf.experimental.numpy.isclose(x, y, rtol=1e-3, atol=1e-5), _within(False)),
        _binary(
            "isclose",
            lambda tf, x, y: tf.experimental.numpy.isclose(x, y, rtol=1e-3, atol=1e-5, equal_nan=True),
            _within(True),
        ),
        _binary(
            "clip",
            lambda tf, x, y: tf.experimental.numpy.clip(x, y, 2.5),
            lambda x, y: np.clip(x, y, 2.5),
            signed=False,
        ),
        _binary("nextafter", lambda tf, x, y: tf.experimental.numpy.nextafter(x, y), _next),
        arguments=2,
        recipes={"plain": _pairs, "crossed": _crossed, "huge": _huge},
        ops="Exp;Sqrt;NextAfter",
    ),
    *calls(
        "api-numpy-integers",
        _binary("true_divide", lambda tf, x, y: tf.experimental.numpy.true_divide(x, y), lambda x, y: x / y),
        _binary("floor_divide", lambda tf, x, y: tf.experimental.numpy.floor_divide(x, y), lambda x, y: x // y),
        _binary("remainder", lambda tf, x, y: tf.experimental.numpy.remainder(x, y), lambda x, y: x % y),
        _binary("gcd", lambda tf, x, y: tf.experimental.numpy.gcd(x, y), np.gcd),
        _binary("lcm", lambda tf, x, y: tf.experimental.numpy.lcm(x, y), np.lcm),
        _binary(
            "power", lambda tf, x, y: tf.experimental.numpy.power(x, abs(y) % 4), lambda x, y: x ** (np.abs(y) % 4)
        ),
        arguments=2,
        recipes={"small": _small_integers},
        ops="RealDiv;FloorDiv;FloorMod;Pow",
        dtypes=("int32", "int64"),
    ),
    *calls(
        "api-numpy-around",
        _unary(
            "around",
            lambda tf, x: tf.experimental.numpy.around(x, 2),
            lambda x: np.round(x * 100) / 100,
            lambda u, x: 4 * u * np.abs(x),
            signed=False,
        ),
        recipes={"plain": within(-4, 4)},
    ),
    *calls(
        "api-numpy-heaviside",
        _binary("heaviside", lambda tf, x, y: tf.experimental.numpy.heaviside(x, y), np.heaviside),
        arguments=2,
        recipes={"small": _small_integers},
        dtypes=("int32",),
    ),
)
