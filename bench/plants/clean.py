"""Clean programs: no plan has an op to name, whatever the trace looks like."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import tensorflow as tf

from bench.plants import labelled, layer, normal, plant, trained

SAME = "same rounding"
_trained = partial(trained, optimizer="adam")
IMAGES = lambda: {"x": np.random.default_rng(0).normal(size=(4, 16, 16, 3)).astype("f4")}  # noqa: E731
IMAGES_Y = lambda: IMAGES() | {"y": np.ones((4, 1), "f4")}  # noqa: E731
WEIGHTS = tf.constant(np.random.default_rng(2).normal(size=(8, 8)), tf.float32)


@plant("", SAME)
def another_formula(x: Any, wrong: Any) -> Any:
    mean = tf.reduce_sum(x, 1, keepdims=True) / 8.0 if wrong() else tf.reduce_mean(x, 1, keepdims=True)
    square = (x - mean) * (x - mean) if wrong() else tf.square(x - mean)
    return square / (tf.reduce_mean(square, 1, keepdims=True) + 1.0)


@plant("", SAME)
def gradients_of_broadcasts(x: Any) -> Any:
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.concat([x, tf.sin(x)], 1) + tf.reduce_mean(x, 1, keepdims=True)
        loss = tf.reduce_mean(tf.square(y), axis=[0, 1]) + tf.reduce_sum(tf.tile(x, [2, 1]) ** 2)
    return loss, tape.gradient(loss, x)


@plant("", SAME)
def forward_mode(x: Any) -> Any:
    with tf.autodiff.ForwardAccumulator(x, tf.ones_like(x)) as accumulator:
        y = tf.nn.softmax(tf.matmul(tf.sin(x), WEIGHTS))
    return y, accumulator.jvp(y)


@plant("", SAME)
def loop(x: Any) -> Any:
    y, n = x, tf.constant(0)
    while n < 5:
        y, n = tf.tanh(tf.matmul(y, WEIGHTS)) + x, n + 1
    return y


@plant("", SAME, inputs=labelled)
def mlp_with_batch_normalization() -> Any:
    from keras import layers

    return _trained(*(one for _ in range(3) for one in (layers.Dense(16), layers.BatchNormalization(), layers.ReLU())))


@plant("", SAME, inputs=labelled, steps=5)
def five_steps() -> Any:
    from keras import layers

    return _trained(
        layers.Dense(16, activation="tanh"), layers.LayerNormalization(), layers.Dense(8, activation="gelu")
    )


@plant("", SAME, inputs=IMAGES_Y)
def convolutions() -> Any:
    from keras import layers

    each = [layers.Conv2D(8, 3, padding="same"), layers.BatchNormalization(), layers.ReLU(), layers.MaxPooling2D()]
    return _trained(*each, layers.Conv2D(8, 3, 2), layers.GlobalAveragePooling2D(), shape=(16, 16, 3))


@plant(
    "",
    SAME,
    inputs=lambda: {"x": np.random.default_rng(0).normal(size=(4, 6, 8)).astype("f4"), "y": np.ones((4, 1), "f4")},
)
def attention() -> Any:
    import keras
    from keras import layers

    x = tokens = keras.Input((6, 8))
    x = layers.LayerNormalization()(layers.Add()([x, layers.MultiHeadAttention(2, 4)(x, x)]))
    x = layers.Dense(16, activation="gelu")(x)
    model = keras.Model(tokens, layers.Dense(1)(layers.GlobalAveragePooling1D()(x)))
    model.compile("sgd", "mse")
    return model


@plant(
    "",
    SAME,
    inputs=lambda: {"x": np.random.default_rng(0).normal(size=(4, 6, 8)).astype("f4"), "y": np.ones((4, 1), "f4")},
)
def recurrent() -> Any:
    from keras import layers

    return _trained(layers.LSTM(8, unroll=True), layers.Dense(4), shape=(6, 8))


@plant("", SAME, inputs=lambda: {"x": np.random.default_rng(0).normal(size=(4, 6, 8)).astype("f4")})
def recurrent_loop() -> Any:
    import keras
    from keras import layers

    return keras.Sequential([keras.Input((6, 8)), layers.GRU(8), layers.Dense(4)])


@plant("", SAME, inputs=labelled)
def dropout() -> Any:
    from keras import layers

    return _trained(layers.Dense(16, activation="relu"), layers.Dropout(0.3), layers.Dense(8, activation="selu"))


@plant("", SAME, inputs=normal)
def random_numbers(x: Any) -> Any:
    return x + tf.random.stateless_normal(x.shape, [1, 2])


@plant("", SAME, inputs=lambda: {"x": np.linspace(-6, 6, 4000, dtype="f4")})
def functions(x: Any) -> Any:
    return [f(x) for f in (tf.exp, tf.tanh, tf.math.erf, tf.math.softplus, tf.sin, tf.math.lgamma, tf.nn.gelu)]


@plant("", SAME, inputs=lambda: {"x": np.random.default_rng(0).normal(size=(40, 40))})
def linear_algebra(x: Any) -> Any:
    y = tf.matmul(x, x, transpose_b=True) + 40.0 * tf.eye(40, dtype=tf.float64)
    return tf.linalg.cholesky(y), tf.linalg.solve(y, x), tf.linalg.inv(y)


@plant("", SAME, inputs=labelled)
def computed_again() -> Any:
    import keras

    def call(self: Any, x: Any) -> Any:
        return tf.recompute_grad(lambda z: tf.tanh(tf.matmul(z, WEIGHTS)) * 2.0)(x)

    return _trained(layer("again", call), keras.layers.Dense(4))


@plant("", SAME, steps=4)
def state_of_its_own() -> Any:
    total = tf.Variable(tf.zeros([8]))

    def step(x: Any) -> Any:
        total.assign(total * 0.9 + tf.reduce_mean(x, 0))
        return x - total

    return step


@plant("", SAME)
def branch(x: Any) -> Any:
    y = tf.cond(tf.reduce_sum(x) > 0.0, lambda: tf.sin(x), lambda: tf.cos(x))
    return tf.scan(lambda total, row: total * 0.5 + row, y)


@plant("", SAME, inputs=normal)
def product_by_its_value(x: Any) -> Any:
    return tf.sin(x) * x + tf.exp(-tf.square(x)) - tf.sqrt(tf.abs(x))


@plant("", SAME, inputs=lambda: {"x": np.random.default_rng(0).normal(size=(6, 8)).astype("f2")})
def half(x: Any) -> Any:
    return tf.nn.softmax(tf.matmul(x, tf.cast(WEIGHTS, tf.float16))), tf.reduce_mean(tf.nn.gelu(x), 0)
