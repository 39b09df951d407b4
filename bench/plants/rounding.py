"""Programs that make rounding large: each op is right, and a result has lost most of its digits."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

from bench.plants import arrays, layer, plant

XLA = "cpu/xla"


def _around(center: float, spread: float, *shape: int) -> Any:
    """Inputs near a number."""
    return lambda: {"x": (center + spread * np.random.default_rng(0).normal(size=shape)).astype("f4")}


@plant("Sub", "amplified", plans=XLA, inputs=lambda: {"x": np.linspace(5.0, 9.0, 200, dtype="f4")})
def next_to_one(x: Any) -> Any:
    y = tf.tanh(x)
    y = 1.0 - y  # fault
    return tf.math.log(y + 1e-9)


@plant("Sub", "amplified", plans=XLA, inputs=_around(3000.0, 1.0, 4, 1000))
def variance_of_large_numbers(x: Any) -> Any:
    mean, square = tf.reduce_mean(x, 1), tf.reduce_mean(tf.square(x), 1)
    return square - tf.square(mean)  # fault


@plant("Sub Mul Exp Neg", "amplified", plans=XLA, inputs=_around(0.5, 0.1, 20))
def chaos(x: Any) -> Any:
    y = x
    for _ in range(60):
        y = tf.exp(-6.2 * y * y) - 0.5  # fault
    return y


@plant(
    "Sub",
    "amplified",
    plans=XLA,
    settings="nofma",
    inputs=lambda: {
        "x": np.linspace(1.0, 2.0, 50, dtype="f4"),
        "y": np.linspace(1.0, 2.0, 50, dtype="f4") * np.float32(1 + 2**-22),
    },
)
def difference_of_squares(x: Any, y: Any) -> Any:
    return x * x - y * y  # fault


@plant("Sub", "amplified", plans=XLA, inputs=_around(1.0, 0.3, 64))
def difference_of_exponentials(x: Any) -> Any:
    y = tf.exp(x + 8.0)
    z = tf.exp(x + 8.000001)
    return tf.math.log(tf.abs(z - y) + 1e-6)  # fault


@plant("Sin", "amplified", plans=XLA, inputs=_around(0.5, 0.2, 64))
def phase(x: Any) -> Any:
    y = tf.tanh(x) * 1e7
    return tf.sin(y)  # fault


@plant("Sub", "amplified", plans=XLA, inputs=lambda: {"x": np.linspace(0.1, 0.9, 3000, dtype="f4")})
def step(x: Any) -> Any:
    y = tf.tanh(x) * 2e6
    return tf.floor(y) - tf.round(y)  # fault


@plant("Sub", "amplified", plans=XLA, layer="spread", inputs=_around(2000.0, 1.0, 4, 500))
def variance_in_a_layer() -> Any:
    import keras

    def call(self: Any, x: Any) -> Any:
        return tf.reduce_mean(tf.square(x), 1, keepdims=True) - tf.square(tf.reduce_mean(x, 1, keepdims=True))

    own = layer("spread", call)
    return keras.Sequential([keras.Input((500,)), own, keras.layers.Dense(2, kernel_initializer="ones")])


@plant(
    "ArgMax",
    "amplified",
    plans=XLA,
    inputs=lambda: {"x": np.float32(0.5) + np.arange(20000, dtype="f4").reshape(20, 1000) * np.float32(2**-24)},
)
def place_of_the_largest(x: Any) -> Any:
    return tf.argmax(tf.tanh(x), axis=1)  # fault


@plant("Sub", "amplified", plans=XLA, inputs=arrays(x=[[1.0, 2.0, 3.0], [1.5, 0.3, 0.7]]))
def gradient_of_a_distance(x: Any) -> Any:
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.nn.softmax(x) - tf.exp(x) / tf.reduce_sum(tf.exp(x), 1, keepdims=True)  # fault
        loss = tf.sqrt(tf.reduce_sum(tf.square(y)) + 1e-20)
    return tape.gradient(loss, x)


@plant("Sin", "amplified", plans="cpu+noonednn/eager", settings="without_noonednn", inputs=_around(1.0, 0.3, 64, 64))
def kernels_of_another_library(x: Any) -> Any:
    y = tf.nn.softmax(x) * 1e8
    return tf.sin(y)  # fault
