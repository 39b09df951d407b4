"""Normalization by means and variances."""

from typing import Any

import numpy as np

from tf_opdiff.suites.forms.programs.api import Call, calls
from tf_opdiff.suites.forms.recipes.rows import SHAPE
from tf_opdiff.suites.reference.promises.function import wide

_ROWS, _N = SHAPE
_EPSILON = 0.001


def _weighted(draw, dtype):
    """Values and weights; some weights are 0, and those of the last row all are."""
    weights = draw.integers(*SHAPE, low=0, high=4).astype(dtype)
    weights[-1] = 0
    return draw.values(dtype, *SHAPE), weights


def _far(draw, dtype):
    """Values next to 1000, whose naive sum of squares is far from the variance."""
    return (1000 + draw.uniform(*SHAPE)).astype(dtype), draw.integers(*SHAPE, low=1, high=4).astype(dtype)


def _positive(w):
    total = np.sum(w, axis=1, keepdims=True)
    return np.where(total == 0, 1, total)


@wide
def _weighted_mean(x, w):
    """Σ w x / Σ w, and 0 without weights."""
    return np.sum(w * x, axis=1) / _positive(w)[:, 0]


@wide
def _weighted_variance(x, w):
    mean = _weighted_mean(x, w)[:, None]
    return np.sum(w * (x - mean) ** 2, axis=1) / _positive(w)[:, 0]


def _weighted_vjp(gm, gv, x, w):
    d, share = x - _weighted_mean(x, w)[:, None], w / _positive(w)
    unweighted = np.sum(w, axis=1, keepdims=True) == 0
    by_w = (gm[:, None] * d + gv[:, None] * (d * d - _weighted_variance(x, w)[:, None])) / _positive(w)
    return share * (gm[:, None] + 2 * gv[:, None] * d), np.where(unweighted, 0, by_w)


def _weighted_error(u, x, w):
    size = np.sum(w * np.abs(x), axis=1) / _positive(w)[:, 0]
    off = (2 * _N + 8) * u * size
    return off, (2 * _N + 12) * u * _weighted_variance(x, w) + off * off + 2 * u * off


def _weighted_grad_error(u, g, x, w):
    gm, gv = np.abs(g[0])[:, None], np.abs(g[1])[:, None]
    mean_size = np.sum(w * np.abs(x), axis=1, keepdims=True) / _positive(w)
    d = np.abs(x - _weighted_mean(x, w)[:, None]) + mean_size
    spread = _weighted_variance(x, w)[:, None]
    units = (4 * _N + 20) * u
    return units * w / _positive(w) * (gm + 2 * gv * d), units / _positive(w) * (gm * d + gv * (d * d + spread))


def _batch(draw, dtype):
    """Values, means, variances (0 among them), offsets and scales of columns."""
    variance = draw.uniform(_N, low=0, high=4)
    variance[0] = 0
    columns = [draw.values(dtype, _N), variance.astype(dtype), draw.values(dtype, _N), draw.values(dtype, _N)]
    return draw.values(dtype, *SHAPE), *columns


@wide
def _normalized(x, mean, variance, offset, scale):
    """scale (x - mean) / √(variance + ε) + offset."""
    return scale * (x - mean) / np.sqrt(variance + np.longdouble(_EPSILON)) + offset


def _normalized_vjp(g, x, *columns):
    mean, variance, _, scale = columns
    inverse = 1 / np.sqrt(variance + np.longdouble(_EPSILON))
    total = np.sum(g, axis=0)
    by_variance = -np.sum(g * scale * (x - mean), axis=0) * inverse**3 / 2
    by_scale = np.sum(g * (x - mean), axis=0) * inverse
    return g * scale * inverse, -total * scale * inverse, by_variance, total, by_scale


def _normalized_error(u, x, *columns):
    mean, variance, offset, scale = columns
    inverse = 1 / np.sqrt(variance + _EPSILON)
    return 10 * u * (np.abs(scale) * (np.abs(x) + np.abs(mean)) * inverse + np.abs(offset))


def _normalized_grad_error(u, g, x, *columns):
    mean, variance, _, scale = columns
    inverse, g, scale = 1 / np.sqrt(variance + _EPSILON), np.abs(g), np.abs(scale)
    total, size = np.sum(g, axis=0), np.sum(g * (np.abs(x) + np.abs(mean)), axis=0)
    u = 20 * u
    return (
        u * g * scale * inverse,
        u * total * scale * inverse,
        u * size * scale * inverse**3,
        u * total,
        u * size * inverse,
    )


def _distributions(draw, dtype):
    """Distributions as labels, and logits."""
    labels = draw.uniform(*SHAPE, low=0, high=1)
    labels[0] = np.eye(_N)[3]
    return (labels / labels.sum(axis=1, keepdims=True)).astype(dtype), (draw.uniform(*SHAPE) * 8).astype(dtype)


def _far_logits(draw, dtype):
    """One-hot labels, and logits whose exponentials overflow or vanish."""
    return np.eye(*SHAPE).astype(dtype), (1000 + draw.uniform(*SHAPE) * 40).astype(dtype)


@wide
def _log_shares(x):
    top = np.max(x, axis=1, keepdims=True)
    return x - top - np.log(np.sum(np.exp(x - top), axis=1, keepdims=True))


def _entropy_vjp(g, z, x):
    logs = _log_shares(x)
    return -g[:, None] * logs, g[:, None] * (np.exp(logs) - z)


def _entropy_grad_error(u, g, z, x):
    logs, g = _log_shares(x), np.abs(g[:, None])
    return u * g * (2 * np.abs(logs) + _N + 10), u * g * ((_N + 20 + 2 * np.abs(logs)) * np.exp(logs) + 3 * z + u)


_NORMALIZED: dict[str, Any] = {
    "reference": _normalized,
    "vjp": _normalized_vjp,
    "error": _normalized_error,
    "grad_error": _normalized_grad_error,
}

SPECS = (
    *calls(
        "api-weighted-moments",
        Call(
            name="nn.weighted_moments",
            program=lambda tf, x, w: tf.nn.weighted_moments(x, axes=[1], frequency_weights=w),
            reference=lambda x, w: (_weighted_mean(x, w), _weighted_variance(x, w)),
            vjp=lambda g, x, w: _weighted_vjp(g[0], g[1], x, w),
            error=_weighted_error,
            grad_error=_weighted_grad_error,
            outputs=2,
            signed=False,
        ),
        arguments=2,
        recipes={"plain": _weighted, "far": _far},
        ops="DivNoNan;SquaredDifference",
    ),
    *calls(
        "api-batch-normalization",
        Call(
            name="nn.batch_normalization",
            program=lambda tf, x, m, v, b, s: tf.nn.batch_normalization(x, m, v, b, s, 0.001),
            **_NORMALIZED,
        ),
        arguments=5,
        recipes={"plain": _batch},
        ops="Rsqrt",
    ),
    *calls(
        "api-batch-normalization-global",
        Call(
            name="nn.batch_norm_with_global_normalization",
            program=lambda tf, x, m, v, b, s: tf.nn.batch_norm_with_global_normalization(x, m, v, b, s, 0.001, True),
            **_NORMALIZED,
        ),
        arguments=5,
        recipes={"plain": _batch},
        ops="Rsqrt",
        tier="full",
    ),
    *calls(
        "api-softmax-cross-entropy",
        Call(
            name="nn.softmax_cross_entropy_with_logits",
            program=lambda tf, z, x: tf.nn.softmax_cross_entropy_with_logits(labels=z, logits=x),
            reference=wide(lambda z, x: -np.sum(z * _log_shares(x), axis=1)),
            vjp=_entropy_vjp,
            error=lambda u, z, x: 2 * u * np.sum(z * (np.abs(_log_shares(x)) + _N + 10), axis=1),
            grad_error=_entropy_grad_error,
            signed=False,
        ),
        Call(
            name="nn.sparse_softmax_cross_entropy_with_logits",
            program=lambda tf, z, x: tf.nn.sparse_softmax_cross_entropy_with_logits(labels=tf.argmax(z, 1), logits=x),
            reference=lambda z, x: -np.take_along_axis(_log_shares(x), np.argmax(z, axis=1)[:, None], axis=1)[:, 0],
            vjp=lambda g, z, x: (None, _entropy_vjp(g, np.eye(_N)[np.argmax(z, axis=1)], x)[1]),
            error=lambda u, z, x: u * (2 * np.abs(np.min(_log_shares(x), axis=1)) + _N + 10),
            grad_error=lambda u, g, z, x: (
                np.zeros(z.shape),
                _entropy_grad_error(u, g, np.eye(_N)[np.argmax(z, axis=1)], x)[1],
            ),
            signed=False,
        ),
        arguments=2,
        recipes={"plain": _distributions, "far": _far_logits},
        ops="SoftmaxCrossEntropyWithLogits;SparseSoftmaxCrossEntropyWithLogits",
    ),
)
