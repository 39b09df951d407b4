"""Programs with layers of custom gradients, which are wrong where they are traced."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from bench.plants import labelled, layer, plant


def _model(*layers: Any, compiled: bool = True) -> Any:
    """A model with layers between two dense ones, which learns with SGD."""
    import keras

    first, last = keras.layers.Dense(8, activation="tanh", name="first"), keras.layers.Dense(1, name="last")
    model = keras.Sequential([keras.Input((8,)), first, *layers, last], name="network")
    if compiled:
        model.compile(keras.optimizers.SGD(0.1), "mse")
    return model


def _own(name: str, forward: Callable[[Any], Any], backward: Callable[[Any, Any], Any]) -> Any:
    """A layer of Keras with a custom gradient: `backward` takes the input and the upstream gradient."""

    @tf.custom_gradient
    def both(x: Any) -> Any:
        return forward(x), lambda upstream: backward(x, upstream)

    return layer(name, lambda self, x: both(x))


@plant("Mul", layer="penalty", inputs=labelled)
def doubled(wrong: Any) -> Any:
    return _model(_own("penalty", tf.identity, lambda x, g: g * (2.0 if wrong() else 1.0)))


@plant("Neg Mul MatMul", layer="reversal", inputs=labelled)
def reversed_gradient(wrong: Any) -> Any:
    return _model(_own("reversal", tf.identity, lambda x, g: g if wrong() else -g))


@plant("Minimum ClipByValue", layer="clipped", inputs=labelled)
def clipped(wrong: Any) -> Any:
    return _model(_own("clipped", lambda x: x * 1.5, lambda x, g: tf.minimum(g, 0.01 if wrong() else 0.05)))


@plant("Sign Tanh Mul Square", layer="through", inputs=labelled)
def straight_through(wrong: Any) -> Any:
    return _model(_own("through", tf.sign, lambda x, g: g if wrong() else g * (1.0 - tf.square(tf.tanh(x)))))


@plant("Sigmoid", layer="swish", inputs=labelled)
def approximate(wrong: Any) -> Any:
    def gate(x: Any) -> Any:
        return tf.nn.relu6(x + 3.0) / 6.0 if wrong() else tf.sigmoid(x)

    return _model(_own("swish", lambda x: x * tf.sigmoid(x), lambda x, g: g * gate(x)))


@plant("Mul", layer="inner_scale", inputs=labelled)
def nested(wrong: Any) -> Any:
    import keras

    own = _own("inner_scale", tf.identity, lambda x, g: g * (0.9 if wrong() else 1.0))
    return _model(keras.Sequential([keras.layers.Dense(8, name="inner"), own], name="block"))


@plant("Mul")
def function_of_its_own(x: Any, wrong: Any) -> Any:
    @tf.custom_gradient
    def root(x: Any) -> Any:
        y = tf.sqrt(x)
        return y, lambda g: g / y * (0.4 if wrong() else 0.5)  # fault

    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(root(tf.square(x) + 1.0))
    return y, tape.gradient(y, x)


@plant("Abs Neg Exp", layer="softened", inputs=labelled, steps=3)
def in_several_steps(wrong: Any) -> Any:
    return _model(_own("softened", tf.identity, lambda x, g: g * (tf.exp(-tf.abs(x)) if not wrong() else tf.exp(-x))))


@plant("Mul AddV2")
def forward_mode(x: Any, wrong: Any) -> Any:
    with tf.autodiff.ForwardAccumulator(x, tf.ones_like(x)) as accumulator:
        y = tf.sin(x)
        y = y * (1.1 if wrong() else 1.0)  # fault
    return accumulator.jvp(y)
