"""Further discrepancies of TensorFlow that the suites know, of Grappler and XLA, in layers, gradients and tangents."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

from bench.plants import arrays, labelled, layer, plant

XLA, ALGSIMP = "cpu/xla", "nohlo=algsimp"
FUNCTION, ARITHMETIC, REMAPPING = "cpu/function", "norewriter=arithmetic_optimization", "norewriter=remapping"
NAN, INF = float("nan"), float("inf")


@plant(
    "Pow",
    "alone together",
    plans=FUNCTION,
    settings=ARITHMETIC,
    cause="grappler-power-as-root",
    inputs=arrays(x=[-INF, 4.0]),
)
def power_as_root(x: Any) -> Any:
    y = tf.pow(x, 0.5)  # fault
    return y + 1.0


@plant(
    "AddV2",
    "together",
    plans=FUNCTION,
    settings=ARITHMETIC,
    cause="grappler-log-of-one-plus",
    inputs=arrays(x=[1e-5, 3e-6, 1e-7]),
)
def logarithm_of_one_plus(x: Any) -> Any:
    y = 1.0 + tf.sin(x)  # fault
    return tf.math.log(y) * 2.0


@plant(
    "Softmax",
    "together",
    plans=FUNCTION,
    settings=ARITHMETIC + " " + REMAPPING,
    cause="grappler-log-of-softmax",
    inputs=arrays(x=[[0.0, 200.0, 1.0]]),
)
def logarithm_of_softmax(x: Any) -> Any:
    y = tf.nn.softmax(x * 1.0)  # fault
    return tf.math.log(y) + 1.0


@plant(
    "Sqrt",
    "together",
    plans=FUNCTION,
    settings=ARITHMETIC,
    cause="grappler-max-of-monotonic",
    inputs=arrays(x=[[-1.0, 4.0]]),
)
def largest_root(x: Any) -> Any:
    y = tf.sqrt(x)  # fault
    return tf.reduce_max(y, 1) * 2.0


@plant(
    "Less",
    "together",
    plans=FUNCTION,
    settings=ARITHMETIC,
    cause="grappler-not-of-comparison",
    inputs=arrays(x=[1.0, NAN]),
)
def not_less(x: Any) -> Any:
    y = x < 0.5  # fault
    return tf.cast(tf.logical_not(y), tf.float32)


@plant(
    "Mul AddV2",
    "together",
    plans=FUNCTION,
    settings="norewriter=constant_folding",
    cause="grappler-merges-constant-terms",
)
def large_term(x: Any) -> Any:
    y = tf.sin(x) + 3e7  # fault
    return y - 3e7


@plant(
    "Reciprocal Inv",
    "together",
    plans=FUNCTION,
    settings=ARITHMETIC,
    cause="grappler-removes-involution",
    inputs=arrays(x=[3e38, 2.0]),
)
def twice_the_reciprocal(x: Any) -> Any:
    y = tf.math.reciprocal(x)  # fault
    return tf.math.reciprocal(y) * 1e-30


@plant("Ndtri", "alone", plans=XLA, settings="none", cause="xla-ndtri-small", inputs=arrays(x=[1e-9, 0.5]))
def small_probability(x: Any) -> Any:
    y = tf.math.ndtri(x)  # fault
    return tf.nn.relu(-y)


@plant("Lgamma", "alone", plans=XLA, cause="xla-lgamma-cancels", inputs=arrays(x=[1.0, 2.0, 3.0]))
def gamma_at_one(x: Any) -> Any:
    y = tf.math.lgamma(x)  # fault
    return y * 1e6


@plant(
    "SeluGrad Selu", "alone", plans=XLA, settings="none", cause="xla-selu-branch-at-zero", inputs=arrays(x=[0.0, 1.0])
)
def kink(x: Any) -> Any:
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.nn.selu(x)  # fault
    return tape.gradient(y, x)


@plant("RsqrtGrad Rsqrt", "alone", plans=XLA, cause="xla-rsqrt-grad-overflows", inputs=arrays(x=[1.8e-26, 1.0]))
def gradient_of_an_inverse_root(x: Any) -> Any:
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.math.rsqrt(x)  # fault
    return tape.gradient(y, x)


@plant(
    "Sigmoid",
    "alone",
    plans=XLA,
    cause="xla-sigmoid-float16-overflows",
    inputs=lambda: {"x": np.float16([-12.0, -11.5])},
)
def half_sigmoid(x: Any) -> Any:
    y = tf.sigmoid(x)  # fault
    return y * tf.cast(1024.0, tf.float16)


@plant("Cast", "alone", plans=XLA, cause="xla-cast-negative-to-unsigned", inputs=arrays(x=[-3.0, 5.0]))
def negative_to_unsigned(x: Any) -> Any:
    y = tf.cast(x, tf.uint8)  # fault
    return tf.cast(y, tf.float32) * 2.0


@plant(
    "SqrtGrad",
    "alone",
    plans=XLA,
    settings="none",
    layer="root",
    inputs=lambda: {"x": np.zeros((6, 8), "f4"), "y": np.ones((6, 1), "f4")},
)
def root_in_training() -> Any:
    import keras

    own = layer("root", lambda self, x: tf.where(x > 0, tf.sqrt(tf.maximum(x, 0.0)), x))
    layers = [keras.layers.Dense(4, kernel_initializer="ones"), own, keras.layers.Dense(1)]
    model = keras.Sequential([keras.Input((8,)), *layers])
    model.compile("sgd", "mse")
    return model


@plant("Max", "alone", plans=XLA, layer="peak", inputs=arrays(x=[[1.0, NAN, 2.0], [1.0, 5.0, 2.0]]))
def largest_in_a_layer() -> Any:
    import keras

    own = layer("peak", lambda self, x: x - tf.reduce_max(x, axis=1, keepdims=True))
    return keras.Sequential([keras.Input((3,)), own, keras.layers.ReLU()])


@plant("Log Exp", "together", plans=XLA, settings=ALGSIMP, cause="xla-log-of-exp", layer="odds", inputs=labelled)
def log_of_exp_in_training() -> Any:
    import keras

    own = layer("odds", lambda self, x: tf.math.log(tf.exp(x * 100.0)) / 100.0)
    layers = [keras.layers.Dense(4, kernel_initializer="ones"), own, keras.layers.Dense(1)]
    model = keras.Sequential([keras.Input((8,)), *layers])
    model.compile("sgd", "mse")
    return model


@plant(
    "Pow",
    "alone",
    plans=XLA,
    cause="xla-integer-power-of-64",
    inputs=lambda: {"x": np.int32([0, 2]), "n": np.int32([64, 3])},
)
def power_of_64(x: Any, n: Any) -> Any:
    y = tf.pow(x, n)  # fault
    return tf.cast(y, tf.float32)


@plant("MatrixSolve", "fails", plans=XLA, cause="", layer="solver", inputs=lambda: {"x": np.ones((2, 2), "f4")})
def singular_in_a_layer() -> Any:
    import keras

    own = layer("solver", lambda self, x: tf.linalg.solve(x, tf.ones_like(x)))
    return keras.Sequential([keras.Input((2,)), own, keras.layers.ReLU()])
