"""Plain values come back with the same types, dtypes, shapes and bits."""

import pickle

import ml_dtypes
import msgspec
import numpy as np
import pytest

from tf_opdiff.harness.spec.contract import Raises, Sparse
from tf_opdiff.harness.store.formats.plain_values import Unreadable, Unwritable, decode, encode

NAN = np.array([0x7FC00001, 0xFFC00000, 0x7F800001, 0x80000000], np.uint32).view(np.float32)
VALUES = [
    None,
    True,
    -3,
    0.1,
    -0.0,
    complex(1, -0.0),
    b"\x80",
    NAN,
    np.float64(np.pi),
    np.longdouble(1) / 3,
    np.arange(6, dtype=np.int16).reshape(2, 3).T,
    np.zeros((0, 3), np.float16),
    np.array(2.5, np.longdouble),
    np.array([1 / 3, -0.0], np.clongdouble),
    np.array([1, 2], ml_dtypes.bfloat16),
    np.array([-8, 7], ml_dtypes.int4),
    ml_dtypes.bfloat16(3),
    np.array([True, False]),
    np.array([[b"", b"a\0b"]], object),
    (np.ones(2), None, [1, (2.0,)], {"v": np.zeros(1), "a": ()}),
    Raises("INVALID_ARGUMENT", "says"),
    Raises("NOT_FOUND", without_kernel=True),
    np.ones(4, "float8_e4m3fnuz"),
    Sparse(np.ones((2, 3)), np.array([0, 4]), (5, 3)),
]


def same(one, other):
    """Whether two values have the same types and bits."""
    if type(one) is not type(other):
        return False
    if isinstance(one, (np.ndarray, np.generic)):
        texts = one.dtype == object or one.dtype.char in "gG"  # a long double has bytes that are no data
        facts = [(v.dtype, v.shape, repr(v.tolist()) if texts else v.tobytes()) for v in (one, other)]
        return facts[0] == facts[1]
    if isinstance(one, (tuple, list)):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict):
        return [*one] == [*other] and all(same(one[key], other[key]) for key in one)
    if isinstance(one, Sparse):
        return all(same(getattr(one, name), getattr(other, name)) for name in ("values", "indices", "shape"))
    return repr(one) == repr(other)


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_a_value_comes_back_bit_for_bit(value):
    assert same(decode(encode(value)), value)


def test_equal_long_doubles_have_equal_bytes_whatever_lies_between_them():
    one, other = (np.frombuffer(bytes([fill]) * 32, np.longdouble).copy() for fill in (1, 2))
    for array in (one, other):
        array[:] = [1 / np.longdouble(3), np.nan]
    assert encode(one) == encode(other)
    pairs = [np.frombuffer(bytes([fill]) * 64, np.clongdouble).copy() for fill in (1, 2)]
    for array in pairs:
        array[:] = [1j, 2]
    assert encode(pairs[0]) == encode(pairs[1])


def test_an_array_that_comes_back_can_be_changed():
    array = decode(encode(np.ones(3)))
    array[0] = 2


class Own:
    pass


@pytest.mark.parametrize(
    "value",
    [
        Own(),
        1 << 80,
        np.array([1 << 80], object),
        np.ma.masked_array([1.0]),
        np.zeros(1, "M8[s]"),
        np.zeros(2, ">f4"),
        np.zeros(1, [("a", "f4")]),
        np.array(["text"]),
        {1: 2},
        "text",
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_value_of_another_type_is_refused(value):
    with pytest.raises(Unwritable):
        encode((value,))


@pytest.mark.parametrize(
    "data",
    [
        b"",
        pickle.dumps(VALUES[7]),
        encode(NAN)[:-1],
        msgspec.msgpack.encode(["own", 1]),
        msgspec.msgpack.encode(["array", "object", [1], b"12345678"]),
        msgspec.msgpack.encode(["array", "float32", [2], b"1234"]),
        msgspec.msgpack.encode(3),
        msgspec.msgpack.encode([]),
    ],
)
def test_other_bytes_are_refused(data):
    with pytest.raises(Unreadable):
        decode(data)
