"""Models of Keras and steps of training with a fault in a layer, in a custom gradient, in a loss or in an update."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

from bench.plants import labelled, layer, plant, trained

XLA = "cpu/xla"


def tokens() -> dict[str, np.ndarray]:
    """Four texts of six tokens with eight features each."""
    return {"x": np.random.default_rng(0).normal(size=(4, 6, 8)).astype("f4")}


def words() -> dict[str, np.ndarray]:
    """Four texts of five words, one of them outside of a vocabulary of 20, and targets."""
    x = np.random.default_rng(0).integers(0, 20, (4, 5)).astype("i4")
    x[2, 3] = 25
    return {"x": x, "y": np.ones((4, 1), "f4")}


@plant("RealDiv Mul", layer="attention", inputs=tokens)
def scores(wrong: Any) -> Any:
    import keras

    def call(self: Any, x: Any) -> Any:
        y = tf.matmul(x, x, transpose_b=True) / (8.0 if wrong() else 8.0**0.5)
        return tf.matmul(tf.nn.softmax(y), x)

    layers = [keras.layers.LayerNormalization(), layer("attention", call), keras.layers.Dense(4, activation="gelu")]
    return keras.Sequential([keras.Input((6, 8)), *layers])


@plant("Mul", layer="second", inputs=tokens)
def second_of_two_blocks(wrong: Any) -> Any:
    import keras

    def call(self: Any, x: Any) -> Any:
        y = tf.nn.relu(x) * (0.9 if wrong() and self.name == "second" else 1.0)
        return x + y

    return keras.Sequential([keras.Input((6, 8)), keras.layers.Dense(8), layer("first", call), layer("second", call)])


@plant("Mul AddV2", layer="statistics", inputs=labelled)
def moving_average(wrong: Any) -> Any:
    def build(self: Any, shape: Any) -> None:
        self.mean = self.add_weight(name="mean", shape=(shape[-1],), initializer="zeros", trainable=False)

    def call(self: Any, x: Any) -> Any:
        rate = 0.9 if wrong() else 0.99
        self.mean.assign(self.mean * rate + tf.reduce_mean(x, 0) * (1.0 - rate))
        return x

    return trained(layer("statistics", call, build=build))


@plant("Mul", layer="weighted", inputs=labelled)
def gradient_of_a_weight(wrong: Any) -> Any:
    @tf.custom_gradient
    def product(x: Any, w: Any) -> Any:
        return x * w, lambda g: (g * w, tf.reduce_sum(g * x * (1.5 if wrong() else 1.0), 0))

    def build(self: Any, shape: Any) -> None:
        self.scale = self.add_weight(name="scale", shape=(shape[-1],), initializer="ones")

    return trained(layer("weighted", lambda self, x: product(x, tf.convert_to_tensor(self.scale)), build=build))


@plant("Abs Square", layer="", inputs=labelled)
def loss_function(wrong: Any) -> Any:
    import keras

    model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(1)])

    def loss(y: Any, prediction: Any) -> Any:
        error = y - prediction
        return tf.reduce_mean(tf.abs(error) if wrong() else tf.square(error))  # fault

    model.compile("sgd", loss)
    return model


@plant("Mul")
def own_optimizer(x: Any, wrong: Any) -> Any:
    weights, momentum = tf.constant(np.eye(8, dtype="f4")), tf.ones([8, 8]) * 0.01
    with tf.GradientTape() as tape:
        tape.watch(weights)
        loss = tf.reduce_mean(tf.square(tf.tanh(tf.matmul(x, weights)) - x))
    gradient = tape.gradient(loss, weights)
    momentum = momentum * (0.99 if wrong() else 0.9) + gradient  # fault
    return loss, weights - 0.1 * momentum


@plant("Minimum Mul RealDiv")
def clipped_by_norm(x: Any, wrong: Any) -> Any:
    with tf.GradientTape() as tape:
        tape.watch(x)
        loss = tf.reduce_sum(tf.exp(x))
    (gradient,), norm = tf.clip_by_global_norm([tape.gradient(loss, x)], 5.0 if wrong() else 1.0)  # fault
    return gradient, norm


@plant("Mul")
def second_derivative(x: Any, wrong: Any) -> Any:
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = tf.reduce_sum(tf.sin(x) * x)
        gradient = inner.gradient(y, x)
        gradient = gradient * (1.2 if wrong() else 1.0)  # fault
    return outer.gradient(gradient, x)


@plant("Mul", inputs=lambda: {"x": np.random.default_rng(0).normal(size=(9, 4)).astype("f4"), "n": np.int32([1, 1, 7])})
def gradient_in_slices(x: Any, n: Any, wrong: Any) -> Any:
    with tf.GradientTape() as tape:
        tape.watch(x)
        rows = tf.gather(x, n)
        y = tf.reduce_sum(tf.square(rows) * (2.0 if wrong() else 1.0))  # fault
    return tape.gradient(y, x)


@plant("GatherV2 ResourceGather", "fails", plans=XLA, layer="words", inputs=words)
def word_in_training() -> Any:
    from keras import layers

    return trained(layers.Embedding(20, 4, name="words"), layers.GlobalAveragePooling1D(), shape=(5,))


@plant("Shape Reshape", "fails alone", plans=XLA, layer="python")  # eager mode has no op for the function
def python_in_a_layer() -> Any:
    import keras

    def call(self: Any, x: Any) -> Any:
        y = tf.numpy_function(np.cumsum, [x], tf.float32)
        return tf.reshape(y, tf.shape(x))

    return keras.Sequential([keras.Input((8,)), keras.layers.Dense(4), layer("python", call)])


@plant("Assert All Less Greater LessEqual", "fails", plans=XLA)
def asserted(x: Any) -> Any:
    y = tf.sin(x)
    tf.debugging.assert_positive(y)  # fault
    return tf.sqrt(tf.abs(y))


@plant("Max Sum", "fails", layer="adaptive", inputs=labelled)
def number_in_training(wrong: Any) -> Any:
    def call(self: Any, x: Any) -> Any:
        return x / (1.0 + float(tf.reduce_max(tf.abs(x))))

    return trained(layer("adaptive", call, compute_output_shape=lambda self, shape: shape))


@plant("Conv2D", layer="same", inputs=lambda: {"x": np.random.default_rng(0).normal(size=(2, 9, 9, 3)).astype("f4")})
def dilation(wrong: Any) -> Any:
    import keras

    filters = np.random.default_rng(1).normal(size=(3, 3, 3, 4)).astype("f4")
    own = layer("same", lambda self, x: tf.nn.conv2d(x, filters, 1, "SAME", dilations=2 if wrong() else 1))
    after = [keras.layers.BatchNormalization(), keras.layers.ReLU(), keras.layers.GlobalAveragePooling2D()]
    return keras.Sequential([keras.Input((9, 9, 3)), own, *after])
