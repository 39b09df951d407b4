"""Moments: means of gamma numbers and their gradients by the shape of the distribution, with a rate of false alarms.

A mean of n numbers is normal, so that it is off by more than `LARGEST` standard deviations with a probability of 1e-9.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import Draw
from tf_opdiff.harness.spec.plan import WITHOUT_XLA
from tf_opdiff.harness.spec.spec import Recipe, Spec
from tf_opdiff.harness.spec.tolerances.loose import Loose
from tf_opdiff.suites.derived.sizes import sizes
from tf_opdiff.suites.forms.part import Op, Part, part
from tf_opdiff.suites.forms.random_numbers.distribution import COUNT
from tf_opdiff.suites.reference.random_numbers import gamma_numbers as ref

#: Standard deviations.
LARGEST = 6.2
#: A mean has the digits of float16, or fewer.
_SCATTERS = Loose(reason="a mean of random numbers scatters by its standard deviation", last=0, dtype="float16", size=1)
_ALPHAS = (0.75, 1.0, 2.5, 10.0, 100.0)


def gamma_means(call: Callable[..., Any]) -> Part:
    """A part: the means of gamma numbers and of their logarithms, with gradients by the shape of the distribution.

    Args:
      call: call(tf, raw op, dtype, shape, alpha) → the numbers.
    """

    def specs(op: Op) -> Iterator[Spec]:
        def program(tf: Any, alpha: Any) -> Any:
            shape = tf.concat([[COUNT], tf.shape(alpha)], 0)
            numbers = tf.cast(call(tf, getattr(tf.raw_ops, op.raw), alpha.dtype, shape, alpha), "float64")
            means = tf.reduce_mean(numbers, axis=0), tf.reduce_mean(tf.math.log(numbers), axis=0)
            return tuple(tf.cast(mean, alpha.dtype) for mean in means)

        main, *others = part(
            "-means",
            program=program,
            reference=ref.means,
            vjp=_gradient,
            bound={"output[0]": _off(0), "output[1]": _off(1), "grad": _gradient_off},
            loose=dict.fromkeys(("output", "grad", "jvp"), _SCATTERS),
            recipes={"columns": _alphas(_ALPHAS)},
            modes=WITHOUT_XLA,
        )(op)
        yield from (main, *others, *sizes(replace(main, name=op.name), {"none": _alphas(()), "one": _alphas((2.5,))}))
        yield main.but(
            name=f"{main.name}-second-order",
            jvp=lambda t, alpha: tuple(t * slope for slope in ref.slopes(alpha)),
            hvp=lambda gs, t, alpha: gs[1] * t * ref.curvature(alpha),
            bound={**main.tolerance.bound, "jvp[0]": _slope_off(0), "jvp[1]": _slope_off(1)},
            tier="full",
        )

    return specs


def _alphas(values: tuple[float, ...]) -> Recipe:
    """A recipe: these shapes of the distribution."""

    def recipe(draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
        return (np.array(values, dtype),)

    return recipe


def _gradient(gs: Any, alpha: np.ndarray) -> np.ndarray:
    return np.sum([g * slope for g, slope in zip(gs, ref.slopes(alpha), strict=True)], axis=0)


def _off(k: int) -> Callable[..., np.ndarray]:
    """The bound of a mean, which is rounded."""
    return lambda u, gs, alpha: LARGEST / np.sqrt(COUNT) * ref.deviations(alpha)[k] + u * np.abs(ref.means(alpha)[k])


def _slope_off(k: int) -> Callable[..., np.ndarray]:
    """The bound of forward mode of a mean."""
    return lambda u, gs, t, alpha: LARGEST / np.sqrt(COUNT) * np.abs(t) * ref.slope_deviations(alpha)[k]


def _gradient_off(u: float, gs: Any, alpha: np.ndarray) -> np.ndarray:
    each = zip(gs, ref.slope_deviations(alpha), strict=True)
    return LARGEST / np.sqrt(COUNT) * np.sum([np.abs(g) * deviation for g, deviation in each], axis=0)
