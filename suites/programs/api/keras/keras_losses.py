"""Losses of `tf.keras.losses`, as means over the last axis: https://keras.io/api/losses/."""

import numpy as np

from tf_opdiff.suites.forms.programs.api import Call, calls
from tf_opdiff.suites.forms.recipes.rows import SHAPE
from tf_opdiff.suites.reference.promises.function import wide

_N = SHAPE[1]


def _mean_of(name, program, loss, slope, *, size, slope_size, **fields):
    """A loss of each pair of target and prediction, as a mean over the last axis.

    Args:
      name: as of a call, in `keras.losses`.
      program: as of a call.
      loss: loss(target, prediction).
      slope: its derivatives by the target and by the prediction.
      size: size(target, prediction) → the sum of the sizes of the terms that the loss adds.
      slope_size: the same of both derivatives.
      fields: further fields of the call.
    """

    def vjp(g, t, p):
        by_t, by_p = wide(slope)(t, p)
        return g[:, None] * by_t / _N, g[:, None] * by_p / _N

    def grad_error(u, g, t, p):
        by_t, by_p = slope_size(t, p)
        factor = 12 * u * np.abs(g[:, None]) / _N
        return factor * by_t, factor * by_p

    return Call(
        name=f"keras.losses.{name}",
        program=program,
        reference=wide(lambda t, p: np.mean(loss(t, p), axis=1)),
        vjp=vjp,
        error=lambda u, t, p: (_N + 12) * u * np.mean(size(t, p), axis=1),
        grad_error=grad_error,
        **fields,
    )


def _huber(t, p):
    e = np.abs(p - t)
    return np.where(e <= 1, e * e / 2, e - np.longdouble(0.5))


def _huber_slope(t, p):
    s = np.clip(p - t, -1, 1)
    return -s, s


def _log_cosh(t, p):
    """log(cosh(x)), x the error: |x| + log(1 + exp(-2|x|)) - log 2, which does not overflow."""
    x = np.abs(p - t)
    return x + np.log1p(np.exp(-2 * x)) - np.log(np.longdouble(2))


def _log_cosh_slope(t, p):
    return -np.tanh(p - t), np.tanh(p - t)


def _ones(t, p):
    return np.ones(t.shape), np.ones(t.shape)


def _plain(draw, dtype):
    """Targets and predictions of moderate size."""
    return draw.values(dtype, *SHAPE), draw.values(dtype, *SHAPE)


def _far(draw, dtype):
    """Large errors of both signs, whose exponentials overflow."""
    return draw.values(dtype, *SHAPE), (draw.uniform(*SHAPE) * 500).astype(dtype)


def _equal(draw, dtype):
    """Predictions that are right, and errors at the kink of the Huber loss."""
    t = draw.integers(*SHAPE, low=-4, high=5).astype(dtype)
    return t, (t + np.resize([0.0, 1.0, -1.0, 0.0], SHAPE)).astype(dtype)


SPECS = (
    *calls(
        "api-keras-losses",
        _mean_of(
            "huber",
            lambda tf, t, p: tf.keras.losses.huber(t, p),
            _huber,
            _huber_slope,
            size=lambda t, p: (np.abs(t) + np.abs(p)) * (1 + np.minimum(1, np.abs(p - t))),
            slope_size=lambda t, p: tuple(np.abs(s) + 0 * t for s in _huber_slope(t, p)),
        ),
        _mean_of(
            "logcosh",
            lambda tf, t, p: tf.keras.losses.logcosh(t, p),
            _log_cosh,
            _log_cosh_slope,
            size=lambda t, p: np.abs(p - t) + 1,
            slope_size=_ones,
            signed=False,
        ),
        _mean_of(
            "MSE",
            lambda tf, t, p: tf.keras.losses.MSE(t, p),
            lambda t, p: (p - t) ** 2,
            lambda t, p: (2 * (t - p), 2 * (p - t)),
            size=lambda t, p: (p - t) ** 2,
            slope_size=lambda t, p: (np.abs(t - p), np.abs(t - p)),
        ),
        _mean_of(
            "MAE",
            lambda tf, t, p: tf.keras.losses.MAE(t, p),
            lambda t, p: np.abs(p - t),
            lambda t, p: (np.sign(t - p), np.sign(p - t)),
            size=lambda t, p: np.abs(p - t),
            slope_size=lambda t, p: (np.abs(np.sign(t - p)), np.abs(np.sign(t - p))),
        ),
        arguments=2,
        recipes={"plain": _plain, "far": _far, "equal": _equal},
        ops="Softplus;Square;Abs",
    ),
)
