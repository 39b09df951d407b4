"""Random ops that are tested by the distributions of their numbers; no document gives the algorithms."""

import numpy as np
import scipy  # loads scipy.stats, a third of a second, on first use

from tf_opdiff.harness.spec.plan import WITHOUT_XLA
from tf_opdiff.harness.spec.spec import Spec
from tf_opdiff.suites.forms.distribution import COUNT, distribution
from tf_opdiff.suites.forms.moments import gamma_means

_FLOATS = ("float32", "bfloat16", "float16", "float64")
#: The dtypes that the OpDefs of gamma numbers allow; CPU kernels are registered for bfloat16 as well.
_GAMMA = ("float32", "float16", "float64")
_ALPHAS = [0.3, 0.5, 1.0, 2.5, 10.0, 100.0]
_LOGITS = [[0, 0, 0, 0], [1, -1, 0.5, 2], [-np.inf, 0, 1, -np.inf], [-100, 0, -100, -100], [5, 5, -3, 4]]
#: Means, standard deviations, lower and upper limits.
_TRUNCATED = [
    [0, 0, 1, -3, 0, 0],
    [1, 1, 2, 0.5, 1, 1],
    [-2, 3, -1, -4, -7, 0.5],
    [2, 5, np.inf, -3, -4, 0.75],
]
_WHOLE = [[1], [2], [-np.inf], [np.inf]]
_SHAPE = np.array([COUNT, len(_ALPHAS)], np.int32)
_SEED = np.array([3, 5], np.int32)


def _quantiles(law):
    """Points of each column: where the distribution function is 1/16, 2/16, …, 15/16."""
    return law.ppf(np.arange(1, 16)[:, None] / 16)


def _gamma_points(shape, alpha, *seeds):
    """Quantiles; of a rounded number, one half of the roundings is on either side."""
    return _quantiles(scipy.stats.gamma(alpha))


def _gamma_below(x, shape, alpha, *seeds):
    return scipy.stats.gamma(alpha).cdf(x)


def _gamma_v2(tf, raw, dtype, shape, alpha):
    return raw(shape=shape, seed=_SEED, alpha=alpha)


def _gamma_v3(tf, raw, dtype, shape, alpha):
    key, counter = tf.constant([3], "uint64"), tf.constant([5, 7], "uint64")
    return raw(shape=shape, key=key, counter=counter, alg=tf.constant(1), alpha=alpha)


def _classes(logits):
    """The numbers of all classes but the last, for each row of logits."""
    return np.repeat(np.arange(logits.shape[1] - 1)[:, None], len(logits), axis=1)


def _classes_below(x, logits):
    return np.cumsum(scipy.special.softmax(logits, axis=1), axis=1).T[:-1]


def _law(means, deviations, low, high):
    return scipy.stats.truncnorm((low - means) / deviations, (high - means) / deviations, means, deviations)


def _truncated(columns):
    """The declaration of parameters, with the shape before them."""

    def parameters(dtype):
        return np.array([len(columns[0]), COUNT], np.int32), *(np.array(row).astype(dtype) for row in columns)

    def call(tf, raw, dtype, shape, *rows):
        named = dict(zip(("means", "stdevs", "minvals", "maxvals"), rows, strict=True))
        return tf.transpose(raw(shape=shape, **named, seed=3, seed2=5))

    return {
        "raw": "ParameterizedTruncatedNormal",
        "call": call,
        "parameters": parameters,
        "points": lambda shape, *rest: _quantiles(_law(*rest)),
        "cumulative": lambda x, shape, *rest: _law(*rest).cdf(x),
    }


def _small(name, raw, **more):
    """The spec of no row, and of one class, which is number 0."""
    return Spec(
        name=f"{name}-small",
        ops=raw,
        program=lambda tf, logits: getattr(tf.raw_ops, raw)(logits=logits, num_samples=5, **more),
        reference=lambda logits: np.zeros((len(logits), 5), np.int64),
        recipes={
            "no_row": lambda draw, dtype: (np.zeros((0, 3), dtype),),
            "one_class": lambda draw, dtype: (np.ones((1, 1), dtype),),
        },
    )


def _wrong(*numbers, shape=(6, 8)):
    """Parameters that are the same in all columns."""
    return lambda dtype: (np.array(shape, np.int32), *(np.full(6, n, dtype) for n in numbers))


SPECS = (
    *distribution(
        "multinomial",
        _FLOATS,
        raw="Multinomial",
        call=lambda tf, raw, dtype, logits: tf.transpose(raw(logits=logits, num_samples=COUNT, seed=3, seed2=5)),
        parameters=lambda dtype: (np.array(_LOGITS).astype(dtype),),
        points=_classes,
        cumulative=_classes_below,
    ),
    _small("multinomial", "Multinomial", seed=3, seed2=5),
    *distribution(
        "parameterized-truncated-normal",
        ("float32", "float16", "float64"),
        **_truncated(_TRUNCATED),
        refused={
            "deviation_negative": _wrong(0, -1, -2, 2),
            "deviation_zero": _wrong(0, 0, -2, 2),
            "limits_apart": _wrong(0, 1, 2, -2),
            "limits_equal": _wrong(0, 1, 2, 2),
            "negative_shape": _wrong(0, 1, -2, 2, shape=(6, -8)),
            "parameters_too_many": _wrong(0, 1, -2, 2, shape=(5, 8)),
        },
    ),
    Spec(
        name="parameterized-truncated-normal-small",
        ops="ParameterizedTruncatedNormal",
        program=lambda tf, *xs: _truncated([[]])["call"](tf, tf.raw_ops.ParameterizedTruncatedNormal, "float32", *xs),
        reference=lambda shape, *rows: np.zeros((shape[1], shape[0]), np.float32),
        recipes={
            "no_number": lambda draw, dtype: (np.array([6, 0], np.int32), *np.array(_TRUNCATED, dtype)),
            "no_row": lambda draw, dtype: (np.array([0, 5], np.int32), *np.zeros((4, 0), dtype)),
        },
    ),
    *distribution("parameterized-truncated-normal-whole", ("float32",), **_truncated(_WHOLE)),
    *distribution(
        "stateless-multinomial",
        _FLOATS,
        raw="StatelessMultinomial",
        call=lambda tf, raw, dtype, logits: tf.transpose(raw(logits=logits, num_samples=COUNT, seed=_SEED)),
        parameters=lambda dtype: (np.array(_LOGITS).astype(dtype),),
        points=_classes,
        cumulative=_classes_below,
    ),
    _small("stateless-multinomial", "StatelessMultinomial", seed=_SEED),
    *distribution(
        "stateless-random-gamma-v2",
        _GAMMA,
        raw="StatelessRandomGammaV2",
        call=_gamma_v2,
        parameters=lambda dtype: (_SHAPE, np.array(_ALPHAS).astype(dtype)),
        points=_gamma_points,
        cumulative=_gamma_below,
        modes=WITHOUT_XLA,
        refused={"negative": lambda dtype: (np.array([-1, 6], np.int32), np.array(_ALPHAS).astype(dtype))},
    ),
    *gamma_means("stateless-random-gamma-v2", "StatelessRandomGammaV2", _gamma_v2, _GAMMA),
    *distribution(
        "stateless-random-gamma-v3",
        _GAMMA,
        raw="StatelessRandomGammaV3",
        call=_gamma_v3,
        parameters=lambda dtype: (_SHAPE, np.array(_ALPHAS).astype(dtype)),
        points=_gamma_points,
        cumulative=_gamma_below,
        modes=WITHOUT_XLA,
        refused={"negative": lambda dtype: (np.array([-1, 6], np.int32), np.array(_ALPHAS).astype(dtype))},
    ),
    *gamma_means("stateless-random-gamma-v3", "StatelessRandomGammaV3", _gamma_v3, _GAMMA),
)
