"""TensorProto: a tensor as a text.

Sources: https://protobuf.dev/programming-guides/encoding for the encoding; tensor.proto, tensor_shape.proto and
types.proto in tensorflow/core/framework for the fields and the numbers of dtypes.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import Any

import ml_dtypes
import numpy as np

#: The small dtypes, in the order of their numbers in types.proto.
SMALL = (
    "float8_e5m2",
    "float8_e4m3fn",
    "float8_e4m3fnuz",
    "float8_e4m3b11fnuz",
    "float8_e5m2fnuz",
    "int4",
    "uint4",
    "int2",
    "uint2",
    "float4_e2m1fn",
)
_NUMBERS = {"int64": 9, **{dtype: number for number, dtype in enumerate(SMALL, 24)}}
#: The fields of a tensor, of a shape and of a dimension; the wire types of a number and of a text.
_DTYPE, _SHAPE, _CONTENT, _DIMENSION, _SIZE = 1, 2, 4, 2, 1
_NUMBER, _TEXT = 0, 2


def text_of(array: np.ndarray) -> bytes:
    """The text of an array; a number of fewer bits than 8 takes a byte."""
    shape = b"".join(_text(_DIMENSION, _number(_SIZE, size)) for size in array.shape)
    return _number(_DTYPE, _NUMBERS[array.dtype.name]) + _text(_SHAPE, shape) + _text(_CONTENT, array.tobytes())


def array_of(text: bytes) -> np.ndarray:
    """The array of a text of `text_of`."""
    fields = dict(_fields(text))
    shape = [dict(_fields(dimension))[_SIZE] for _, dimension in _fields(fields[_SHAPE])]
    name = next(dtype for dtype, number in _NUMBERS.items() if number == fields[_DTYPE])
    return np.frombuffer(fields[_CONTENT], getattr(ml_dtypes, name, name), prod(shape)).reshape(shape)


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3 | _NUMBER) + _varint(value)


def _text(field: int, value: bytes) -> bytes:
    return _varint(field << 3 | _TEXT) + _varint(len(value)) + value


def _varint(value: int) -> bytes:
    """A number in groups of 7 bits, the lowest first; the highest bit of a byte says that more follow."""
    groups = []
    while value > 127:
        groups.append(value & 127 | 128)
        value >>= 7
    return bytes([*groups, value])


def _fields(text: bytes) -> Iterator[tuple[int, Any]]:
    """The numbers and the values of the fields of a text."""
    at = 0

    def varint() -> int:
        nonlocal at
        value = shift = 0
        while True:
            byte = text[at]
            value, shift, at = value | (byte & 127) << shift, shift + 7, at + 1
            if byte < 128:
                return value

    while at < len(text):
        field, kind = divmod(varint(), 8)
        value: Any = varint()
        if kind == _TEXT:
            at, value = at + value, text[at : at + value]
        yield field, value
