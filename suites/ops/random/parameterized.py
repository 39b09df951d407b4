"""Normal numbers between limits, whose parameters are tensors: their distributions, and gradients by the parameters."""

import numpy as np
import scipy  # loads scipy.stats, a third of a second, on first use

from tf_opdiff.suites.derived.unknown_shape import sized
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.part import part, tiered
from tf_opdiff.suites.forms.random_numbers.distribution import COUNT, distribution, quantiles
from tf_opdiff.suites.forms.recipes import ordinary

#: The dtypes that the OpDefs allow.
_THREE = tiered(("float32", "float16", "float64"))
#: Means, standard deviations, lower and upper limits.
_TRUNCATED = [
    [0, 0, 1, -3, 0, 0],
    [1, 1, 2, 0.5, 1, 1],
    [-2, 3, -1, -4, -7, 0.5],
    [2, 5, np.inf, -3, -4, 0.75],
]
#: Finite ones, for gradients.
_FINITE = [[0, 0.25, -1, 0.5], [1, 1, 2, 0.5], [-1, 0.5, -3, -0.5], [1, 2, 3, 0.5]]
_WHOLE = [[1], [2], [-np.inf], [np.inf]]
_SEED = np.array([3, 5], np.int32)


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
        return quantiles(_law(*rest))

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


def _share(tf, *parameters):
    """The sum of the parameters, and the share of the distribution below its numbers, in excess of the same constant.

    A number keeps its share, whatever moves, so that the gradient is that of the sum.
    """
    raw = tf.raw_ops.StatelessParameterizedTruncatedNormal
    named = dict(zip(("means", "stddevs", "minvals", "maxvals"), parameters, strict=True))
    numbers = raw(shape=tf.constant([5, 4]), seed=_SEED, **named)
    wide = tf.float64 if numbers.dtype == tf.float64 else tf.float32
    x, mean, deviation, low, high = (tf.cast(tensor, wide) for tensor in (numbers, *parameters))
    below, first, last = (tf.math.erf((end - mean) / (deviation * 2**0.5)) for end in (x, low, high))
    share = (below - first) / (last - first)
    return tf.cast(mean + deviation + low + high + share - tf.stop_gradient(share), numbers.dtype)


def _of_share(number):
    """The bound of its gradient by a parameter: 8 roundings of 1 and of derivatives that cancel, at their largest."""

    def bound(u, g, *parameters):
        mean, deviation, low, high = (np.asarray(p, np.float64) for p in parameters)
        first, last = (low - mean) / deviation, (high - mean) / deviation
        law = scipy.stats.norm
        density = law.pdf(np.clip(0, first, last)) / (law.cdf(last) - law.cdf(first)) / deviation
        farthest = np.maximum(abs(first), abs(last)) if number == 1 else 1
        return 8 * u * np.abs(g).sum(0) * (density * farthest + 1)

    return bound


#: A part: the gradient by each parameter alone.
_share_of_numbers = part(
    "-share",
    program=_share,
    reference=lambda *rows: np.broadcast_to(sum(rows), (5, 4)),
    vjp=lambda g, *rows: (g.sum(0),) * 4,
    recipes={"columns": lambda draw, d: tuple(np.array(row).astype(d) for row in _FINITE)},
    bound={
        "output": lambda u, g, *rows: np.full((5, 4), 8 * u * 4),
        **{f"grad[{i}]": _of_share(i) for i in range(4)},
    },
)
_without_numbers = part(
    "-small",
    program=lambda tf, shape, *rows: _stateless(tf, tf.raw_ops.StatelessParameterizedTruncatedNormal, shape, *rows),
    reference=lambda shape, *rows: np.zeros(shape[::-1], rows[0].dtype),
    recipes={
        "no_number": lambda draw, dtype: (np.array([6, 0], np.int32), *np.array(_TRUNCATED, dtype)),
        "no_row": lambda draw, dtype: (np.array([0, 5], np.int32), *np.zeros((4, 0), dtype)),
    },
    lowest_tier=True,
)


def _of_shape(drawn):
    """A part: no numbers, and one, which is between its limits; the first size is that of the parameters."""

    def inside(op):
        def program(tf, shape, *rows):
            x = drawn(tf, getattr(tf.raw_ops, op.raw), shape, *rows)
            return (x >= rows[2]) & (x <= rows[3])

        def recipe(*shape):
            rows = np.array(_TRUNCATED)[:, : shape[0]]
            return lambda draw, dtype: (np.array(shape, np.int32), *rows.astype(dtype))

        return part(
            "-of-shape",
            program=program,
            reference=lambda shape, *rows: np.ones(shape[::-1], bool),
            recipes={"no_numbers": recipe(6, 0), "one": recipe(1, 1), "no_row": recipe(0, 5), "nothing": recipe(0, 0)},
            constant=("output[0]",),
            lowest_tier=True,
        )(op)

    return inside


def _wrong(*numbers, shape=(6, 8)):
    """Parameters that are the same in all columns."""
    return lambda dtype: (np.array(shape, np.int32), *(np.full(6, n, dtype) for n in numbers))


SPECS = (
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
                "int64": lambda draw, dtype: (np.array([6, 0], np.int64), *np.array(_TRUNCATED, dtype)),
            },
            lowest_tier=True,
        ),
        sized(_of_shape(_by_rows)),
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
        "stateless-parameterized-truncated-normal",
        "StatelessParameterizedTruncatedNormal",
        _truncated(_TRUNCATED, drawn=_stateless),
        *_moved_with_parameters,
        _share_of_numbers,
        _without_numbers,
        sized(_of_shape(_stateless)),
        dtypes=_THREE,
        ordinary=ordinary.RANDOM,
    ),
)
