"""Uniform quantisation: numbers are steps of a scale around a zero point.

Scales and zero points are constants of a program: XLA has to know them when it compiles.
"""

from typing import Any

import numpy as np

from tf_opdiff.suites.forms.array_ops.quantized import of_bits
from tf_opdiff.suites.forms.aspects import small
from tf_opdiff.suites.forms.errors import WHEN_BUILT
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.part import part

_MIN = {"int8": -128, "uint8": 0, "int32": -(2**31)}
#: The attribute of images with channels first and filters with outputs first, a serialised
#: `UniformQuantizedConvolutionDimensionNumbersAttr`; kernels of a CPU have the same in place of an empty one.
_CHANNELS_FIRST = bytes((8, 0, 16, 1, 26, 2, 2, 3, 32, 1, 40, 0, 50, 2, 2, 3, 56, 0, 64, 1, 74, 2, 2, 3))
_MAX = {"int8": 127, "uint8": 255, "int32": 2**31 - 1}
#: Scales and zero points: of a tensor, and of each slice along axis 1.
_SCALES: dict[str, dict[str, Any]] = {
    "tensor": {"scales": 0.25, "zero_points": 3, "axis": -1},
    "slices": {"scales": [0.5, 0.25, 2.0], "zero_points": [-7, 0, 5], "axis": 1},
}


def _limits(prefix: str, dtype: str, axis: int = -1) -> dict[str, int]:
    """The attributes of a quantised tensor whose names have a prefix."""
    return {
        f"{prefix}quantization_axis": axis,
        f"{prefix}quantization_min_val": _MIN[dtype],
        f"{prefix}quantization_max_val": _MAX[dtype],
    }


def _scaled(tf: Any, prefix: str, scale: Any, zero: Any) -> dict[str, Any]:
    """The scale and the zero point of a tensor, as constants."""
    names = (f"{prefix}scales", f"{prefix}zero_points")
    return dict(zip(names, (tf.constant(scale, tf.float32), tf.constant(zero, tf.int32)), strict=True))


def _along(values: Any, axis: int, rank: int) -> Any:
    """The values of each slice along an axis, to be broadcast; or one number."""
    return np.reshape(values, [-1 if i == axis else 1 for i in range(rank)]) if axis >= 0 else values


def _real(q: Any, scales: Any, zero_points: Any, axis: int) -> Any:
    """What the steps stand for."""
    return (q.astype(np.float64) - _along(zero_points, axis, q.ndim)) * _along(scales, axis, q.ndim)


def _steps(x: Any, scales: Any, zero_points: Any, axis: int, dtype: str) -> Any:
    """The nearest steps."""
    steps = np.rint(x / _along(scales, axis, x.ndim)) + _along(zero_points, axis, x.ndim)
    return np.clip(steps, _MIN[dtype], _MAX[dtype]).astype(dtype)


def _quantize(to: str) -> dict[str, Any]:
    def program(tf: Any, x: Any, scales: Any, zero_points: Any, axis: int) -> Any:
        constants = _scaled(tf, "", scales, zero_points)
        steps = tf.raw_ops.UniformQuantize(input=x, Tout=f"q{to}", **constants, **_limits("", to, axis))
        return tf.bitcast(steps, to)

    return {"program": program, "reference": lambda x, **attrs: _steps(x, **attrs, dtype=to)}


def _between(draw: Any, dtype: Any) -> Any:
    """A recipe: numbers between the middles of two steps, of the coarsest scale too; some are out of the range."""
    return ((draw.integers(5, 3, low=-90, high=90) + 0.0625).astype(dtype),)


def _few(*shape: int) -> Any:
    """A recipe: small whole numbers in one shape."""
    return lambda draw, dtype: (draw.integers(*shape, low=0 if dtype.kind == "u" else -100, high=100).astype(dtype),)


def _dequantize(tf: Any, q: Any, scales: Any, zero_points: Any, axis: int) -> Any:
    limits = _limits("", q.dtype.name, axis)
    return tf.raw_ops.UniformDequantize(
        input=of_bits(tf, q), Tout=tf.float32, **_scaled(tf, "", scales, zero_points), **limits
    )


def _requantize(to: str) -> Any:
    def program(tf: Any, q: Any) -> Any:
        scales = {**_scaled(tf, "input_", 0.5, 3), **_scaled(tf, "output_", 2.0, -5)}
        limits = _limits("input_", q.dtype.name) | _limits("output_", to)
        return tf.bitcast(tf.raw_ops.UniformRequantize(input=of_bits(tf, q), Tout=f"q{to}", **scales, **limits), to)

    return {
        "program": program,
        "reference": lambda q: _steps(_real(q, 0.5, 3, -1), 2.0, -5, -1, to),
        "recipes": {"apart": lambda draw, d: (np.array([n for n in range(-128, 128) if (n - 3) % 4 != 2], d),)},
    }


def _sum(tf: Any, x: Any, y: Any) -> Any:
    scales = {**_scaled(tf, "lhs_", 0.5, 3), **_scaled(tf, "rhs_", 0.5, -4), **_scaled(tf, "output_", 0.5, 7)}
    limits = _limits("lhs_", "int32") | _limits("rhs_", "int32") | _limits("output_", "int32")
    total = tf.raw_ops.UniformQuantizedAdd(lhs=of_bits(tf, x), rhs=of_bits(tf, y), **scales, **limits)
    return tf.bitcast(total, "int32")


def _clipped(tf: Any, x: Any, low: Any, high: Any) -> Any:
    ends = {"min": of_bits(tf, low), "max": of_bits(tf, high)}
    scale = _scaled(tf, "", 0.5, 3)
    clip = tf.raw_ops.UniformQuantizedClipByValue
    return tf.bitcast(clip(operand=of_bits(tf, x), **ends, **scale, **_limits("", "int32")), "int32")


def _product(raw: str, **attrs: Any) -> Any:
    """Program of a product of two tensors of int8 in int32, whose scale is the product of both scales."""

    def program(tf: Any, x: Any, y: Any) -> Any:
        scales = {**_scaled(tf, "lhs_", 0.5, 3), **_scaled(tf, "rhs_", 0.25, -4), **_scaled(tf, "output_", 0.125, 11)}
        limits = _limits("lhs_", "int8") | _limits("rhs_", "int8") | _limits("output_", "int32")
        call = getattr(tf.raw_ops, raw)
        result = call(lhs=of_bits(tf, x), rhs=of_bits(tf, y), Tout=tf.qint32, **scales, **limits, **attrs)
        return tf.bitcast(result, "int32")

    return program


def _dot(x: Any, y: Any) -> Any:
    return ((x.astype(np.int64) - 3) @ (y.astype(np.int64) + 4) + 11).astype(np.int32)


def _convolved(x: Any, y: Any) -> Any:
    """A convolution of images, channels first, with filters, outputs first; without padding."""
    left, right = x.astype(np.int64) - 3, y.astype(np.int64) + 4
    rows, columns = (n - m + 1 for n, m in zip(x.shape[2:], y.shape[2:], strict=True))
    windows = [
        left[:, :, i : i + rows, j : j + columns, None] * right[:, :, i, j].T[None, :, None, None]
        for i in range(y.shape[2])
        for j in range(y.shape[3])
    ]
    return (np.moveaxis(sum(w.sum(1) for w in windows), -1, 1) + 11).astype(np.int32)


def _two(left: Any, right: Any) -> Any:
    """A recipe: small whole numbers in two shapes."""
    return lambda draw, d: (
        draw.integers(*left, low=-100, high=100).astype(d),
        draw.integers(*right, low=-100, high=100).astype(d),
    )


def _unfit(left: Any, right: Any) -> Any:
    return part("-unfit", recipes={"sizes": _two(left, right)}, lowest_tier=True, **WHEN_BUILT)


SPECS = (
    *op(
        "uniform-dequantize",
        "UniformDequantize",
        part(recipes={"whole": _few(5, 3)}, attrs=_SCALES),
        small({"none": _few(0, 3), "no_number": _few(0), "one": _few(1, 1)}, attrs={"tensor": _SCALES["tensor"]}),
        program=_dequantize,
        reference=lambda q, **attrs: _real(q, **attrs).astype(np.float32),
        dtypes=("int8", "uint8", "int32"),
    ),
    *op(
        "uniform-quantize",
        "UniformQuantize",
        part(recipes={"between": _between}, attrs=_SCALES, **_quantize("int8")),
        part("-wide", recipes={"between": _between}, attrs=_SCALES, **_quantize("int32")),
        small({"none": _few(0, 3), "one": _few(1, 1)}, attrs={"tensor": _SCALES["tensor"]}, **_quantize("int8")),
        dtypes=("float32",),
        ordinary={"nan_0": "nothing documents the integer that NaN becomes"},
    ),
    *op(
        "uniform-quantized-add",
        "UniformQuantizedAdd",
        part(recipes={"alike": _two((5, 3), (5, 3)), "row": _two((5, 3), (3,))}),
        small({"none": _two((0, 3), (0, 3)), "no_number": _two((0,), (0,)), "one": _two((1,), (1,))}),
        program=_sum,
        reference=lambda x, y: (x - 3 + y + 4 + 7).astype(np.int32),
        dtypes=("int32",),
    ),
    *op(
        "uniform-quantized-clip-by-value",
        "UniformQuantizedClipByValue",
        part(recipes={"plain": lambda draw, d: (*_few(5, 3)(draw, d), np.array(-40, d), np.array(55, d))}),
        small(
            {
                "none": lambda draw, d: (np.zeros((0, 3), d), np.array(-1, d), np.array(5, d)),
                "one": lambda draw, d: (np.full(1, 9, d), np.array(-1, d), np.array(5, d)),
            }
        ),
        program=_clipped,
        reference=lambda x, low, high: np.clip(x, low, high),
        dtypes=("int32",),
    ),
    *op(
        "uniform-quantized-convolution",
        "UniformQuantizedConvolution",
        part(recipes={"plain": _two((2, 3, 7, 5), (4, 3, 3, 2)), "one": _two((1, 1, 3, 3), (1, 1, 1, 1))}),
        part(
            "-dimensions",
            program=_product("UniformQuantizedConvolution", padding="VALID", dimension_numbers=_CHANNELS_FIRST),
            recipes={"plain": _two((2, 3, 7, 5), (4, 3, 3, 2)), "one": _two((1, 1, 1, 1), (1, 1, 1, 1))},
        ),
        small({"one": _two((1, 1, 1, 1), (1, 1, 1, 1)), "no_image": _two((0, 2, 3, 3), (3, 2, 2, 2))}),
        _unfit((2, 3, 7, 5), (4, 2, 3, 2)),
        program=_product("UniformQuantizedConvolution", padding="VALID"),
        reference=_convolved,
        dtypes=("int8",),
    ),
    *op(
        "uniform-quantized-dot",
        "UniformQuantizedDot",
        part(recipes={"plain": _two((5, 7), (7, 3)), "one": _two((1, 1), (1, 1)), "tiles": _two((67, 130), (130, 67))}),
        small({"one": _two((1, 1), (1, 1)), "no_rows": _two((0, 2), (2, 3))}),
        _unfit((5, 7), (6, 3)),
        program=_product("UniformQuantizedDot"),
        reference=_dot,
        dtypes=("int8",),
    ),
    *op(
        "uniform-requantize",
        "UniformRequantize",
        part(dtypes=("int8", "int32"), **_requantize("int8")),
        part("-wide", dtypes=("int8",), **_requantize("int32")),
        small(
            {"none": _few(0, 3), "one": lambda draw, d: (np.full(1, 7, d),)},
            **{key: value for key, value in _requantize("int8").items() if key != "recipes"},
        ),
        dtypes=("int8",),
    ),
)
