"""Logarithms of sums of exponentials, and shares of such sums."""

import numpy as np

from tf_opdiff.suites.forms.programs.api import Call, calls
from tf_opdiff.suites.forms.recipes.rows import SHAPE, offset, plain, rows
from tf_opdiff.suites.reference.promises.function import wide

_N = SHAPE[1]
INF, NAN = np.inf, np.nan


def _column(g):
    return np.asarray(g)[..., None]


@wide
def _logsumexp(x):
    top = np.max(x, axis=1, keepdims=True)
    top = np.where(np.isfinite(top), top, 0)
    return np.log(np.sum(np.exp(x - top), axis=1)) + top[:, 0]


@wide
def _shares(x):
    """softmax; a row with one +inf has the whole share there, and a row of -inf has no shares."""
    top = np.max(x, axis=1, keepdims=True)
    e = np.where(np.isposinf(top), np.where(np.isposinf(x), 1, 0), np.exp(x - top))
    return np.where(np.isnan(top), np.nan, e / np.sum(e, axis=1, keepdims=True))


@wide
def _cumulative(x):
    return np.logaddexp.accumulate(x, axis=1)


@wide
def _cumulative_vjp(g, x):
    y = _cumulative(x)
    weights = np.exp(x[:, :, None] - y[:, None, :])  # ∂y[j] / ∂x[i], for j ≥ i
    return np.sum(np.where(np.triu(np.ones((_N, _N), bool)), weights * g[:, None, :], 0), axis=2)


def _cumulative_grad_error(u, g, x):
    y = _cumulative(x)
    weights = np.where(np.triu(np.ones((_N, _N), bool)), np.exp(x[:, :, None] - y[:, None, :]), 0)
    sizes = 40 + 8 * np.abs(x)[:, :, None] + 8 * np.abs(y)[:, None, :]
    return u * np.sum(np.where(weights == 0, 0, weights * np.abs(g[:, None, :]) * sizes), axis=2)


@wide
def _softmax(x):
    """exp(x) / Σ exp(x): in a row with +inf, which gives inf / inf, all other numbers have no share."""
    top = np.max(x, axis=1, keepdims=True)
    e = np.exp(x - top)
    shares = e / np.sum(e, axis=1, keepdims=True)
    return np.where(np.isposinf(top), np.where(np.isposinf(x), np.nan, 0), shares)


def _softmax_vjp(g, x):
    p = _softmax(x)
    return p * (g - np.sum(g * p, axis=1, keepdims=True))


def _softmax_grad_error(u, g, x):
    p = _softmax(x)
    return 40 * u * p * (np.abs(g) + np.sum(np.abs(g) * p, axis=1, keepdims=True))


@wide
def _log_softmax(x):
    return x - _column(_logsumexp(x))


def _log_softmax_vjp(g, x):
    return g - _softmax(x) * np.sum(g, axis=1, keepdims=True)


#: Rows: all -inf; some -inf; one +inf; NaN.
_MASKED = rows([-INF], [-INF, 0.0, 1.0], [INF, *[1.0] * (_N - 1)], [NAN, 1.0, 2.0])
#: Rows: zeros; zeros of both signs; equal numbers; equal and opposite numbers.
_TIES = rows([0.0], [-0.0, 0.0], [2.0], [3.0, -3.0])

SPECS = (
    *calls(
        "api-log-sum",
        Call(
            name="math.reduce_logsumexp",
            program=lambda tf, x: tf.math.reduce_logsumexp(x, axis=1),
            reference=_logsumexp,
            vjp=lambda g, x: _column(g) * _shares(x),
            error=lambda u, x: u * (_N + 10 + 2 * np.abs(_logsumexp(x))),
            grad_error=lambda u, g, x: 30 * u * np.abs(_column(g)) * _shares(x),
        ),
        Call(
            name="math.cumulative_logsumexp",
            program=lambda tf, x: tf.math.cumulative_logsumexp(x, axis=1),
            reference=_cumulative,
            vjp=_cumulative_vjp,
            error=lambda u, x: _N * u * (4 + 2 * np.abs(_cumulative(x))),
            grad_error=_cumulative_grad_error,
            signed=False,
        ),
        Call(
            name="nn.softmax",
            program=lambda tf, x: tf.transpose(tf.nn.softmax(tf.transpose(x), axis=0)),
            reference=_softmax,
            vjp=_softmax_vjp,
            error=lambda u, x: 30 * u * _softmax(x),
            grad_error=_softmax_grad_error,
        ),
        Call(
            name="nn.log_softmax",
            program=lambda tf, x: tf.transpose(tf.nn.log_softmax(tf.transpose(x), axis=0)),
            reference=_log_softmax,
            vjp=_log_softmax_vjp,
            error=lambda u, x: u * (_N + 10 + 2 * np.abs(_log_softmax(x))),
            grad_error=lambda u, g, x: 30 * u * (np.abs(g) + _softmax(x) * np.sum(np.abs(g), axis=1, keepdims=True)),
            signed=False,
        ),
        recipes={"plain": plain, "offset": offset(1000), "below": offset(-1000), "masked": _MASKED, "ties": _TIES},
        ops="Log;CumulativeLogsumexp;Softmax;LogSoftmax",
        more=("float64",),
    ),
)
