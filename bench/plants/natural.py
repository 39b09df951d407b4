"""Programs with discrepancies of TensorFlow that the suites know, between harmless ops."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

from bench.plants import arrays, plant

XLA, ALGSIMP = "cpu/xla", "nohlo=algsimp"
NAN, INF = float("nan"), float("inf")


@plant("SqrtGrad", "alone", plans=XLA, settings="none", inputs=arrays(x=[0.0, 1.0, 4.0]))
def masked_root(x: Any) -> Any:
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.where(x > 0, tf.sqrt(x), 0.0)  # fault
    return y, tape.gradient(y, x)


@plant("Max", "alone", plans=XLA, inputs=arrays(x=[[1.0, NAN, 2.0], [1.0, 5.0, 2.0]]))
def largest_of_nan(x: Any) -> Any:
    y = tf.reduce_max(x * 2.0, axis=1)  # fault
    return y + 1.0


@plant(
    "Softmax",
    "alone",
    plans=XLA,
    inputs=arrays(x=[[1.0, INF, 2.0], [1.0, 5.0, 2.0]]),
)
def softmax_of_infinity(x: Any) -> Any:
    y = tf.nn.softmax(x + 1.0)  # fault
    return y * 2.0


@plant(
    "FusedBatchNormV3",
    "alone",
    plans=XLA,
    cause="xla-batch-norm-variance-cancels",
    inputs=lambda: {"x": np.full((2, 16, 16, 1), 31.7, "f4")},
)
def constant_channel(x: Any) -> Any:
    y = tf.compat.v1.nn.fused_batch_norm(x, [1.0], [0.0], epsilon=1.001e-5)  # fault
    return y[0] + 1.0


@plant(
    "Erfinv",
    "alone",
    plans=XLA,
    cause="erfinv-through-ndtri-rounds-to-one",
    inputs=arrays(x=[0.5, float(np.nextafter(np.float32(1), np.float32(0)))]),
)
def inverse_below_one(x: Any) -> Any:
    y = tf.math.erfinv(x * 1.0)  # fault
    return y + 1.0


@plant("Erf", "alone", plans=XLA, cause="eigen-erf-float64-overflow", inputs=lambda: {"x": np.array([0.5, 1e160, 2.0])})
def error_function(x: Any) -> Any:
    y = tf.math.erf(x * 1.0)  # fault
    return y + 1.0


@plant(
    "Inv Reciprocal",
    "alone",
    plans=XLA,
    cause="eigen-reciprocal-float32-newton-step",
    inputs=lambda: {"x": np.linspace(3e31, 2e38, 64, dtype="f4")},
)
def large_reciprocal(x: Any) -> Any:
    y = tf.math.reciprocal(x)  # fault
    return y * 1e31


@plant("Pow", "alone", plans=XLA, cause="complex-pow-of-zeros", inputs=lambda: {"x": np.complex64([0, 1j])})
def power_of_zeros(x: Any) -> Any:
    y = tf.pow(x, x)  # fault
    return tf.math.real(y) + 1.0


@plant("Cast", "alone", plans=XLA, cause="cast-beyond-range", inputs=arrays(x=[300.0, 5.0, -400.0]))
def cast_beyond_range(x: Any) -> Any:
    y = tf.cast(x * 1.0, tf.int8)  # fault
    return tf.cast(y, tf.float32)


@plant(
    "Svd",
    "alone",
    plans=XLA,
    cause="xla-svd-without-scaling",
    inputs=lambda: {"x": np.random.default_rng(0).normal(size=(3, 3)).astype("f4") * np.float32(1e-25)},
)
def small_svd(x: Any) -> Any:
    y = tf.linalg.svd(x * 1.0, compute_uv=False)  # fault
    return y * 1e25


@plant(
    "ExtractImagePatches",
    "alone",
    plans=XLA,
    cause="image-patches-as-convolution",
    inputs=lambda: {"x": np.where(np.arange(16).reshape(1, 4, 4, 1) == 5, np.inf, 1).astype("f4")},
)
def patches_of_infinity(x: Any) -> Any:
    y = tf.image.extract_patches(x * 1.0, [1, 2, 2, 1], [1, 1, 1, 1], [1, 1, 1, 1], "VALID")  # fault
    return y + 1.0


@plant(
    "ResizeNearestNeighbor",
    "alone",
    plans=XLA,
    cause="xla-resize-nearest-integers-in-float32",
    inputs=lambda: {"x": np.full((1, 2, 2, 1), 2**24 + 1, "i4")},
)
def resized_integers(x: Any) -> Any:
    y = tf.image.resize(x, [4, 4], "nearest")  # fault
    return y - 1


@plant(
    "GatherV2",
    "fails",
    plans=XLA,
    cause="",
    inputs=lambda: {"x": np.arange(6, dtype="f4").reshape(2, 3), "n": np.int32([[0, 7], [1, 1]])},
)
def gathered_in_batches(x: Any, n: Any) -> Any:
    y = tf.gather(x * 1.0, n, batch_dims=1)  # fault
    return y + 1.0


@plant("Log Exp", "together", plans=XLA, settings=ALGSIMP, inputs=arrays(x=[1.0, 60.0]))
def log_of_exp(x: Any) -> Any:
    return tf.math.log(tf.exp(x * 2.0)) + 1.0  # fault


@plant("Abs GreaterEqual", "together", plans=XLA, settings=ALGSIMP, inputs=arrays(x=[1.0, NAN]))
def comparison_of_nan(x: Any) -> Any:
    y = tf.abs(x) >= 0.0  # fault
    return tf.cast(y, tf.float32)


@plant("Mul Abs", "together", plans=XLA, settings=ALGSIMP, inputs=lambda: {"x": np.int8([14, 2])})
def wrapped_square(x: Any) -> Any:
    y = tf.abs(x * x)  # fault
    return tf.cast(y, tf.float32)


@plant(
    "RealDiv", "alone", plans=XLA, settings=ALGSIMP, cause="xla-divides-by-multiplying", inputs=arrays(x=[3e38, 1e38])
)
def large_divisor(x: Any) -> Any:
    y = x / 1e38  # fault
    return y + 1.0


@plant("Cast Mul", "together", plans=XLA, settings=ALGSIMP, inputs=arrays(x=[1.0, -1.0, NAN]))
def masked_nan(x: Any) -> Any:
    y = x * tf.cast(x > 0.0, tf.float32)  # fault
    return y + 1.0


@plant("Square Sqrt", "together", plans=XLA, settings=ALGSIMP, inputs=arrays(x=[1e25, 1.0]))
def root_of_a_large_square(x: Any) -> Any:
    return tf.sqrt(tf.square(x)) + 1.0  # fault


@plant("TopKV2", "alone", plans=XLA, inputs=arrays(x=[1.0, NAN, 3.0, 2.0]))
def largest_beside_nan(x: Any) -> Any:
    y, _ = tf.math.top_k(x * 1.0, 4)  # fault
    return y + 1.0


@plant(
    "ConjugateTranspose",
    "alone",
    plans=XLA,
    cause="xla-conjugate-transpose-of-real",
    inputs=lambda: {"x": np.arange(6, dtype="f4").reshape(2, 3)},
)
def real_conjugate(x: Any) -> Any:
    y = tf.raw_ops.ConjugateTranspose(x=x + 1.0, perm=[1, 0])  # fault
    return y + 1.0
