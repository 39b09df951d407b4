"""Programs that fail in one mode and give a value in another."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

from bench.plants import arrays, layer, normal, plant

XLA = "cpu/xla"
INDICES = arrays(x=[[1.0, 2.0], [3.0, 4.0]], n=np.int32([0, 5]))
SINGULAR = arrays(x=[[1.0, 2.0], [2.0, 4.0]])


@plant("GatherV2", "fails", plans=XLA, inputs=INDICES)
def index_out_of_range(x: Any, n: Any) -> Any:
    y = tf.sin(x)
    y = tf.gather(y, n)  # fault
    return y + 1.0


@plant("ResourceGather GatherV2", "fails", plans=XLA, layer="words", inputs=lambda: {"x": np.int32([[1, 60]])})
def word_out_of_range() -> Any:
    import keras

    layers = [keras.Input((2,)), keras.layers.Embedding(50, 4, name="words"), keras.layers.Dense(2)]
    return keras.Sequential(layers)


@plant("MatrixSolve", "fails", plans=XLA, inputs=SINGULAR)
def singular(x: Any) -> Any:
    y = x + 0.0
    return tf.linalg.solve(y, tf.ones([2, 1]))  # fault


@plant("CheckNumerics", "fails", plans=XLA, inputs=arrays(x=[1.0, 0.0]))
def checked(x: Any) -> Any:
    y = tf.math.log(x)
    y = tf.debugging.check_numerics(y, "logarithm")  # fault
    return tf.exp(y)


@plant("FloorDiv", "fails", plans=XLA, inputs=lambda: {"x": np.int32([4, 5]), "y": np.int32([2, 0])})
def divided_by_zero(x: Any, y: Any) -> Any:
    z = x // y  # fault
    return tf.cast(z, tf.float32)


@plant("FloorMod", "fails", plans=XLA, inputs=lambda: {"x": np.int32([4, 5]), "y": np.int32([2, 0])})
def remainder_by_zero(x: Any, y: Any) -> Any:
    z = tf.math.floormod(x + 1, y)  # fault
    return tf.cast(z, tf.float32)


@plant("MatrixInverse", "fails", plans=XLA, inputs=SINGULAR)
def singular_inverse(x: Any) -> Any:
    y = x * 1.0
    return tf.linalg.inv(y) + 1.0  # fault


@plant("ScatterNd", "fails", plans=XLA, inputs=INDICES)
def scattered_out_of_range(x: Any, n: Any) -> Any:
    y = tf.scatter_nd(tf.expand_dims(n, 1), x * 2.0, [3, 2])  # fault
    return y + 1.0


@plant("SparseSoftmaxCrossEntropyWithLogits", "fails", plans=XLA, inputs=INDICES)
def label_out_of_range(x: Any, n: Any) -> Any:
    y = tf.nn.sparse_softmax_cross_entropy_with_logits(n, x * 2.0)  # fault
    return y + 1.0


@plant("AsString", "alone fails", plans=XLA)
def text(x: Any) -> Any:
    y = tf.strings.length(tf.strings.as_string(tf.sin(x)))  # fault
    return tf.cast(y, tf.float32)


@plant("Max", "fails")
def value_when_traced(x: Any) -> Any:
    y = tf.abs(x)
    scale = float(tf.reduce_max(y).numpy())  # fault
    return x / scale


@plant("GatherV2", "fails", plans="cpu/function")
def index_when_traced(x: Any, wrong: Any) -> Any:
    y = tf.sin(x)
    y = tf.gather(y, [9] if wrong() else [1])  # fault
    return y * 2.0


@plant("MatMul", "fails")
def shape_when_traced(x: Any, wrong: Any) -> Any:
    y = tf.sin(x)
    y = tf.matmul(y, tf.ones([7 if wrong() else 8, 3]))  # fault
    return y * 2.0


@plant("Sigmoid Mul", "fails", layer="refusing")
def refused_in_a_layer(wrong: Any) -> Any:
    import keras

    def call(self: Any, x: Any) -> Any:
        y = tf.sigmoid(x)
        if wrong():
            raise NotImplementedError("no gate when traced")
        return x * y

    own = layer("refusing", call)
    return keras.Sequential([keras.Input((8,)), keras.layers.Dense(4), own, keras.layers.Dense(2)])


@plant("CheckNumerics", "fails", plans=XLA, layer="checking", inputs=normal)
def checked_in_a_layer() -> Any:
    import keras

    def call(self: Any, x: Any) -> Any:
        return tf.debugging.check_numerics(tf.math.log(x), "a negative number")

    own = layer("checking", call)
    return keras.Sequential([keras.Input((8,)), keras.layers.Dense(4), own, keras.layers.Dense(2)])
