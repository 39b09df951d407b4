"""Random numbers: uniform and normal numbers of a stream of random bits, by TensorFlow's kernels and by XLA.

The kernels take each word of a stream in turn (`tsl/lib/random/random_distributions.h`); a float has the lower bits of
a word as digits. XLA takes the upper bits (`xla/hlo/builder/lib/prng.cc`), but for float16. Results are float64, or
long double for float64, before they are rounded.
"""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
from scipy import special

from tf_opdiff.suites.reference.random_numbers.random_bits import Halves, Philox, ThreeFry, pairs

Shape = tuple[int, ...]
#: A uniform number below this one counts as this one, so that its logarithm is moderate.
EPSILON = 1e-7
#: The largest size of a truncated normal number.
TRUNCATED = 2.0
#: Blocks in which a group of truncated numbers looks for numbers that are small enough; the kernels search 64 or more.
_BLOCKS = 16


def digits(dtype: str) -> int:
    """The bits of a float behind the point."""
    return int(ml_dtypes.finfo(np.dtype(dtype)).nmant)


def full_integers(stream: Philox | ThreeFry, shape: Shape, dtype: str) -> np.ndarray:
    """Integers of all bits of a stream."""
    return stream.raw(shape, 8 * np.dtype(dtype).itemsize).view(dtype)


@np.errstate(over="ignore")
def integers(stream: Philox | ThreeFry, shape: Shape, dtype: str, low: Any, high: Any) -> np.ndarray:
    """Integers in [low, high): the rest of a division by the number of them, from `low`."""
    bits = stream.raw(shape, 8 * np.dtype(dtype).itemsize)
    unsigned = bits.dtype.type
    first = np.asarray(low).astype(unsigned)
    return (first + bits % (np.asarray(high).astype(unsigned) - first)).view(dtype)


def uniforms(stream: Philox, shape: Shape, dtype: str) -> np.ndarray:
    """Numbers in [0, 1) whose digits are the lower bits of a word; of float64, of one word and of the next."""
    return _uniform(stream.raw(shape, 64 if dtype == "float64" else 32), dtype)


def _uniform(bits: np.ndarray, dtype: str) -> np.ndarray:
    """Numbers in [0, 1) of words, or of pairs of words."""
    if dtype == "float64":
        bits = (bits & np.uint64(0xFFFFF)) << np.uint64(32) | bits >> np.uint64(32)
    return (bits & bits.dtype.type(2 ** digits(dtype) - 1)) * 2.0 ** -digits(dtype)


def uniforms_of_xla(stream: Philox | ThreeFry, shape: Shape, dtype: str) -> np.ndarray:
    """Numbers in [0, 1) by XLA."""
    return _cut_off(_uniforms_of_xla(stream, shape, dtype), dtype)


def _uniforms_of_xla(stream: Philox | ThreeFry, shape: Shape, dtype: str) -> np.ndarray:
    """Numbers in [0, 1) whose digits are the upper bits of a word; bfloat16 is cut off from float32."""
    if dtype == "float16":
        return (stream.raw(shape, 32) & np.uint32(0x3FF)) * 2.0**-10
    bits = 64 if dtype == "float64" else 32
    count = digits("float64" if dtype == "float64" else "float32")
    raw = stream.raw(shape, bits)
    return (raw >> raw.dtype.type(bits - count)) * 2.0**-count


def _cut_off(x: np.ndarray, dtype: str) -> np.ndarray:
    """Numbers as XLA makes them bfloat16: without the lower half of the bits of a float32."""
    if dtype != "bfloat16":
        return x
    return (x.astype(np.float32).view(np.uint32) & np.uint32(0xFFFF0000)).view(np.float32).astype(np.float64)


def _computed_in(dtype: str) -> type:
    """The dtype in which normal numbers are computed: float64, or float32 for all others."""
    return np.float64 if dtype == "float64" else np.float32


def box_muller(u: np.ndarray, angle: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Two normal numbers of a uniform number and an angle: its sine and its cosine, times a radius; long double.

    G. Box, M. Muller (1958): https://doi.org/10.1214/aoms/1177706645
    """
    wide = angle.astype(np.longdouble)
    radius = np.sqrt(-2 * np.log(np.maximum(u, u.dtype.type(EPSILON)).astype(np.longdouble)))
    return np.sin(wide) * radius, np.cos(wide) * radius


def normals(stream: Philox, shape: Shape, dtype: str) -> np.ndarray:
    """Normal numbers: two of each two uniform ones, which have as many digits as the dtype of computation."""
    size = int(np.prod(shape, dtype=int))
    words = stream.words(np.arange(-(-size // (2 if dtype == "float64" else 4)))).ravel()
    return _normal(words, dtype)[:size].reshape(shape)


def _normal(words: np.ndarray, dtype: str) -> np.ndarray:
    """Normal numbers of words: one of each word, or of float64 one of two words; long double."""
    computed = _computed_in(dtype)
    u = _uniform(pairs(words) if computed is np.float64 else words.ravel(), np.dtype(computed).name)
    angle: np.ndarray = (2 * np.pi * u[1::2]).astype(computed)
    return np.stack(box_muller(u[::2].astype(computed), angle), axis=1).ravel()


def truncated(stream: Philox, shape: Shape, dtype: str) -> np.ndarray:
    """Normal numbers below 2 in size; larger ones are left out.

    Each group of numbers, as many as a block gives, has 64 blocks for each of them: `random_op_cpu.h`.
    """
    size, group = int(np.prod(shape, dtype=int)), 2 if dtype == "float64" else 4
    groups = -(-size // group)
    blocks = np.arange(groups)[:, None] * (64 * group) + np.arange(_BLOCKS)
    drawn = _normal(stream.words(blocks.ravel()), dtype).reshape(groups, group * _BLOCKS)
    large = np.abs(drawn.astype(_computed_in(dtype))) >= TRUNCATED
    order = np.argsort(large, axis=1, kind="stable")[:, :group]
    return np.take_along_axis(drawn, order, axis=1).ravel()[:size].reshape(shape)


def normals_of_xla(stream: Philox | ThreeFry, shape: Shape, dtype: str) -> np.ndarray:
    """Normal numbers: the sine and the cosine alternate along one dimension."""
    half = Halves(shape)
    computed = np.float16 if dtype == "float16" else _computed_in(dtype)
    one, other = np.moveaxis(_uniforms_of_xla(stream, half.together, dtype).astype(computed), half.axis + 1, 0)
    return _cut_off(half.joined(*box_muller(one, computed(2 * np.pi) * other)), dtype)


def truncated_of_xla(stream: Philox | ThreeFry, shape: Shape, dtype: str) -> np.ndarray:
    """Normal numbers below 2 in size: the quantiles of uniform numbers above 0."""
    info = ml_dtypes.finfo(np.dtype("float32" if dtype == "bfloat16" else dtype))
    u = np.maximum(_uniforms_of_xla(stream, shape, dtype), float(info.smallest_normal))
    x = np.sqrt(2) * special.erfinv(special.erf(TRUNCATED / np.sqrt(2)) * (2 * u - 1))
    return _cut_off(np.clip(x, -TRUNCATED, TRUNCATED), dtype)


def error_of_quantile(x: np.ndarray, dtype: str) -> np.ndarray:
    """The error of XLA's truncated numbers: that of the probability, times the slope of the quantile.

    Largest errors of 600 000 numbers of each dtype: 1.2, 7.0 and 1.8 roundings of float32, float64 and float16.
    """
    computed = np.dtype("float32" if dtype == "bfloat16" else dtype)
    roundings = {"float32": 2, "float64": 8, "float16": 3}[computed.name]
    return np.asarray(roundings * np.finfo(computed).eps / 2 * np.sqrt(2 * np.pi) * np.exp(x * x / 2))


def skipped(state: np.ndarray, steps: int) -> np.ndarray:
    """The state of a generator, int64, whose counter of 128 bits was moved by some blocks."""
    counter = int.from_bytes(state[:2].tobytes(), "little") + steps & 2**128 - 1
    return np.concatenate([np.frombuffer(counter.to_bytes(16, "little"), np.int64), state[2:]])


def blocks(shape: Shape, dtype: str) -> int:
    """The blocks that uniform numbers of a shape take."""
    return -(-int(np.prod(shape, dtype=int)) * (64 if np.dtype(dtype).itemsize == 8 else 32) // 128)


def blocks_of_pairs(shape: Shape, dtype: str) -> int:
    """The blocks that normal numbers of a shape take under XLA: those of both halves."""
    return blocks(Halves(shape).together, dtype)
