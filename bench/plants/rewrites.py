"""Programs that a pass rewrites into ones of other values, and kernels with a planted fault."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

from bench.plants import arrays, layer, normal, plant

XLA, ALGSIMP = "cpu/xla", "nohlo=algsimp"
IMAGES = lambda: {"x": np.random.default_rng(0).normal(size=(2, 8, 8, 3)).astype("f4")}  # noqa: E731
FILTERS = tf.constant(np.random.default_rng(2).normal(size=(3, 3, 3, 4)), tf.float32)
WEIGHTS = tf.constant(np.random.default_rng(2).normal(size=(8, 8)), tf.float32)


@plant("Exp", "together", plans=XLA, settings=ALGSIMP, inputs=arrays(x=[1.0, 60.0]))
def log_of_exp(x: Any) -> Any:
    y = tf.exp(x * 2.0)  # fault
    return tf.math.log(y) + 1.0


@plant("AddV2", "together", plans=XLA, settings=ALGSIMP)
def added_and_subtracted(x: Any) -> Any:
    y = tf.tanh(x) * 3.0 + 1e6  # fault
    return y - 1e6


@plant("AddV2", "together", plans="cpu/function", settings="norewriter=constant_folding")
def added_and_subtracted_by_grappler(x: Any) -> Any:
    y = tf.tanh(x) * 3.0 + 1e6  # fault
    return y - 1e6


@plant("Exp", "together", plans=XLA, settings=ALGSIMP, inputs=arrays(x=[1.0, 60.0]))
def product_of_exponentials(x: Any) -> Any:
    y = tf.exp(x * 2.0) * tf.exp(-x * 2.0)  # fault
    return tf.sqrt(y)


@plant("Square", "together", plans=XLA, settings=ALGSIMP, inputs=arrays(x=[2e-30, 1e-30]))
def root_of_a_square(x: Any) -> Any:
    y = tf.square(x)  # fault
    return tf.sqrt(y) * 1e30


@plant("Exp", "together", plans=XLA, settings=ALGSIMP, layer="gate", inputs=lambda: {"x": np.full((2, 8), 100, "f4")})
def log_of_exp_in_a_layer() -> Any:
    import keras

    own = layer("gate", lambda self, x: tf.math.log(tf.exp(x)))
    return keras.Sequential([keras.Input((8,)), own, keras.layers.Dense(2)])


@plant(
    "MatMul BiasAdd",
    "together",
    plans="cpu:1/function",
    settings="norewriter=remapping",
    kernel=("FusedMatMul", (6, 8), "scale"),
)
def fused_product(x: Any) -> Any:
    y = tf.sin(x)
    y = tf.nn.relu(tf.nn.bias_add(tf.matmul(y, WEIGHTS), tf.ones([8])))  # fault
    return tf.reduce_sum(y, axis=1)


@plant(
    "Conv2D BiasAdd",
    "together",
    plans="cpu:1/function",
    settings="norewriter=remapping",
    inputs=IMAGES,
    kernel=("FusedConv2D", (2, 8, 8, 4), "one"),
)
def fused_convolution(x: Any) -> Any:
    y = tf.sin(x)
    y = tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(y, FILTERS, 1, "SAME"), tf.ones([4])))  # fault
    return tf.reduce_sum(y, axis=1)


@plant("Softmax", "alone", plans="cpu:1/function", settings="none", kernel=("Softmax", (6, 8), "tail"))
def kernel_of_a_softmax(x: Any) -> Any:
    y = tf.nn.softmax(tf.sin(x))  # fault
    return tf.matmul(y, WEIGHTS)


@plant(
    "Conv2DBackpropFilter",
    "alone",
    plans="cpu:1/function cpu:1/eager",
    settings="none",
    inputs=IMAGES,
    kernel=("Conv2DBackpropFilter", (3, 3, 3, 4), "scale"),
)
def kernel_of_a_gradient(x: Any) -> Any:
    with tf.GradientTape() as tape:
        weights = tf.tanh(FILTERS)
        tape.watch(weights)
        y = tf.reduce_sum(tf.square(tf.nn.conv2d(x, weights, 1, "SAME")))  # fault
    return y, tape.gradient(y, weights)


@plant(
    "Mean",
    "alone",
    plans="cpu:1/function",
    settings="none",
    layer="norm",
    inputs=normal,
    kernel=("Mean", (6, 1), "scale"),
)
def kernel_in_a_layer() -> Any:
    import keras

    layers = [
        keras.Input((8,)),
        keras.layers.Dense(8),
        keras.layers.LayerNormalization(name="norm"),
        keras.layers.Dense(2),
    ]
    return keras.Sequential(layers)


@plant("MatMul", "alone", plans="cpu:1/function cpu:1/eager", settings="none", kernel=("MatMul", (6, 8), "one"))
def kernel_whose_effect_is_small(x: Any) -> Any:
    y = tf.matmul(x, WEIGHTS)  # fault
    return tf.reduce_sum(y) * 1e-3 + 100.0, tf.reduce_max(y, 1)
