"""Blocks: NumPy's versions of ops that move elements between depth, space and batch, and of windows into patches."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from tf_opdiff.suites.reference.arrays.shapes import Pairs, padded


def _last(channels_first: bool, x: np.ndarray) -> np.ndarray:
    """The images with their channels last."""
    return np.moveaxis(x, 1, -1) if channels_first else x


def _first(channels_first: bool, x: np.ndarray) -> np.ndarray:
    """The inverse of `_last`."""
    return np.moveaxis(x, -1, 1) if channels_first else x


def depth_to_space(x: np.ndarray, block_size: int, data_format: str = "NHWC") -> np.ndarray:
    """Each pixel's channels as a block of pixels: https://www.tensorflow.org/api_docs/python/tf/nn/depth_to_space."""
    first = data_format == "NCHW"
    n, rows, columns, depth = _last(first, x).shape
    blocks = _last(first, x).reshape(n, rows, columns, block_size, block_size, depth // block_size**2)
    moved = blocks.transpose(0, 1, 3, 2, 4, 5)
    return _first(first, moved.reshape(n, rows * block_size, columns * block_size, depth // block_size**2))


def space_to_depth(x: np.ndarray, block_size: int, data_format: str = "NHWC") -> np.ndarray:
    """Each block of pixels as the channels of one: https://www.tensorflow.org/api_docs/python/tf/nn/space_to_depth."""
    first = data_format == "NCHW"
    n, rows, columns, depth = _last(first, x).shape
    blocks = _last(first, x).reshape(n, rows // block_size, block_size, columns // block_size, block_size, depth)
    moved = blocks.transpose(0, 1, 3, 2, 4, 5)
    return _first(first, moved.reshape(n, rows // block_size, columns // block_size, depth * block_size**2))


def space_to_batch(x: np.ndarray, block_shape: Sequence[int], paddings: Pairs) -> np.ndarray:
    """Blocks of a padded array as batches: https://www.tensorflow.org/api_docs/python/tf/space_to_batch."""
    count, rest = len(block_shape), x.ndim - 1 - len(block_shape)
    x = padded(x, [(0, 0), *paddings, *[(0, 0)] * rest])
    sizes = [n // b for n, b in zip(x.shape[1:], block_shape, strict=False)]
    blocks = x.reshape(
        x.shape[0], *(n for pair in zip(sizes, block_shape, strict=True) for n in pair), *x.shape[1 + count :]
    )
    inside = [2 + 2 * i for i in range(count)]
    moved = blocks.transpose(*inside, 0, *(1 + 2 * i for i in range(count)), *range(1 + 2 * count, blocks.ndim))
    return moved.reshape(x.shape[0] * prod(block_shape), *sizes, *x.shape[1 + count :])


def batch_to_space(x: np.ndarray, block_shape: Sequence[int], crops: Pairs) -> np.ndarray:
    """Batches as the blocks of an array, which is cropped: https://www.tensorflow.org/api_docs/python/tf/batch_to_space."""
    count, n = len(block_shape), x.shape[0] // prod(block_shape)
    blocks = x.reshape(*block_shape, n, *x.shape[1:])
    pairs = [axis for i in range(count) for axis in (count + 1 + i, i)]
    moved = blocks.transpose(count, *pairs, *range(2 * count + 1, blocks.ndim))
    sizes = [size * b for size, b in zip(x.shape[1:], block_shape, strict=False)]
    whole = moved.reshape(n, *sizes, *x.shape[1 + count :])
    kept = [slice(before, size - after) for size, (before, after) in zip(sizes, crops, strict=True)]
    return whole[(slice(None), *kept)]


def patches(
    x: np.ndarray, ksizes: Sequence[int], strides: Sequence[int], padding: str, rates: Sequence[int] = ()
) -> np.ndarray:
    """Windows of images or volumes as channels: https://www.tensorflow.org/api_docs/python/tf/image/extract_patches."""
    axes, rates = range(1, x.ndim - 1), rates or (1,) * x.ndim
    reach = [rates[a] * (ksizes[a] - 1) + 1 for a in axes]
    if padding == "SAME":
        outputs = [-(-x.shape[a] // strides[a]) for a in axes]
        spans = [(n - 1) * strides[a] + r for n, a, r in zip(outputs, axes, reach, strict=True)]
        missing = [max(0, span - x.shape[a]) for span, a in zip(spans, axes, strict=True)]
        x = padded(x, [(0, 0), *((n // 2, n - n // 2) for n in missing), (0, 0)])
    index: list[Any] = [slice(None)]
    for a, r in zip(axes, reach, strict=True):
        at = np.arange(0, max(0, x.shape[a] - r + 1), strides[a])[:, None] + rates[a] * np.arange(ksizes[a])
        shape = [1] * (2 * len(axes))
        shape[a - 1], shape[a - 1 + len(axes)] = at.shape
        index.append(at.reshape(shape))
    windows = x[tuple(index)]
    return windows.reshape(*windows.shape[: 1 + len(axes)], prod(windows.shape[1 + len(axes) :]))


def patches_of_xla(
    x: np.ndarray, ksizes: Sequence[int], strides: Sequence[int], padding: str, rates: Sequence[int] = ()
) -> np.ndarray:
    """The windows as sums of products with zeros and ones, each sum over the elements of a channel of a window.

    They are NaN where another element of the sum is not finite.
    """
    windows = patches(x, ksizes, strides, padding, rates)
    special = ~np.isfinite(windows).reshape(*windows.shape[:-1], -1, x.shape[-1])
    others = np.sum(special, axis=-2, keepdims=True) > special
    return np.where(others.reshape(windows.shape), np.nan, windows)
