"""Python operators and slices of tensors: https://www.tensorflow.org/api_docs/python/tf/Tensor."""

import numpy as np

from tf_opdiff.harness.spec.spec import Raises, Side
from tf_opdiff.suites.forms.programs.api import Call, calls
from tf_opdiff.suites.reference.promises.function import wide

_SHAPE = (5, 7)
_ONES = [1.0] * 7


def _tensor(draw, dtype):
    """Numbers of both signs, none of them 0."""
    values = draw.values(dtype, *_SHAPE)
    return (np.where(values == 0, np.array(3, dtype), values).astype(dtype),)


def _whole(draw, dtype):
    """Whole numbers and halves, of both signs, at which floors and remainders have ties."""
    values = draw.integers(*_SHAPE, low=-12, high=12) / 2
    return (np.where(values == 0, 1, values).astype(dtype),)


def _limits(draw, dtype):
    """Small numbers, and both limits of the dtype."""
    info = np.iinfo(dtype)
    values = draw.integers(*_SHAPE, low=1, high=50).astype(dtype)
    values[0, :4] = [info.max, info.min + (1 if info.min else 2), info.max - 1, 5]
    return (values,)


def _third(x):
    """As documented for `tf.math.truediv`: float32 for integers of 8 and 16 bits, float64 for others."""
    return x.astype(np.float32) / np.float32(3) if x.dtype.itemsize < 4 else x.astype(np.float64) / 3


#: Two tensors are two objects, and a tensor is not the number 3.
_IDENTITY = Side(
    reference=lambda *xs: (np.bool_(False), np.bool_(True)),
    why="in a legacy graph, tensor equality is object equality",
    link="https://github.com/tensorflow/tensorflow/blob/v2.21.0/tensorflow/python/ops/math_ops.py#L1972",
)


def _operator(program, reference, ulp=0.0, **fields):
    return Call(name="", program=program, reference=reference, ulp=ulp, **fields)


_ARITHMETIC = (
    _operator(lambda tf, x: x // 3, wide(lambda x: np.floor(x / 3))),
    _operator(lambda tf, x: x // -1.5, wide(lambda x: np.floor(x / -1.5)), signed=False),
    _operator(lambda tf, x: x % 3, wide(lambda x: np.mod(x, 3)), 1, signed=False),
    _operator(lambda tf, x: x % -1.5, wide(lambda x: np.mod(x, -1.5)), 1, signed=False),
    _operator(lambda tf, x: 7 // x, wide(lambda x: np.floor(7 / x))),
    _operator(lambda tf, x: 7 % x, wide(lambda x: np.mod(7, x)), 1, signed=False),
    _operator(lambda tf, x: x / 3, wide(lambda x: x / 3), 1),
    _operator(lambda tf, x: 7 / x, wide(lambda x: 7 / x), 1),
    _operator(lambda tf, x: x**2, wide(lambda x: x * x), 2),
    _operator(lambda tf, x: 2**x, wide(lambda x: 2.0**x), 2),
    _operator(lambda tf, x: 5 - x, wide(lambda x: 5 - x), 0.5),
    _operator(lambda tf, x: abs(-x), np.abs),
)
_MIXED = (
    _operator(lambda tf, x: x * np.float32(1.5), lambda x: x * 1.5, 0.5),
    _operator(lambda tf, x: np.float32(1.5) * x, lambda x: x * 1.5, 0.5),
    _operator(lambda tf, x: np.float32(7) / x, wide(lambda x: 7 / x), 1),
    _operator(lambda tf, x: x - np.ones(_SHAPE[1], np.float32), lambda x: x - 1, 0.5),
    _operator(lambda tf, x: np.ones(_SHAPE[1], np.float32) - x, lambda x: 1 - x, 0.5),
    _operator(lambda tf, x: _ONES + x, lambda x: 1 + x, 0.5),
    _operator(lambda tf, x: True & (x > 1), lambda x: x > 1),
    _operator(lambda tf, x: 1 < x, lambda x: x > 1),  # noqa: SIM300
    _operator(lambda tf, x: np.float32(1) >= x, lambda x: x <= 1),
    _operator(lambda tf, x: ~(x > 0) ^ (x < 2), lambda x: ~(x > 0) ^ (x < 2)),
)
_EQUALITY = (
    _operator(lambda tf, x: x == tf.identity(x), lambda x: np.ones(x.shape, bool)),
    _operator(lambda tf, x: x != 3.0, lambda x: x != 3),
)
_INTEGERS = (
    _operator(lambda tf, x: x // 3, lambda x: x // 3),
    _operator(lambda tf, x: x % 3, lambda x: x % 3),
    _operator(lambda tf, x: 100 // x, lambda x: x.dtype.type(100) // x),
    _operator(lambda tf, x: 100 % x, lambda x: x.dtype.type(100) % x),
    # A graph multiplies by the reciprocal, which is off by another rounding.
    _operator(lambda tf, x: x / 3, _third, 1),
    _operator(lambda tf, x: x & 6, lambda x: x & x.dtype.type(6)),
    _operator(lambda tf, x: 6 | x, lambda x: x | x.dtype.type(6)),
    _operator(lambda tf, x: x ^ 5, lambda x: x ^ x.dtype.type(5)),
    _operator(lambda tf, x: ~x, lambda x: ~x),
    _operator(lambda tf, x: x + 1, lambda x: x + x.dtype.type(1)),
    _operator(lambda tf, x: x * 2, lambda x: x * x.dtype.type(2)),
    _operator(lambda tf, x: x >= 5, lambda x: x >= 5),
)
_SLICES = (
    _operator(lambda tf, x: x[::-1], lambda x: x[::-1]),
    _operator(lambda tf, x: x[..., 1], lambda x: x[..., 1]),
    _operator(lambda tf, x: x[1:-1:2, ::-2], lambda x: x[1:-1:2, ::-2]),
    _operator(lambda tf, x: x[-3:], lambda x: x[-3:]),
    _operator(lambda tf, x: x[:, tf.newaxis, -1], lambda x: x[:, np.newaxis, -1]),
    _operator(lambda tf, x: x[-100:3:1, 5:1:-1], lambda x: x[-100:3:1, 5:1:-1]),
    _operator(lambda tf, x: x[100:], lambda x: x[100:]),
    _operator(lambda tf, x: x[2, ..., tf.newaxis], lambda x: x[2, ..., np.newaxis]),
    _operator(
        lambda tf, x: x @ tf.transpose(x), wide(lambda x: x @ x.T), error=lambda u, x: 8 * u * np.abs(x) @ np.abs(x).T
    ),
)


def _refused(name, program):
    """An operator that int32 tensors do not have, or not with a float: a fraction is never cut off in silence."""
    return calls(
        f"api-operators-refused-{name}",
        _operator(program, lambda x: Raises("TypeError")),
        recipes={"plain": _tensor},
        dtypes=("int32",),
    )


SPECS = (
    *calls(
        "api-operators",
        *_ARITHMETIC,
        recipes={"plain": _tensor, "whole": _whole},
        ops="FloorDiv;FloorMod;RealDiv;Pow;Abs;Neg",
        more=("float64",),
    ),
    *calls("api-operators-mixed", *_MIXED, recipes={"plain": _tensor, "whole": _whole}, ops="Mul;LogicalNot"),
    *calls(
        "api-operators-equal",
        *_EQUALITY,
        recipes={"plain": _tensor, "whole": _whole},
        constant=("output[0]", "output[1]"),
        contract={"*/graph": _IDENTITY},
    ),
    *calls(
        "api-operators-integer",
        *_INTEGERS,
        recipes={"limits": _limits},
        ops="FloorDiv;FloorMod;BitwiseAnd;Invert",
        dtypes=("int32", "int64"),
        more=("int8", "int16", "uint8"),
    ),
    *calls("api-slices", *_SLICES, recipes={"plain": _tensor}, ops="StridedSlice;MatMul"),
    *_refused("float-scalar", lambda tf, x: x + 1.5),
    *_refused("float-array", lambda tf, x: x * np.float32(1.5)),
    *_refused("left-float", lambda tf, x: 2.5 - x),
    *_refused("shift", lambda tf, x: x << 1),
)
