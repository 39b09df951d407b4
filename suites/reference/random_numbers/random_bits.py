"""Random bits: the words of counter-based generators, Philox 4x32-10 and ThreeFry 2x32-20, as arrays.

J. Salmon et al., Parallel random numbers: as easy as 1, 2, 3, SC11: https://doi.org/10.1145/2063384.2063405
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

_LOW, _HALF = np.uint64(0xFFFFFFFF), np.uint64(32)
#: Multipliers of a round of Philox, and the numbers added to the key after it.
_TIMES = (np.uint64(0xD2511F53), np.uint64(0xCD9E8D57))
_WEYL = (np.uint64(0x9E3779B9), np.uint64(0xBB67AE85))
#: Distances of the rotations of ThreeFry, for rounds in turns, and its parity.
_TURNS = ((13, 15, 26, 6), (17, 29, 16, 24))
_PARITY = 0x1BD11BDA
#: The key with which Philox mixes a seed into a key and a counter: `stateless_random_ops.cc`.
_MIXING = 0x02461E293EC8F720


def _block(key: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Four words of 32 bits, of shape (4, n), for n counters of 128 bits and a key of 64 bits; all uint64."""
    k = [key & _LOW, key >> _HALF]
    c = [low & _LOW, low >> _HALF, high & _LOW, high >> _HALF]
    for _ in range(10):
        a, b = _TIMES[0] * c[0], _TIMES[1] * c[2]
        c = [b >> _HALF ^ c[1] ^ k[0], b & _LOW, a >> _HALF ^ c[3] ^ k[1], a & _LOW]
        k = [word + step & _LOW for word, step in zip(k, _WEYL, strict=True)]
    return np.stack(c)


def moved(counter: np.ndarray, steps: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The lower and the upper half of a counter of 128 bits plus steps; uint64."""
    low = counter[0] + steps
    return low, counter[1] + (low < steps)


@np.errstate(over="ignore")
def philox(key: np.ndarray, counter: np.ndarray, blocks: np.ndarray) -> np.ndarray:
    """The words of blocks of a stream, of shape (blocks, 4), as uint32.

    Args:
      key: uint64, of shape (1,).
      counter: uint64, of shape (2,), the lower half first: that of block 0.
      blocks: the numbers of the blocks, uint64.
    """
    low, high = moved(counter, blocks)
    return _block(key[0], low, high).T.astype(np.uint32)


@np.errstate(over="ignore")
def threefry(key: np.ndarray, counter: np.ndarray, blocks: np.ndarray) -> np.ndarray:
    """The words of blocks of a stream, of shape (blocks, 2), as uint32; the counter has 64 bits, of shape (1,)."""
    k = [key[0] & _LOW, key[0] >> _HALF]
    k.append(k[0] ^ k[1] ^ np.uint64(_PARITY))
    at = counter[0] + blocks
    x, y = (at & _LOW) + k[0] & _LOW, (at >> _HALF) + k[1] & _LOW
    for group in range(5):
        for turn in _TURNS[group % 2]:
            x = x + y & _LOW
            y = (y << np.uint64(turn) | y >> np.uint64(32 - turn)) & _LOW ^ x
        x, y = x + k[(group + 1) % 3] & _LOW, y + k[(group + 2) % 3] + np.uint64(group + 1) & _LOW
    return np.stack([x, y], axis=1).astype(np.uint32)


def mixed(seed: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The key and the counter, uint64 of shapes (1,) and (2,), that stateless ops make of a seed of two integers."""
    s = seed.astype(np.int64).astype(np.uint64)
    words = _block(np.array(_MIXING, np.uint64), s[:1], s[1:])[:, 0]
    return words[:1] | words[1:2] << _HALF, np.stack([np.uint64(0), words[2] | words[3] << _HALF])


def pairs(words: np.ndarray) -> np.ndarray:
    """Words two by two, as uint64; the first word is the lower half."""
    wide = words.reshape(-1, 2).astype(np.uint64)
    return wide[:, 0] | wide[:, 1] << _HALF


@dataclass(frozen=True)
class Philox:
    """A stream of Philox: its key, uint64 of shape (1,), and its counter, uint64 of shape (2,)."""

    key: np.ndarray
    counter: np.ndarray

    def words(self, blocks: np.ndarray) -> np.ndarray:
        """The words of these blocks, of shape (blocks, 4)."""
        return philox(self.key, self.counter, blocks.astype(np.uint64))

    def raw(self, shape: tuple[int, ...], bits: int) -> np.ndarray:
        """An array of numbers of 32 or 64 random bits, in the order of the stream."""
        size = int(np.prod(shape, dtype=int))
        words = self.words(np.arange(-(-size * bits // 128))).ravel()
        return (pairs(words) if bits == 64 else words)[:size].reshape(shape)


@dataclass(frozen=True)
class ThreeFry:
    """A stream of ThreeFry as XLA draws it: its key and its counter, uint64 of shape (1,)."""

    key: np.ndarray
    counter: np.ndarray

    def raw(self, shape: tuple[int, ...], bits: int) -> np.ndarray:
        """An array of numbers of 32 or 64 random bits; of 32, the words of a block are neighbours in one dimension."""
        if bits == 64:
            size = int(np.prod(shape, dtype=int))
            return pairs(threefry(self.key, self.counter, np.arange(size, dtype=np.uint64))).reshape(shape)
        half = Halves(shape)
        blocks = threefry(self.key, self.counter, np.arange(half.size, dtype=np.uint64))
        return half.joined(blocks[:, 0], blocks[:, 1])


@dataclass(frozen=True)
class Halves:
    """An array made of two halves whose elements alternate along one dimension, as XLA splits it: `prng.cc`.

    The dimension is the first of even size, or else the first of the largest. A scalar is the first of two numbers.
    """

    shape: tuple[int, ...]

    @property
    def axis(self) -> int:
        """The dimension along which the halves alternate."""
        sizes = self.shape or (2,)
        even = [i for i, size in enumerate(sizes) if size % 2 == 0]
        return even[0] if even else sizes.index(max(sizes))

    @property
    def half(self) -> tuple[int, ...]:
        """The shape of a half."""
        sizes = list(self.shape or (2,))
        sizes[self.axis] = -(-sizes[self.axis] // 2)
        return tuple(sizes)

    @property
    def size(self) -> int:
        """The elements of a half."""
        return int(np.prod(self.half, dtype=int))

    @property
    def together(self) -> tuple[int, ...]:
        """The shape of both halves: `axis` has the size of a half, and a dimension of size 2 stands behind it."""
        return (*self.half[: self.axis + 1], 2, *self.half[self.axis + 1 :])

    def joined(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        """The array of two halves."""
        parts = np.stack([half.reshape(self.half) for half in (first, second)], axis=self.axis + 1)
        whole = parts.reshape(tuple(2 * n if i == self.axis else n for i, n in enumerate(self.half)))
        return whole[0] if not self.shape else whole[tuple(map(slice, self.shape))]
