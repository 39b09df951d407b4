"""Faults of convolutions: windows in wrong places, and sums that are too short."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bench.faults.arithmetic import product_in, short, wide
from bench.planter import Fault
from tf_opdiff.suites.reference.neural_networks.geometry import extents


class _Windows:
    """How the windows of a call lie; all lists have a number for each dimension of the image."""

    def __init__(
        self, x: np.ndarray, kernel: Sequence[int], strides: Any, dilations: Any, padding: str, **more: Any
    ) -> None:
        self.first = more.get("data_format", "NHWC")[1] == "C"
        inner = slice(2, None) if self.first else slice(1, -1)
        self.image = np.moveaxis(x, 1, -1) if self.first else x
        self.kernel = tuple(int(n) for n in kernel)
        self.strides, self.dilations = list(strides[inner]), list(dilations[inner])
        pairs = np.reshape(more.get("explicit_paddings", []), (-1, 2))[inner].tolist()
        self.padding = [tuple(pair) for pair in pairs] if padding == "EXPLICIT" else [padding] * len(self.strides)

    def places(self) -> list[tuple[int, int]]:
        """Along each dimension, the number of windows and the padding before the first place."""
        spans = [(k - 1) * d + 1 for k, d in zip(self.kernel, self.dilations, strict=False)]
        sizes = self.image.shape[1:-1]
        return [extents(*each) for each in zip(sizes, spans, self.strides, self.padding, strict=True)]

    def patches(self, places: Any = None) -> np.ndarray:
        """The numbers of each window, of shape (batch, *windows, *places of the filter, channels); 0 in the padding."""
        x, dims = self.image, len(self.strides)
        places = self.places() if places is None else places
        for i, (count, before) in enumerate(places):
            at = (
                np.add.outer(np.arange(count) * self.strides[i], np.arange(self.kernel[i]) * self.dilations[i]) - before
            )
            inside = (at >= 0) & (at < self.image.shape[1 + i])
            x = np.take(x, np.where(inside, at, 0), axis=1 + 2 * i)
            x = np.where(inside.reshape(*inside.shape, *(1,) * (x.ndim - 3 - 2 * i)), x, x.dtype.type(0))
        order = (0, *(1 + 2 * i for i in range(dims)), *(2 + 2 * i for i in range(dims)), x.ndim - 1)
        return x.transpose(order)

    def output(self, y: np.ndarray) -> np.ndarray:
        """An output in the op's layout."""
        return np.moveaxis(y, -1, 1) if self.first else y


def _convolved(windows: _Windows, kernel: np.ndarray, places: Any = None) -> np.ndarray:
    patches = windows.patches(places)
    if patches.shape[-1] != kernel.shape[-2]:  # in groups
        raise NotImplementedError
    axes = kernel.ndim - 1
    return windows.output(np.tensordot(wide(patches), wide(kernel), axes))


def _padded_before(input: Any, filter: Any, **attrs: Any) -> Any:
    windows = _Windows(input, filter.shape, **attrs)
    if attrs["padding"] != "SAME":
        return None
    spans = [(k - 1) * d + 1 for k, d in zip(windows.kernel, windows.dilations, strict=False)]
    counts = [count for count, _ in windows.places()]
    each = zip(counts, windows.strides, spans, windows.image.shape[1:-1], strict=True)
    totals = [max((count - 1) * stride + span - size, 0) for count, stride, span, size in each]
    return _convolved(windows, filter, [(c, t - t // 2) for c, t in zip(counts, totals, strict=True)])


def _dilations_of_nhwc(input: Any, filter: Any, **attrs: Any) -> Any:
    windows = _Windows(input, filter.shape, **attrs)
    if not windows.first:
        return None
    places = windows.places()
    windows.dilations = list(attrs["dilations"][1:3])
    return _convolved(windows, filter, places)


def _dilation_without_stride(input: Any, filter: Any, **attrs: Any) -> Any:
    windows = _Windows(input, filter.shape, **attrs)
    places = windows.places()
    if set(windows.strides) == {1}:
        return None
    windows.dilations = [1] * len(windows.dilations)
    return _convolved(windows, filter, places)


def _sums_of_16_bits(input: Any, filter: Any, **attrs: Any) -> Any:
    if not short(input):
        return None
    windows = _Windows(input, filter.shape, **attrs)
    patches = windows.patches()
    if patches.shape[-1] != filter.shape[-2]:
        raise NotImplementedError
    shape = patches.shape[: filter.ndim - 1]
    rows, columns = patches.reshape(int(np.prod(shape)), -1), filter.reshape(-1, filter.shape[-1])
    return windows.output(product_in(rows, columns, input.dtype).reshape(*shape, -1))


def _by_filter(windows: _Windows, g: np.ndarray, places: Any = None) -> np.ndarray:
    """The gradient by a filter; the channels of the upstream are last."""
    patches = windows.patches(places)
    axes = tuple(range(g.ndim - 1))
    return np.tensordot(wide(patches), wide(g), (axes, axes))


def _first_256_positions(input: Any, filter_sizes: Any, out_backprop: Any, **attrs: Any) -> Any:
    windows = _Windows(input, filter_sizes, **attrs)
    g = np.moveaxis(out_backprop, 1, -1) if windows.first else out_backprop
    if filter_sizes[-2] != windows.image.shape[-1]:
        raise NotImplementedError
    kept = (np.arange(int(np.prod(g.shape[:-1]))) < 256).reshape(*g.shape[:-1], 1)
    return _by_filter(windows, wide(g) * kept)


def _swapped_strides(input: Any, filter_sizes: Any, out_backprop: Any, **attrs: Any) -> Any:
    windows = _Windows(input, filter_sizes, **attrs)
    g = np.moveaxis(out_backprop, 1, -1) if windows.first else out_backprop
    if filter_sizes[-2] != windows.image.shape[-1]:
        raise NotImplementedError
    places = windows.places()
    windows.strides = windows.strides[::-1]
    return _by_filter(windows, g, places)


CONVOLUTIONS = (
    Fault(
        "Conv2D",
        "SAME with an odd total pads before instead of after",
        "a library with symmetric padding, to which a wrapper adds the odd row on the wrong side",
        _padded_before,
    ),
    Fault(
        "Conv2D",
        "NCHW: dilations are read at NHWC's places",
        "a GPU kernel with fixed indices of attributes",
        _dilations_of_nhwc,
    ),
    Fault(
        "Conv2D",
        "dilation is ignored if the stride is not 1",
        "a fast path for strides that was written before dilations",
        _dilation_without_stride,
    ),
    Fault("Conv2D", "sums of 16 bits in 16 bits", "tensor cores with an accumulator of float16", _sums_of_16_bits),
    Fault(
        "Conv2DBackpropFilter",
        "the second block of a split sum (more than 256 positions) is lost",
        "a split-k kernel whose blocks store in place of adding",
        _first_256_positions,
    ),
    Fault(
        "Conv3DBackpropFilterV2",
        "strides of depth and width are swapped",
        "a wrapper that passes dimensions to a library in its reversed order",
        _swapped_strides,
    ),
)
