"""Kernels with a planted fault in ops whose budgets depend on dtype, attributes and size."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

from bench.plants import arrays, labelled, plant

HERE, BOTH = "cpu:1/function", "cpu:1/function cpu:1/eager"
POSITIVE = lambda: {"x": np.random.default_rng(0).uniform(0.5, 3.0, (6, 8)).astype("f4")}  # noqa: E731
IMAGES = lambda: {"x": np.random.default_rng(0).normal(size=(2, 8, 8, 4)).astype("f4")}  # noqa: E731
MATRIX = lambda: {"x": np.random.default_rng(0).normal(size=(6, 6)) + 6 * np.eye(6)}  # noqa: E731


@plant("Lgamma", "alone", plans=BOTH, settings="none", inputs=POSITIVE, kernel=("Lgamma", (6, 8), "scale"))
def logarithm_of_gamma(x: Any) -> Any:
    y = tf.math.lgamma(x + 2.0)  # fault
    return tf.tanh(y)


@plant("Igamma", "alone", plans=HERE, settings="none", inputs=POSITIVE, kernel=("Igamma", (6, 8), "scale"))
def incomplete_gamma(x: Any) -> Any:
    y = tf.math.igamma(x, x * 0.9)  # fault
    return y + 1.0


@plant("Betainc", "alone", plans=HERE, settings="none", inputs=POSITIVE, kernel=("Betainc", (6, 8), "one"))
def incomplete_beta(x: Any) -> Any:
    y = tf.math.betainc(x, x + 0.5, tf.fill([6, 8], 0.4))  # fault
    return y * 2.0


@plant("Polygamma", "alone", plans=HERE, settings="none", inputs=POSITIVE, kernel=("Polygamma", (6, 8), "scale"))
def derivatives_of_digamma(x: Any) -> Any:
    y = tf.math.polygamma(tf.fill([6, 8], 1.0), x)  # fault
    return y + 1.0


@plant(
    "MatrixInverse",
    "alone",
    plans=HERE,
    settings="none",
    inputs=lambda: {"x": np.float32(MATRIX()["x"])},
    kernel=("MatrixInverse", (6, 6), "scale"),
)
def inverse(x: Any) -> Any:
    y = tf.linalg.inv(x)  # fault
    return tf.matmul(y, x)


@plant("AvgPool", "alone", plans=BOTH, settings="none", inputs=IMAGES, kernel=("AvgPool", (2, 4, 4, 4), "scale"))
def pooled(x: Any) -> Any:
    y = tf.nn.avg_pool2d(tf.nn.relu(x), 2, 2, "SAME")  # fault
    return tf.reduce_sum(y, 3)


@plant("Cumsum", "alone", plans=HERE, settings="none", kernel=("Cumsum", (6, 8), "tail"))
def running_sum(x: Any) -> Any:
    y = tf.cumsum(tf.sin(x), 1)  # fault
    return y * 2.0


@plant(
    "ResizeBilinear",
    "alone",
    plans=HERE,
    settings="none",
    inputs=IMAGES,
    kernel=("ResizeBilinear", (2, 5, 5, 4), "scale"),
)
def resized(x: Any) -> Any:
    y = tf.image.resize(x, [5, 5])  # fault
    return tf.nn.relu(y)


@plant(
    "Sum",
    "alone",
    plans=BOTH,
    settings="none",
    inputs=lambda: {"x": np.random.default_rng(0).normal(size=(4, 3000)).astype("f4")},
    kernel=("Sum", (4,), "scale"),
)
def long_sum(x: Any) -> Any:
    y = tf.reduce_sum(x, 1)  # fault
    return y + 1000.0


@plant(
    "BiasAddGrad",
    "alone",
    plans=HERE,
    settings="none",
    layer="inner",
    inputs=labelled,
    kernel=("BiasAddGrad", (5,), "scale"),
)
def gradient_of_a_bias() -> Any:
    from keras import Sequential, layers

    model = Sequential([layers.Input((8,)), layers.Dense(5, activation="tanh", name="inner"), layers.Dense(1)])
    model.compile("sgd", "mse")
    return model


@plant(
    "Einsum",
    "alone",
    plans=HERE,
    settings="none",
    inputs=arrays(x=np.random.default_rng(0).normal(size=(4, 6, 8)).astype("f4")),
    kernel=("Einsum", (4, 6, 6), "tail"),
)
def contraction(x: Any) -> Any:
    y = tf.einsum("bik,bjk->bij", x, x)  # fault
    return tf.nn.softmax(y)
