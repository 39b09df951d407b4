"""Distribution: ops whose numbers are tested by their distribution, with a stated rate of false alarms.

The share of the numbers that are at most x may be off from the distribution function F(x) by a tolerance that n numbers
of the distribution exceed, at any x, with the probability `FALSE_ALARMS`: the inequality of Dvoretzky, Kiefer and
Wolfowitz with the constant of Massart (1990), https://doi.org/10.1214/aop/1176990746.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from tf_opdiff.harness.spec.plan import WITHOUT_XLA
from tf_opdiff.harness.spec.spec import Spec
from tf_opdiff.suites.forms.errors import IN_KERNEL
from tf_opdiff.suites.forms.part import Op, Part, each_dtype, part, together
from tf_opdiff.suites.forms.random_numbers.independence import lags, middle, paired

#: parameters(dtype) → the inputs of an op.
Parameters = Callable[[str], tuple[np.ndarray, ...]]
#: Numbers in a column, and the probability that a right column fails.
COUNT, FALSE_ALARMS = 2**14, 1e-9
TOLERANCE = math.sqrt(math.log(2 / FALSE_ALARMS) / (2 * COUNT))


def shares(tf: Any, numbers: Any, at: Any, expected: Any) -> Any:
    """Whether the share of the numbers at most `at` is as expected.

    Args:
      tf: TensorFlow.
      numbers: of shape (COUNT, columns).
      at: of shape (points, columns).
      expected: float64, of the same shape.

    Returns:
      bool, of the same shape.
    """
    below = tf.cast(numbers, "float64")[None] <= tf.cast(at, "float64")[:, None]
    share = tf.reduce_mean(tf.cast(below, "float64"), axis=1)
    return tf.abs(share - expected) <= tf.constant(TOLERANCE, "float64")


def distribution(
    call: Callable[..., Any],
    parameters: Parameters,
    points: Callable[..., np.ndarray],
    cumulative: Callable[..., np.ndarray],
    *,
    refused: Mapping[str, Parameters] | None = None,
) -> Part:
    """A part: a random op of some columns of numbers, each with its own distribution; each dtype has its own program.

    Further specs test the independence of the numbers.

    Args:
      call: call(tf, raw op, dtype, *parameters) → numbers, of shape (COUNT, columns).
      parameters: parameters(dtype) → the inputs of the op.
      points: points(*parameters) → the x of each column, of shape (points, columns).
      cumulative: cumulative(x, *parameters) → F(x), of the shape of x.
      refused: name → wrong parameters, for which a kernel raises INVALID_ARGUMENT.
    """

    def inputs(own: Sequence[np.ndarray]) -> tuple[np.ndarray, ...]:
        """The points, the distribution function there, and the parameters."""
        widened = [np.asarray(p, np.float64) for p in own]
        at = np.asarray(points(*widened), np.float64)
        return at, np.asarray(cumulative(at, *widened)), *own

    def specs(op: Op) -> Iterator[Spec]:
        def drawn(tf: Any, dtype: str, *own: Any) -> Any:
            return call(tf, getattr(tf.raw_ops, op.raw), dtype, *own)

        assert isinstance(op.dtypes, Mapping)
        for end, dtype, tier in each_dtype(op.dtypes):
            yield from part(
                end,
                program=lambda tf, at, expected, *own, d=dtype: shares(tf, drawn(tf, d, *own), at, expected),
                reference=lambda at, expected, *own: np.ones(at.shape, bool),
                recipes={"columns": lambda draw, _, dtype=dtype: inputs(parameters(dtype))},
                dtypes={dtype: tier},
            )(op)
        if refused:
            first = next(iter(op.dtypes))
            yield from part(
                "-refused",
                program=lambda tf, *own: tf.size(drawn(tf, first, *own)),
                recipes={label: lambda draw, _, of=of: of(first) for label, of in refused.items()},
                lowest_tier=True,
                **IN_KERNEL,
            )(op)

    return together(specs, _independent(call, lambda dtype: inputs(parameters(dtype))))


def _independent(call: Callable[..., Any], inputs: Callable[[str], Sequence[np.ndarray]]) -> Part:
    """A part: the independence of numbers of the first dtype; XLA takes seconds to compile it, and has its own spec.

    Args:
      call: as of `distribution`.
      inputs: inputs(dtype) → the points, the distribution function there, and the parameters.
    """

    def specs(op: Op) -> Iterator[Spec]:
        first = next(iter(op.dtypes))

        def columns(*_: Any) -> tuple[np.ndarray, ...]:
            at, expected, *own = inputs(first)
            return *middle(at, expected), *own

        for end, of_modes in (("", {"modes": WITHOUT_XLA}), ("-xla", {"modes": ("xla",), "tier": "full"})):
            yield from part(
                f"-independence{end}",
                program=lambda tf, at, expected, *own: paired(
                    tf, call(tf, getattr(tf.raw_ops, op.raw), first, *own), at, expected, COUNT
                ),
                reference=lambda at, expected, *own: np.ones((len(lags(COUNT)), *at.shape), bool),
                recipes={"columns": columns},
                dtypes=(first,),
                **of_modes,
            )(op)

    return specs


def quantiles(law):
    """Points of each column: where the distribution function is 1/16, 2/16, …, 15/16."""
    return law.ppf(np.arange(1, 16)[:, None] / 16)
