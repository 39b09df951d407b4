"""Overrides: gradients that people put in place of an op's own, written for TensorFlow and again for NumPy."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tf_opdiff.harness.spec.spec import Sparse


@dataclass(frozen=True, kw_only=True)
class Override:
    """An op and a gradient to put in place of its own.

    forward(tf, x) → y with one op of type `op`; rule(tf, g, x, y) → the gradient. `reference` and `vjp` are the same in
    NumPy, `natural` is the gradient that `op` has by itself. `slope` is k where the gradient is k·g, whatever x.
    """

    op: str
    forward: Callable[..., Any]
    rule: Callable[..., Any]
    reference: Callable[..., Any]
    vjp: Callable[..., Any]
    natural: Callable[..., Any]
    slope: float | None = None
    complex_too: bool = False


OVERRIDES = {
    # Needs the op's input and output: the fraction that floor cuts off.
    "fraction": Override(
        op="Floor",
        forward=lambda tf, x: tf.floor(x),
        rule=lambda tf, g, x, y: g * (x - y),
        reference=np.floor,
        vjp=lambda g, x: g * (x - np.floor(x)),
        natural=lambda g, x: None,
    ),
    # Guided backpropagation (Springenberg et al. 2015, section 3): positive gradients of positive inputs.
    "guided": Override(
        op="LeakyRelu",
        forward=lambda tf, x: tf.nn.leaky_relu(x, alpha=0.25),
        rule=lambda tf, g, x, y: tf.where(tf.logical_and(g > 0, x > 0), g, tf.zeros_like(g)),
        reference=lambda x: np.where(x > 0, x, 0.25 * x),
        vjp=lambda g, x: np.where((g > 0) & (x > 0), g, 0.0),
        natural=lambda g, x: np.where(x > 0, g, 0.25 * g),
    ),
    # Gradient reversal (Ganin and Lempitsky 2015), at twice the size.
    "reversal": Override(
        op="Identity",
        forward=lambda tf, x: tf.identity(x),
        rule=lambda tf, g, x, y: -2 * g,
        reference=lambda x: x,
        vjp=lambda g, x: -2 * g,
        natural=lambda g, x: g,
        slope=-2,
        complex_too=True,
    ),
    # The straight-through estimator (Bengio et al. 2013).
    "straight-through": Override(
        op="Floor",
        forward=lambda tf, x: tf.floor(x),
        rule=lambda tf, g, x, y: tf.identity(g),
        reference=np.floor,
        vjp=lambda g, x: g,
        natural=lambda g, x: None,
        slope=1,
    ),
}


def rows_vjp(g, x):
    """Rows 2 and 0 of an upstream of three rows, in sparse form."""
    return Sparse(g[[2, 0]], np.array([2, 0]), (3, 5))
