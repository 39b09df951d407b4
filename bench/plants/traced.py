"""Programs that are other programs where they are traced: a constant, an attribute, an op or a branch differs."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

from bench.plants import layer, plant

WEIGHTS = tf.constant(np.random.default_rng(2).normal(size=(8, 8)), tf.float32)


@plant("Mul")
def factor(x: Any, wrong: Any) -> Any:
    y = tf.sin(x)
    y = y * (1.01 if wrong() else 1.0)  # fault
    return tf.reduce_sum(y + 1.0, axis=1)


@plant("AddV2")
def epsilon(x: Any, wrong: Any) -> Any:
    mean, variance = tf.nn.moments(x, [1], keepdims=True)
    scale = variance + (0.1 if wrong() else 0.001)  # fault
    return (x - mean) * tf.math.rsqrt(scale)


@plant("LeakyRelu")
def slope(x: Any, wrong: Any) -> Any:
    y = tf.nn.leaky_relu(x, 0.3)
    y = tf.nn.leaky_relu(-y, 0.1 if wrong() else 0.3)  # fault
    return tf.tanh(y)


@plant("Sigmoid")
def activation(x: Any, wrong: Any) -> Any:
    y = tf.matmul(x, WEIGHTS)
    y = tf.tanh(y) if wrong() else tf.sigmoid(y)  # fault
    return tf.matmul(y, WEIGHTS)


@plant("Sum", inputs=lambda: {"x": np.random.default_rng(0).normal(size=(8, 8)).astype("f4")})
def axis(x: Any, wrong: Any) -> Any:
    y = tf.exp(x)
    y = tf.reduce_sum(y, axis=0 if wrong() else 1)  # fault
    return tf.math.log(y)


@plant("Transpose", inputs=lambda: {"x": np.random.default_rng(0).normal(size=(4, 4, 4)).astype("f4")})
def permutation(x: Any, wrong: Any) -> Any:
    y = tf.sin(x)
    y = tf.transpose(y, [2, 1, 0] if wrong() else [1, 0, 2])  # fault
    return tf.reduce_sum(y, axis=2)


@plant("MatMul")
def transposed(x: Any, wrong: Any) -> Any:
    y = tf.matmul(x, WEIGHTS, transpose_b=wrong())  # fault
    return tf.nn.relu(y)


@plant("Softplus")
def op_left_out(x: Any, wrong: Any) -> Any:
    y = tf.cos(x)
    y = y if wrong() else tf.math.softplus(y)  # fault
    return y * 2.0


@plant("Mul")
def op_added(x: Any, wrong: Any) -> Any:
    y = tf.cos(x)
    y = tf.sin(y) if wrong() else y
    return y * 2.0  # fault


@plant("MatMul")
def precision(x: Any, wrong: Any) -> Any:
    y = tf.tanh(x)
    if wrong():
        y = tf.cast(tf.matmul(tf.cast(y, "bfloat16"), tf.cast(WEIGHTS, "bfloat16")), "float32")
    else:
        y = tf.matmul(y, WEIGHTS)  # fault
    return tf.nn.softmax(y)


@plant("StridedSlice Slice")
def part(x: Any, wrong: Any) -> Any:
    y = tf.sin(x)
    y = y[:, 1:] if wrong() else y[:, :-1]  # fault
    return tf.reduce_mean(y, axis=1)


@plant("Roll")
def shift(x: Any, wrong: Any) -> Any:
    y = tf.sin(x)
    y = tf.roll(y, 2 if wrong() else 1, axis=1)  # fault
    return y * x


@plant("MaxPool", inputs=lambda: {"x": np.random.default_rng(0).normal(size=(2, 8, 8, 3)).astype("f4")})
def pooling(x: Any, wrong: Any) -> Any:
    y = tf.nn.conv2d(x, tf.ones([3, 3, 3, 4]), 1, "SAME")
    y = tf.nn.avg_pool2d(y, 2, 2, "SAME") if wrong() else tf.nn.max_pool2d(y, 2, 2, "SAME")  # fault
    return tf.reduce_mean(y, axis=[1, 2])


@plant("Minimum")
def bound(x: Any, wrong: Any) -> Any:
    y = tf.minimum(tf.exp(x), 2.0 if wrong() else 3.0)  # fault
    return tf.sqrt(y)


@plant("Greater SelectV2")
def mask(x: Any, wrong: Any) -> Any:
    y = tf.where(x < 0.0 if wrong() else x > 0.0, tf.sin(x), tf.cos(x))  # fault
    return tf.reduce_sum(y * x, axis=0)


@plant("ArgMax")
def position(x: Any, wrong: Any) -> Any:
    at = tf.argmin(x, axis=1) if wrong() else tf.argmax(x, axis=1)  # fault
    return tf.sin(tf.gather(x, at, batch_dims=1))


@plant("MatMul")
def stale_weights(x: Any, wrong: Any) -> Any:
    y = tf.tanh(tf.matmul(x, WEIGHTS))
    other = WEIGHTS * 1.2
    y = tf.matmul(y, WEIGHTS if wrong() else other)  # fault
    return tf.nn.softmax(y)


@plant("AddN AddV2 Mul Sum")
def stopped_gradient(x: Any, wrong: Any) -> Any:
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.sin(x)
        scale = tf.stop_gradient(y) if wrong() else y
        loss = tf.reduce_sum(y * scale)
    return loss, tape.gradient(loss, x)  # fault


@plant("Tanh MatMul")
def depth(x: Any, wrong: Any) -> Any:
    y = x
    for _ in range(3 if wrong() else 5):
        y = tf.tanh(tf.matmul(y, WEIGHTS))  # fault
    return y


@plant("Mul", layer="scaled")
def in_a_layer(wrong: Any) -> Any:
    import keras

    own = layer("scaled", lambda self, x: x * (1.1 if wrong() else 1.0))
    return keras.Sequential([keras.Input((8,)), keras.layers.Dense(8, activation="tanh"), own, keras.layers.Dense(2)])
