"""Losses of `tf.nn` that Python composes of several ops."""

import numpy as np

from tf_opdiff.suites.forms.programs.api import Call, calls
from tf_opdiff.suites.reference.promises.function import wide

#: Elements of each input of a loss.
_SIZE = 44
_EDGES = (0.0, -0.0, 1.0, -1.0, 0.5, -30.0, 30.0, -80.0, 80.0, 1e-20, -1e-20)


def _labelled(draw, dtype):
    """Labels in [0, 1], the ends among them, and logits."""
    labels = draw.uniform(_SIZE, low=0, high=1)
    labels[::4], labels[1::4] = 0, 1
    return labels.astype(dtype), (draw.uniform(_SIZE) * 8).astype(dtype)


def _at_edges(draw, dtype):
    """Every label of 0, 0.25, 0.5 and 1 with every edge."""
    labels, logits = np.meshgrid([0.0, 0.25, 0.5, 1.0], _EDGES)
    return labels.ravel().astype(dtype), logits.ravel().astype(dtype)


def _special(draw, dtype):
    """NaN and infinities in either input."""
    labels = np.resize([np.nan, 0.25, 0.25, 0.25, 1.0, 0.0], _SIZE)
    logits = np.resize([1.0, np.nan, np.inf, -np.inf, 1e30, -1e30], _SIZE)
    return labels.astype(dtype), logits.astype(dtype)


def _counts(draw, dtype):
    """Counts and logarithms of rates; without zero, whose gradient another recipe tests."""
    return draw.integers(_SIZE, low=1, high=20).astype(dtype), (draw.uniform(_SIZE) * 4).astype(dtype)


def _counts_between(draw, dtype):
    """Targets around 1, where the loss changes its form, and no counts."""
    return draw.uniform(_SIZE, low=0.01, high=2).astype(dtype), (draw.uniform(_SIZE) * 40).astype(dtype)


def _zero_counts(draw, dtype):
    """Counts; every second one is zero."""
    counts = np.resize([0.0, 1.0, 0.0, 3.0], _SIZE)
    return counts.astype(dtype), (draw.uniform(_SIZE) * 4).astype(dtype)


def _softplus(x):
    return np.log1p(np.exp(-np.abs(x)))


def _logistic(x):
    return 1 / (1 + np.exp(-x))


@wide
def _sigmoid_loss(z, x):
    """max(x, 0) - x z + log(1 + exp(-|x|))."""
    return np.maximum(x, 0) - x * z + _softplus(x)


@wide
def _weighted_loss(z, x):
    """(1 - z) x + l (log(1 + exp(-|x|)) + max(-x, 0)), l = 1 + (q - 1) z, with q = 2.5."""
    return (1 - z) * x + (1 + 1.5 * z) * (_softplus(x) + np.maximum(-x, 0))


@wide
def _poisson_loss(z, c):
    """exp(c) - z c."""
    return np.exp(c) - z * c


@wide
def _stirling(z):
    """z log(z) - z + log(2πz) / 2 above 1, else 0: an approximation of log(z!)."""
    z = np.where(z <= 1, 1, z)
    return np.where(z == 1, 0, z * np.log(z) - z + np.log(2 * np.pi * z) / 2)


@wide
def _stirling_slope(z):
    z = np.where(z <= 1, 1, z)
    return np.where(z == 1, 0, np.log(z) + 1 / (2 * z))


def _stirling_size(z):
    z = np.where(z <= 1, 1, z)
    return z * np.log(z) + z + np.log(2 * np.pi * z)


def _poisson_vjp(full):
    return lambda g, z, c: (g * (full * _stirling_slope(z) - c), g * (wide(lambda z, c: np.exp(c) - z)(z, c)))


def _poisson_error(full):
    return lambda u, z, c: 6 * u * (np.exp(c) + np.abs(z * c) + full * _stirling_size(z))


def _poisson_grad_error(full):
    def error(u, g, z, c):
        g = np.abs(g)
        return 6 * u * g * (np.abs(c) + full * np.abs(_stirling_slope(z))), 6 * u * g * (np.exp(c) + np.abs(z))

    return error


SPECS = (
    *calls(
        "api-cross-entropy",
        Call(
            name="nn.sigmoid_cross_entropy_with_logits",
            program=lambda tf, z, x: tf.nn.sigmoid_cross_entropy_with_logits(labels=z, logits=x),
            reference=_sigmoid_loss,
            vjp=lambda g, z, x: (-g * x, wide(lambda g, z, x: g * (_logistic(x) - z))(g, z, x)),
            error=lambda u, z, x: 4 * u * (np.maximum(x, 0) + np.abs(x * z) + 2 * _softplus(x)),
            grad_error=lambda u, g, z, x: (u * np.abs(g * x), 6 * u * np.abs(g) * (1 + np.abs(z))),
            signed=False,
        ),
        Call(
            name="nn.weighted_cross_entropy_with_logits",
            program=lambda tf, z, x: tf.nn.weighted_cross_entropy_with_logits(labels=z, logits=x, pos_weight=2.5),
            reference=_weighted_loss,
            vjp=lambda g, z, x: (
                wide(lambda g, x: g * (1.5 * (_softplus(x) + np.maximum(-x, 0)) - x))(g, x),
                wide(lambda g, z, x: g * (1 - z - (1 + 1.5 * z) * _logistic(-x)))(g, z, x),
            ),
            error=lambda u, z, x: 10 * u * (np.abs(x) * (1 + z) + _softplus(x)),
            grad_error=lambda u, g, z, x: (8 * u * np.abs(g) * (1 + 3 * np.abs(x)), 16 * u * np.abs(g) * (1 + z)),
            signed=False,
        ),
        arguments=2,
        recipes={"plain": _labelled, "edges": _at_edges, "special": _special},
        ops="Log1p;Exp",
        more=("float64",),
    ),
    *calls(
        "api-poisson-loss",
        *(
            Call(
                name="nn.log_poisson_loss",
                program=program,
                reference=reference,
                vjp=_poisson_vjp(full),
                error=_poisson_error(full),
                grad_error=_poisson_grad_error(full),
                signed=False,
            )
            for full, program, reference in (
                (0, lambda tf, z, c: tf.nn.log_poisson_loss(z, c), _poisson_loss),
                (
                    1,
                    lambda tf, z, c: tf.nn.log_poisson_loss(z, c, compute_full_loss=True),
                    lambda z, c: _poisson_loss(z, c) + _stirling(z),
                ),
            )
        ),
        arguments=2,
        recipes={"counts": _counts, "between": _counts_between, "zeros": _zero_counts},
        ops="Exp;Log",
        more=("float64",),
    ),
)
