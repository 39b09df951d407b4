"""The references of random bits give the numbers that the authors of the algorithms published."""

import numpy as np
import pytest

from tf_opdiff.suites.reference.random_numbers import philox as single
from tf_opdiff.suites.reference.random_numbers.random import truncated
from tf_opdiff.suites.reference.random_numbers.random_bits import Halves, Philox, mixed, moved, philox, threefry

_PI = (0x243F6A8885A308D3, 0x13198A2E03707344, 0xA4093822299F31D0)
#: Key, counter and words of `kat_vectors` in Random123, the library of the authors.
PHILOX = [
    ((0,), (0, 0), "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
    ((2**64 - 1,), (2**64 - 1, 2**64 - 1), "408f276d 41c83b0e a20bc7c6 6d5451fd"),
]
THREEFRY = [((0,), (0,), "6b200159 99ba4efe"), ((2**64 - 1,), (2**64 - 1,), "1cb996fc bb002be7")]


@pytest.mark.parametrize(("function", "vectors"), [(philox, PHILOX), (threefry, THREEFRY)])
def test_words_are_those_of_the_authors(function, vectors):
    for key, counter, words in vectors:
        key, counter = np.array(key, np.uint64), np.array(counter, np.uint64)
        got = function(key, counter, np.zeros(1, np.uint64))[0]
        assert " ".join(f"{word:08x}" for word in got) == words


def test_many_blocks_agree_with_one_block_at_a_time():
    key, counter = np.array([_PI[0]], np.uint64), np.array([2**64 - 2, 7], np.uint64)
    parts = _PI[0] & 0xFFFFFFFF, _PI[0] >> 32
    counters = [(0xFFFFFFFE, 0xFFFFFFFF, 7, 0), (0xFFFFFFFF, 0xFFFFFFFF, 7, 0), (0, 0, 8, 0)]
    expected = [single.block(parts, each) for each in counters]
    assert philox(key, counter, np.arange(3, dtype=np.uint64)).tolist() == [list(block) for block in expected]


def test_a_negative_seed_extends_its_sign():
    key, counter = mixed(np.array([5, -7], np.int32))
    words = single.block((0x3EC8F720, 0x02461E29), (5, 0, 2**32 - 7, 2**32 - 1))
    assert (int(key[0]), int(counter[0]), int(counter[1])) == (
        words[0] + (words[1] << 32),
        0,
        words[2] + (words[3] << 32),
    )


def test_a_counter_carries_into_its_upper_half():
    low, high = moved(np.array([2**64 - 1, 3], np.uint64), np.arange(2, dtype=np.uint64))
    assert (low.tolist(), high.tolist()) == ([2**64 - 1, 0], [3, 4])


@pytest.mark.parametrize(
    ("shape", "together"), [((5,), (3, 2)), ((3, 4), (3, 2, 2)), ((3, 5), (3, 3, 2)), ((), (1, 2))]
)
def test_halves_alternate_along_the_first_even_dimension_or_the_largest(shape, together):
    half = Halves(shape)
    assert half.together == together
    size = half.size
    joined = half.joined(2 * np.arange(size), 2 * np.arange(size) + 1)
    assert joined.shape == shape
    first = joined.ravel()[:2].tolist()
    assert first == ([0, 1] if shape and half.axis == len(shape) - 1 else [0])


def test_truncated_numbers_are_small_and_their_groups_are_apart():
    stream = Philox(np.array([1], np.uint64), np.zeros(2, np.uint64))
    numbers = truncated(stream, (400,), "float32")
    assert np.abs(numbers).max() < 2 and len(np.unique(numbers)) == 400
    later = Philox(stream.key, np.array([256, 0], np.uint64))
    assert truncated(later, (4,), "float32").tolist() == numbers[4:8].tolist()
