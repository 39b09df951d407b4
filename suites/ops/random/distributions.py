"""Random ops that are tested by the distributions of their numbers; no document gives the algorithms."""

import numpy as np
import scipy  # loads scipy.stats, a third of a second, on first use

from tf_opdiff.harness.spec.plan import WITHOUT_XLA
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.part import part, tiered, together
from tf_opdiff.suites.forms.random_numbers.distribution import COUNT, distribution
from tf_opdiff.suites.forms.random_numbers.moments import gamma_means
from tf_opdiff.suites.forms.random_numbers.random_kinds import FLOATS
from tf_opdiff.suites.forms.recipes import ordinary

#: The dtypes that the OpDefs allow; CPU kernels of gamma numbers are registered for bfloat16 as well.
_THREE = tiered(("float32", "float16", "float64"))
_OF_GAMMA = {"dtypes": _THREE, "modes": WITHOUT_XLA, "ordinary": ordinary.RANDOM}
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


def _by_rows(tf, raw, *inputs):
    return tf.transpose(_drawn(raw, *inputs))


def _truncated(columns, drawn=_by_rows, **fields):
    """A part: numbers of truncated normal distributions with these parameters."""

    def parameters(dtype):
        return np.array([len(columns[0]), COUNT], np.int32), *(np.array(row).astype(dtype) for row in columns)

    def call(tf, raw, dtype, *inputs):
        return drawn(tf, raw, *inputs)

    def points(shape, *rest):
        return _quantiles(_law(*rest))

    return distribution(call, parameters, points, lambda x, shape, *rest: _law(*rest).cdf(x), **fields)


def _drawn(raw, shape, *rows):
    named = dict(zip(("means", "stdevs", "minvals", "maxvals"), rows, strict=True))
    return raw(shape=shape, **named, seed=3, seed2=5)


def _stateless(tf, raw, shape, *rows):
    """The numbers of an op whose parameters are those of the last axis; `shape` has it first."""
    named = dict(zip(("means", "stddevs", "minvals", "maxvals"), rows, strict=True))
    return raw(shape=tf.reverse(shape, [0]), seed=_SEED, **named)


def _with_parameters(of):
    """A program of numbers whose parameters are of(all four, t): how they change with t, next to a constant."""

    def program(tf, t):
        rows = (
            tf.constant(row, t.dtype) for row in ([0.0] * 4, [1.0] * 4, [-1.0, 0.5, -3.0, -0.5], [1.0, 2.0, 3.0, 0.5])
        )
        x = _stateless(
            tf, tf.raw_ops.StatelessParameterizedTruncatedNormal, tf.constant([4, 5], tf.int64), *of(t, *rows)
        )
        return x, tf.stop_gradient(x)

    return program


def _shifted(tf, t):
    """Numbers that move with their means and limits, without their values."""
    x, constant = _with_parameters(lambda t, mean, deviation, *ends: (mean + t, deviation, *(end + t for end in ends)))(
        tf, t
    )
    return x - constant


def _stretched(tf, t):
    """Numbers that are stretched like their parameters, in parts of their values."""
    x, constant = _with_parameters(lambda t, *rows: tuple(row * t for row in rows))(tf, t)
    return x / constant


#: Parts: the gradients by all parameters together, which do not depend on the numbers. They go through exponentials of
#: squares and differences of distribution functions, each rounded to the dtype: the bound of so many roundings is true
#: for float16 too, but hides more than half of its digits, so that float16 is left out.
_moved_with_parameters = tuple(
    part(
        suffix,
        program=program,
        reference=lambda t, value=value: np.full((5, 4), value, t.dtype),
        vjp=lambda g, t, stretched=value: (np.asarray(g.sum() / (t if stretched else 1)),),
        recipes={"one": lambda draw, d: (np.array(1.25, d),)},
        bound={"grad[0]": lambda u, g, t: np.asarray(256 * u * np.abs(g).sum())},
        constant=("output[0]",),
        dtypes=tiered(("float32", "float64")),
    )
    for suffix, program, value in (("-shifted", _shifted, 0), ("-stretched", _stretched, 1))
)


def _multinomial(**seeds):
    """A part: numbers of classes, for some logits."""
    return distribution(
        lambda tf, raw, dtype, logits: tf.transpose(raw(logits=logits, num_samples=COUNT, **seeds)),
        parameters=lambda dtype: (np.array(_LOGITS).astype(dtype),),
        points=_classes,
        cumulative=_classes_below,
    )


def _small(**seeds):
    """A part: no row, and one class, which is number 0."""
    return lambda op: part(
        "-small",
        program=lambda tf, logits: getattr(tf.raw_ops, op.raw)(logits=logits, num_samples=5, **seeds),
        reference=lambda logits: np.zeros((len(logits), 5), np.int64),
        recipes={
            "no_row": lambda draw, dtype: (np.zeros((0, 3), dtype),),
            "one_class": lambda draw, dtype: (np.ones((1, 1), dtype),),
        },
        lowest_tier=True,
    )(op)


def _gamma(call):
    """A part: gamma numbers and their means; of a rounded number, one half of the roundings is on either side."""
    return together(
        distribution(
            call,
            parameters=lambda dtype: (_SHAPE, np.array(_ALPHAS).astype(dtype)),
            points=lambda shape, alpha, *seeds: _quantiles(scipy.stats.gamma(alpha)),
            cumulative=lambda x, shape, alpha, *seeds: scipy.stats.gamma(alpha).cdf(x),
            refused={"negative": lambda dtype: (np.array([-1, 6], np.int32), np.array(_ALPHAS).astype(dtype))},
        ),
        gamma_means(call),
    )


def _wrong(*numbers, shape=(6, 8)):
    """Parameters that are the same in all columns."""
    return lambda dtype: (np.array(shape, np.int32), *(np.full(6, n, dtype) for n in numbers))


SPECS = (
    *op(
        "multinomial",
        "Multinomial",
        _multinomial(seed=3, seed2=5),
        _small(seed=3, seed2=5),
        dtypes=FLOATS,
        ordinary=ordinary.RANDOM,
    ),
    *op(
        "parameterized-truncated-normal",
        "ParameterizedTruncatedNormal",
        _truncated(
            _TRUNCATED,
            refused={
                "deviation_negative": _wrong(0, -1, -2, 2),
                "deviation_zero": _wrong(0, 0, -2, 2),
                "limits_apart": _wrong(0, 1, 2, -2),
                "limits_equal": _wrong(0, 1, 2, 2),
                "negative_shape": _wrong(0, 1, -2, 2, shape=(6, -8)),
                "parameters_too_many": _wrong(0, 1, -2, 2, shape=(5, 8)),
            },
        ),
        part(
            "-small",
            program=lambda tf, *xs: tf.transpose(_drawn(tf.raw_ops.ParameterizedTruncatedNormal, *xs)),
            reference=lambda shape, *rows: np.zeros((shape[1], shape[0]), np.float32),
            recipes={
                "no_number": lambda draw, dtype: (np.array([6, 0], np.int32), *np.array(_TRUNCATED, dtype)),
                "no_row": lambda draw, dtype: (np.array([0, 5], np.int32), *np.zeros((4, 0), dtype)),
            },
            lowest_tier=True,
        ),
        dtypes=_THREE,
        ordinary=ordinary.RANDOM,
    ),
    *op(
        "parameterized-truncated-normal-whole",
        "ParameterizedTruncatedNormal",
        _truncated(_WHOLE),
        dtypes=tiered(("float32",)),
        without={"limits": "every call of it is an error, a known failure"},
        ordinary=ordinary.RANDOM,
    ),
    *op(
        "stateless-multinomial",
        "StatelessMultinomial",
        _multinomial(seed=_SEED),
        _small(seed=_SEED),
        dtypes=FLOATS,
        ordinary=ordinary.RANDOM,
    ),
    *op(
        "stateless-parameterized-truncated-normal",
        "StatelessParameterizedTruncatedNormal",
        _truncated(_TRUNCATED, drawn=_stateless),
        *_moved_with_parameters,
        dtypes=_THREE,
        ordinary=ordinary.RANDOM,
    ),
    *op(
        "stateless-random-gamma-v2",
        "StatelessRandomGammaV2",
        _gamma(_gamma_v2),
        **_OF_GAMMA,
    ),
    *op(
        "stateless-random-gamma-v3",
        "StatelessRandomGammaV3",
        _gamma(_gamma_v3),
        **_OF_GAMMA,
    ),
)
