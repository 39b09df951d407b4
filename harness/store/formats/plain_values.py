"""Plain values: bytes for the results of recipes and references, and their inverse; nothing in the bytes is executed.

A value is None, a number, a bool, bytes, an array, `Raises`, `Sparse`, `Undocumented`, or a tuple, list or dict of
values. The bytes are MessagePack, in which each value is a list of its type's name and its parts.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import msgspec
import numpy as np

from tf_opdiff.harness.device.observation import raw, unraw
from tf_opdiff.harness.spec.contract import Raises, Sparse, Undocumented

#: The bytes of an 80-bit long double that are data; the rest has random bits. 0 for another kind of long double.
_PADDED = 10 if np.finfo(np.longdouble).nmant == 63 and sys.byteorder == "little" else 0


class Unwritable(Exception):
    """A value has a type that no bytes stand for."""


class Unreadable(Exception):
    """Bytes stand for no value, or not for the expected one."""


def encode(value: Any) -> bytes:
    """The bytes of a value.

    Raises:
      Unwritable: the value, or a part of it, has another type.
    """
    try:
        return msgspec.msgpack.encode(_parts(value))
    except OverflowError as why:  # an int of more than 64 bits
        raise Unwritable(str(why)) from why


def decode(data: bytes) -> Any:
    """The value that `encode` turned into these bytes; arrays are new and can be changed.

    Raises:
      Unreadable: `encode` did not make these bytes.
    """
    try:
        return _value(msgspec.msgpack.decode(data))
    except (msgspec.MsgspecError, ValueError, TypeError, KeyError, AttributeError, IndexError, RecursionError) as why:
        raise Unreadable(str(why)) from why


def _parts(value: Any) -> list[Any]:
    if isinstance(value, np.generic):
        return ["scalar", *_array_parts(np.asarray(value))]
    if type(value) is np.ndarray:
        return ["array", *_array_parts(value)]
    if value is None or type(value) in (bool, int, float, bytes):
        return ["itself", value]
    if type(value) is complex:
        return ["complex", value.real, value.imag]
    if type(value) in (tuple, list):
        return [type(value).__name__, *map(_parts, value)]
    if type(value) is dict and all(type(key) is str for key in value):
        return ["dict", *([key, _parts(entry)] for key, entry in value.items())]
    if type(value) is Raises:
        return ["raises", value.code, value.says, value.without_kernel]
    if type(value) is Undocumented:
        return ["undocumented", value.why, value.error]
    if type(value) is Sparse:
        return ["sparse", *map(_parts, (value.values, value.indices, value.shape))]
    raise Unwritable(f"no bytes stand for a {type(value).__name__}")


def _array_parts(array: np.ndarray) -> tuple[str, list[int], bytes]:
    """The name of the dtype, the shape, and the bytes in C order; zeros in place of the bytes that are no data."""
    texts = array.dtype.kind == "O" and all(type(x) is bytes for x in array.flat)
    if not texts and (array.dtype.kind not in "biufcV" or array.dtype.names or not array.dtype.isnative):
        raise Unwritable(f"no bytes stand for an array of {array.dtype}")
    name, data = raw(array)
    if _PADDED and array.dtype.type in (np.longdouble, np.clongdouble):
        numbers = np.frombuffer(data, np.uint8).reshape(-1, np.dtype(np.longdouble).itemsize).copy()
        numbers[:, _PADDED:] = 0
        data = numbers.tobytes()
    return name, list(array.shape), data


def _array(name: str, shape: list[int], data: bytes) -> np.ndarray:
    return np.array(unraw(name, shape, data))


#: How each type is made from the parts of its value.
_MAKERS: dict[str, Callable[..., Any]] = {
    "array": _array,
    "scalar": lambda *parts: _array(*parts)[()],
    "itself": lambda value: value,
    "complex": complex,
    "tuple": lambda *parts: tuple(map(_value, parts)),
    "list": lambda *parts: [*map(_value, parts)],
    "dict": lambda *entries: {key: _value(part) for key, part in entries},
    "raises": Raises,
    "undocumented": Undocumented,
    "sparse": lambda *parts: Sparse(*map(_value, parts)),
}


def _value(parts: list[Any]) -> Any:
    return _MAKERS[parts[0]](*parts[1:])
