"""Distribution: ops whose numbers are tested by their distribution, with a stated rate of false alarms.

The share of the numbers that are at most x may be off from the distribution function F(x) by a tolerance that n numbers
of the distribution exceed, at any x, with the probability `FALSE_ALARMS`: the inequality of Dvoretzky, Kiefer and
Wolfowitz with the constant of Massart (1990), https://doi.org/10.1214/aop/1176990746.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from tf_opdiff.harness.spec.plan import MODES
from tf_opdiff.harness.spec.recipes import Draw
from tf_opdiff.harness.spec.spec import Recipe, Spec
from tf_opdiff.suites.forms.errors import raises

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


@dataclass(frozen=True, kw_only=True)
class Distribution:
    """A random op of some columns of numbers, each with its own distribution.

    Attributes:
      raw: the OpDef.
      call: call(tf, raw op, dtype, *parameters) → numbers, of shape (COUNT, columns).
      parameters: parameters(dtype) → the inputs of the op.
      points: points(*parameters) → the x of each column, of shape (points, columns).
      cumulative: cumulative(x, *parameters) → F(x), of the shape of x.
      modes: the modes that have the op.
      refused: name → wrong parameters, for which a kernel raises INVALID_ARGUMENT.
    """

    raw: str
    call: Callable[..., Any]
    parameters: Callable[[str], tuple[np.ndarray, ...]]
    points: Callable[..., np.ndarray]
    cumulative: Callable[..., np.ndarray]
    modes: tuple[str, ...] = MODES
    refused: Mapping[str, Callable[[str], tuple[np.ndarray, ...]]] = field(default_factory=dict)

    def inputs(self, dtype: str) -> tuple[np.ndarray, ...]:
        """The points, the distribution function there, and the parameters."""
        parameters = self.parameters(dtype)
        at = np.asarray(self.points(*(np.asarray(p, np.float64) for p in parameters)), np.float64)
        return at, np.asarray(self.cumulative(at, *(np.asarray(p, np.float64) for p in parameters))), *parameters

    def specs(self, name: str, dtypes: tuple[str, ...]) -> tuple[Spec, ...]:
        """The specs: of the first dtype in the default tier, of the others in the full tier; and of wrong ones."""

        def of(dtype: str) -> Recipe:
            return lambda draw, _: self.inputs(dtype)

        def program(dtype: str) -> Callable[..., Any]:
            def run(tf: Any, at: Any, expected: Any, *parameters: Any) -> Any:
                numbers = self.call(tf, getattr(tf.raw_ops, self.raw), dtype, *parameters)
                return shares(tf, numbers, at, expected)

            return run

        specs = [
            Spec(
                name=name if dtype == dtypes[0] else f"{name}-{dtype}",
                ops=self.raw,
                program=program(dtype),
                reference=lambda at, expected, *parameters: np.ones(at.shape, bool),
                recipes={"columns": of(dtype)},
                dtypes=(dtype,),
                modes=self.modes,
                tier="default" if dtype == dtypes[0] else "full",
            )
            for dtype in dtypes
        ]
        if self.refused:
            first = dtypes[0]
            refused = {label: _fixed(wrong(first)) for label, wrong in self.refused.items()}
            call = self.call
            specs.append(
                replace(
                    specs[0],
                    name=f"{name}-refused",
                    program=lambda tf, *xs: tf.size(call(tf, getattr(tf.raw_ops, self.raw), first, *xs)),
                    reference=raises("INVALID_ARGUMENT"),
                    recipes=refused,
                )
            )
        return tuple(specs)


def _fixed(arrays: tuple[np.ndarray, ...]) -> Recipe:
    """A recipe: these arrays."""

    def recipe(draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
        return arrays

    return recipe


def distribution(name: str, dtypes: tuple[str, ...], **fields: Any) -> tuple[Spec, ...]:
    """The specs of an op of some distributions; the fields are those of `Distribution`."""
    return Distribution(**fields).specs(name, dtypes)
