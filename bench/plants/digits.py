"""Programs that lose digits: in normalisations, differences, gradients and few bits."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

from bench.plants import labelled, layer, plant

XLA = "cpu/xla"


def _uniform(low: float, high: float, *shape: int) -> Any:
    """Inputs between two numbers."""
    return lambda: {"x": np.random.default_rng(0).uniform(low, high, shape).astype("f4")}


@plant("Sub", "amplified", plans=XLA, inputs=_uniform(0.2, 1.2, 40))
def difference_quotient(x: Any) -> Any:
    y = tf.sin(x + 1e-6) - tf.sin(x)  # fault
    return y / 1e-6


@plant("Sub SquaredDifference", "amplified", plans=XLA, inputs=_uniform(0.2, 1.2, 4, 8))
def normalised_constant(x: Any) -> Any:
    y = tf.repeat(tf.tanh(x), 9, axis=1) + 3.0
    y = tf.concat([tf.exp(tf.repeat(x[:, :1], 71, 1)), y[:, :1] * 0 + tf.exp(x[:, :1] * 1.0000001)], 1)
    mean = tf.reduce_mean(y, 1, keepdims=True)
    y = y - mean  # fault
    return y * tf.math.rsqrt(tf.reduce_mean(tf.square(y), 1, keepdims=True) + 1e-20)


@plant("Sub", "amplified", plans=XLA, layer="distance", inputs=_uniform(0.5, 1.5, 6, 64))
def cosine_in_a_layer() -> Any:
    import keras

    def call(self: Any, x: Any) -> Any:
        y = tf.nn.l2_normalize(tf.exp(x), 1)
        z = tf.nn.l2_normalize(tf.exp(x) * (1.0 + 1e-4 * tf.cos(x)), 1)
        return 1.0 - tf.reduce_sum(y * z, 1, keepdims=True)

    own = layer("distance", call)
    return keras.Sequential([keras.Input((64,)), own, keras.layers.Dense(2, kernel_initializer="ones")])


@plant("Exp", "together", plans=XLA, settings="nohlo=algsimp", inputs=_uniform(0.5, 1.5, 50))
def logarithm_near_one(x: Any) -> Any:
    y = tf.exp(tf.sin(x) * 1e-6)  # fault
    return tf.math.log(y)


@plant("Sub", "amplified", plans=XLA, inputs=_uniform(0.5, 1.5, 6, 6))
def determinant(x: Any) -> Any:
    y = tf.exp(x[:, :1] * 0.3) * tf.sigmoid(x[:1, :])
    return y[0, 0] * y[1, 1] - y[0, 1] * y[1, 0] + 1e-30 * x[0, 0]  # fault


@plant("Sum Sub AddV2 Neg AddN", "amplified", plans=XLA, inputs=_uniform(0.5, 1.5, 40))
def cancelling_gradient(x: Any) -> Any:
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(tf.math.log(tf.exp(x) + 1.0) - tf.nn.softplus(x))
    return tape.gradient(y, x)  # fault


@plant("Pow Sub Mul Exp", "amplified", plans=XLA, inputs=labelled)
def logistic_map(x: Any, y: Any) -> Any:
    z = tf.sigmoid(x + y)
    for _ in range(45):
        z = 3.99 * z * (1.0 - z)  # fault
    return z


@plant("Sub Floor", "amplified", plans=XLA, inputs=_uniform(0.5, 1.5, 400))
def fractional_part(x: Any) -> Any:
    y = tf.exp(x) * 1e6
    return y - tf.floor(y)  # fault


@plant("Cast Round Floor Less Greater", "amplified", plans=XLA, inputs=_uniform(0.5, 1.5, 4000))
def quantised(x: Any) -> Any:
    y = tf.tanh(x) * 1e6
    return tf.cast(y, tf.int32)  # fault
