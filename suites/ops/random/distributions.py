"""Random ops that are tested by the distributions of their numbers; no document gives the algorithms."""

import numpy as np
import scipy  # loads scipy.stats, a third of a second, on first use

from tf_opdiff.harness.spec.plan import WITHOUT_XLA
from tf_opdiff.suites.derived.unknown_shape import sized
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.part import part, tiered, together
from tf_opdiff.suites.forms.random_numbers.distribution import COUNT, distribution, quantiles
from tf_opdiff.suites.forms.random_numbers.moments import gamma_means
from tf_opdiff.suites.forms.random_numbers.random_kinds import FLOATS
from tf_opdiff.suites.forms.recipes import ordinary

#: The dtypes that the OpDefs allow; CPU kernels of gamma numbers are registered for bfloat16 as well.
_THREE = tiered(("float32", "float16", "float64"))
_OF_GAMMA = {"dtypes": _THREE, "modes": WITHOUT_XLA, "ordinary": ordinary.RANDOM}
_ALPHAS = [0.3, 0.5, 1.0, 2.5, 10.0, 100.0]
_LOGITS = [[0, 0, 0, 0], [1, -1, 0.5, 2], [-np.inf, 0, 1, -np.inf], [-100, 0, -100, -100], [5, 5, -3, 4]]
_SHAPE = np.array([COUNT, len(_ALPHAS)], np.int32)
_SEED = np.array([3, 5], np.int32)


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
    return lambda op: sized(
        part(
            "-small",
            program=lambda tf, logits: getattr(tf.raw_ops, op.raw)(logits=logits, num_samples=5, **seeds),
            reference=lambda logits: np.zeros((len(logits), 5), np.int64),
            recipes={
                "no_row": lambda draw, dtype: (np.zeros((0, 3), dtype),),
                "one_class": lambda draw, dtype: (np.ones((1, 1), dtype),),
            },
            lowest_tier=True,
        )
    )(op)


def _gamma(call):
    """A part: gamma numbers and their means; of a rounded number, one half of the roundings is on either side."""
    return together(
        distribution(
            call,
            parameters=lambda dtype: (_SHAPE, np.array(_ALPHAS).astype(dtype)),
            points=lambda shape, alpha, *seeds: quantiles(scipy.stats.gamma(alpha)),
            cumulative=lambda x, shape, alpha, *seeds: scipy.stats.gamma(alpha).cdf(x),
            refused={"negative": lambda dtype: (np.array([-1, 6], np.int32), np.array(_ALPHAS).astype(dtype))},
        ),
        gamma_means(call),
    )


def _equal_if_wide(tf, alpha):
    """Whether numbers are the same for a shape of int32 and of int64."""
    one, other = (
        tf.raw_ops.StatelessRandomGammaV2(shape=tf.constant([5, 6], dtype), seed=_SEED, alpha=alpha)
        for dtype in ("int32", "int64")
    )
    return tf.equal(one, other)


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
        "stateless-multinomial",
        "StatelessMultinomial",
        _multinomial(seed=_SEED),
        _small(seed=_SEED),
        dtypes=FLOATS,
        ordinary=ordinary.RANDOM,
    ),
    *op(
        "stateless-random-gamma-v2",
        "StatelessRandomGammaV2",
        _gamma(_gamma_v2),
        part(
            "-int64-shape",
            program=_equal_if_wide,
            reference=lambda alpha: np.ones((5, len(alpha)), bool),
            recipes={"alphas": lambda draw, dtype: (np.array(_ALPHAS).astype(dtype),)},
            constant=("output[0]",),
            lowest_tier=True,
        ),
        **_OF_GAMMA,
    ),
    *op(
        "stateless-random-gamma-v3",
        "StatelessRandomGammaV3",
        _gamma(_gamma_v3),
        **_OF_GAMMA,
    ),
)
