"""Programs whose traces differ from eager mode in ways that change no value, and then in one way that does."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from bench.plants import labelled, layer, plant


@plant("Mul")
def behind_a_tile(x: Any, wrong: Any) -> Any:
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(tf.reduce_mean(tf.sin(x), axis=1) * 2.0)
    gradient = tape.gradient(y, x)
    return gradient * (1.1 if wrong() else 1.0)  # fault


@plant("Mul")
def behind_a_split(x: Any, wrong: Any) -> Any:
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(tf.square(tf.concat([x, tf.sin(x)], axis=1)))
    gradient = tape.gradient(y, x)
    return gradient * (1.1 if wrong() else 1.0)  # fault


@plant("AddV2")
def behind_another_formula(x: Any, wrong: Any) -> Any:
    mean = tf.reduce_sum(x, 1, keepdims=True) / 8.0 if wrong() else tf.reduce_mean(x, 1, keepdims=True)
    y = tf.square(x - mean)
    return tf.math.log(y + (1.1 if wrong() else 1.0))  # fault


@plant("Sqrt")
def behind_another_op(x: Any, wrong: Any) -> Any:
    y = x * x if wrong() else tf.square(x)
    y = tf.pow(y, 0.4) if wrong() else tf.sqrt(y)  # fault
    return tf.reduce_sum(y, axis=0)


@plant("LeakyRelu")
def behind_another_order(x: Any, wrong: Any) -> Any:
    parts = (tf.sin(x), tf.cos(x)) if not wrong() else tuple(reversed([tf.cos(x), tf.sin(x)]))
    y = parts[0] + parts[1]
    return tf.nn.leaky_relu(y, 0.2 if wrong() else 0.1)  # fault


@plant("Mul")
def behind_a_shape(x: Any, wrong: Any) -> Any:
    y = tf.reshape(x, [6, 2, 4]) if wrong() else tf.reshape(x, tf.concat([tf.shape(x)[:1], [2, 4]], 0))
    return tf.reduce_max(y, axis=1) * (0.99 if wrong() else 1.0)  # fault


@plant("Mul")
def behind_an_unused_op(x: Any, wrong: Any) -> Any:
    if wrong():
        tf.reduce_sum(tf.exp(x))
    else:
        tf.reduce_max(tf.cosh(x))
    return tf.sin(x) * (0.99 if wrong() else 1.0)  # fault


@plant("Mul", layer="damped", inputs=labelled)
def in_a_step_of_training(wrong: Any) -> Any:
    import keras

    own = layer("damped", lambda self, x: x * (0.9 if wrong() else 1.0))
    layers = [keras.Input((8,)), keras.layers.LayerNormalization(), keras.layers.Dense(4), own, keras.layers.Dense(1)]
    model = keras.Sequential(layers)
    model.compile("adam", "mse")
    return model
