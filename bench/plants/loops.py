"""Programs with loops and branches, programs of several steps, and SavedModels."""

from __future__ import annotations

import tempfile
from typing import Any

import numpy as np
import tensorflow as tf

from bench.plants import arrays, plant

XLA, ALGSIMP = "cpu/xla", "nohlo=algsimp"
WEIGHTS = tf.constant(np.random.default_rng(2).normal(size=(8, 8)) / 3, tf.float32)
NAN = float("nan")


@plant("Mul")
def in_a_loop(x: Any, wrong: Any) -> Any:
    y = x
    for _ in tf.range(4):
        y = tf.tanh(tf.matmul(y, WEIGHTS)) * (1.05 if wrong() else 1.0)  # fault
    return y + 1.0


@plant("Sigmoid")
def in_one_round_of_a_loop(x: Any, wrong: Any) -> Any:
    y, n = x, tf.constant(0)
    while n < 4:
        y = tf.matmul(y, WEIGHTS)
        if n == 2:
            y = tf.tanh(y) if wrong() else tf.sigmoid(y)  # fault
        n = n + 1
    return y


@plant("Mul")
def in_a_branch(x: Any, wrong: Any) -> Any:
    y = tf.sin(x)
    y = tf.cond(
        tf.reduce_sum(x) > -1000.0,
        lambda: y * (1.1 if wrong() else 1.0),  # fault
        lambda: y * 3.0,
    )
    return tf.reduce_max(y, 1)


@plant("LessEqual Less")
def rounds(x: Any, wrong: Any) -> Any:
    y, n = x, tf.constant(0)
    while (n <= 4) if wrong() else (n < 4):  # fault
        y = tf.tanh(tf.matmul(y, WEIGHTS)) + x
        n = n + 1
    return y


@plant("AddV2")
def in_a_scan(x: Any, wrong: Any) -> Any:
    return tf.scan(
        lambda total, row: total * 0.5 + tf.sin(row) + (0.1 if wrong() else 0.0),  # fault
        x,
        initializer=tf.zeros([8]),
    )


@plant("Mul", "retraced unexplained", plans="cpu/function", settings="none", steps=3)
def counter_in_python() -> Any:
    calls = []

    def step(x: Any) -> Any:
        calls.append(1)
        return tf.sin(x) * (1.0 / len(calls))  # fault

    return step


@plant("Mul", "retraced unexplained", plans="cpu/function", settings="none", steps=3)
def mask_of_numpy(x: Any) -> Any:
    mask = (np.random.random(x.shape) > 0.3).astype("f4")
    return tf.sin(x) * mask  # fault


@plant("VarHandleOp AssignVariableOp ReadVariableOp Identity", "fails", plans="cpu/function", steps=2)
def variable_of_each_call(x: Any) -> Any:
    y = tf.sin(x)
    bias = tf.Variable(tf.ones([8]))  # fault
    return y + bias


@plant("AddV2 Mul AssignAddVariableOp AssignVariableOp", steps=3)
def in_the_second_step(wrong: Any) -> Any:
    count = tf.Variable(0.0)

    def step(x: Any) -> Any:
        y = tf.sin(x) * (1.0 + 0.0 * count)
        y = y + (0.01 * count if wrong() else 0.0 * count)  # fault
        count.assign_add(1.0)
        return y

    return step


def _saved(function: Any, *signature: Any) -> str:
    """The folder of a SavedModel of a function."""
    module, folder = tf.Module(), tempfile.mkdtemp()
    module.step = tf.function(function, signature)
    tf.saved_model.save(module, folder, {"serving_default": module.step.get_concrete_function()})
    return folder


@plant("Max", "alone", plans=XLA, inputs=arrays(x=[[1.0, NAN, 2.0], [1.0, 5.0, 2.0]]))
def saved_maximum() -> Any:
    def step(x: Any) -> Any:
        y = x
        for _ in tf.range(2):
            y = y + tf.reduce_max(y, axis=1, keepdims=True)
        return {"y": y}

    return _saved(step, tf.TensorSpec([2, 3]))


@plant("Log Exp", "together", plans=XLA, settings=ALGSIMP, inputs=arrays(x=[1.0, 60.0]))
def saved_logarithm() -> Any:
    return _saved(lambda x: {"y": tf.math.log(tf.exp(x * 2.0)) + 1.0}, tf.TensorSpec([2]))


@plant(
    "MatMul",
    "alone",
    plans="cpu:1/function cpu:1/eager",
    settings="none",
    kernel=("MatMul", (6, 8), "scale"),
)
def saved_product() -> Any:
    def step(x: Any) -> Any:
        y = x
        for _ in tf.range(3):
            y = tf.tanh(tf.matmul(y, WEIGHTS))
        return {"y": y}

    return _saved(step, tf.TensorSpec([6, 8]))


@plant("SqrtGrad Sqrt", "alone", plans=XLA, settings="none", inputs=arrays(x=[0.0, 1.0, 4.0]))
def root_in_a_loop(x: Any) -> Any:
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x
        for _ in tf.range(2):
            y = y + tf.where(x > 0, tf.sqrt(x), 0.0)  # fault
    return y, tape.gradient(y, x)
