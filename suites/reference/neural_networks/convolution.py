"""Convolution: sums of products over windows of an image, with derivatives and errors, in long double.

A convolution is the trilinear form Σ image[b, o s + k d - p, c] filter[k, c, f] output[b, o, f] over all places o of a
window and k in it, with strides s, dilations d and p places of padding. The convolution, its gradient by the image and
that by the filter are its derivatives by one of the three tensors. So are the gradients of each of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tf_opdiff.suites.reference.linear_algebra.contraction import Multilinear, bound
from tf_opdiff.suites.reference.neural_networks.geometry import Geometry, Padding, Shape
from tf_opdiff.suites.reference.promises.accumulation import sizes
from tf_opdiff.suites.reference.reductions.reduction import long

#: The tensors of the trilinear form, in the order in which ops take them.
TENSORS = ("image", "filter", "output")


def _channels(image: np.ndarray, kernel: np.ndarray, output: np.ndarray) -> tuple[int, int, int]:
    """The numbers of groups, and of input and output channels of a group."""
    inputs = kernel.shape[-2]
    groups = image.shape[-1] // inputs if inputs else 1
    return groups, inputs, output.shape[-1] // max(groups, 1)


def to_output(geometry: Geometry, image: np.ndarray, kernel: np.ndarray, output: np.ndarray) -> None:
    """Adds the convolution to `output`. All channels are last."""
    groups, inputs, outputs = _channels(image, kernel, output)
    for place, at_image, at_output in geometry.meetings():
        x = image[:, *at_image]
        terms = np.einsum(
            "...gi,igo->...go",
            x.reshape(*x.shape[:-1], groups, inputs),
            kernel[place].reshape(inputs, groups, outputs),
        )
        output[:, *at_output] += terms.reshape(*terms.shape[:-2], groups * outputs)


def to_image(geometry: Geometry, image: np.ndarray, kernel: np.ndarray, output: np.ndarray) -> None:
    """Adds the derivative by the image to `image`."""
    groups, inputs, outputs = _channels(image, kernel, output)
    for place, at_image, at_output in geometry.meetings():
        g = output[:, *at_output]
        terms = np.einsum(
            "...go,igo->...gi",
            g.reshape(*g.shape[:-1], groups, outputs),
            kernel[place].reshape(inputs, groups, outputs),
        )
        image[:, *at_image] += terms.reshape(*terms.shape[:-2], groups * inputs)


def to_filter(geometry: Geometry, image: np.ndarray, kernel: np.ndarray, output: np.ndarray) -> None:
    """Adds the derivative by the filter to `kernel`."""
    groups, inputs, outputs = _channels(image, kernel, output)
    for place, at_image, at_output in geometry.meetings():
        x, g = image[:, *at_image], output[:, *at_output]
        count = int(np.prod(x.shape[:-1]))
        terms = np.einsum("ngi,ngo->igo", x.reshape(count, groups, inputs), g.reshape(count, groups, outputs))
        kernel[place] += terms.reshape(inputs, groups * outputs)


_TO: Mapping[str, Callable[..., None]] = {"image": to_image, "filter": to_filter, "output": to_output}


@dataclass(frozen=True, kw_only=True)
class Convolution(Multilinear):
    """A convolution, or one of its gradients, as a function of two tensors.

    result          the tensor by which it is the derivative: `output` of a convolution, `image` or `filter`.
    strides, dilations      one for each dimension.
    padding         `VALID`, `SAME`, or the places before and after each dimension.
    size            the shape of the result, if it is an image or a filter. Empty: the smallest image and the largest
                    filter that fit, of one group.
    depthwise       the outputs of each channel, if a filter has shape (…, channels, outputs of each channel); else 0.
    channels_first  whether the channels of an image are before its dimensions.
    """

    result: str = "output"
    strides: Shape
    dilations: Shape
    padding: Padding = "VALID"
    size: Shape = ()
    depthwise: int = 0
    channels_first: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the tensors that the function takes, in order."""
        return tuple(name for name in TENSORS if name != self.result)

    @property
    def mistaken(self) -> Convolution | None:
        """The gradients by images and filters of their own for each channel ignore dilations on a CPU."""
        if not self.depthwise or set(self.dilations) == {1}:
            return None
        return replace(self, dilations=(1,) * len(self.dilations))

    def f(self, *xs: np.ndarray) -> np.ndarray:
        """The result; that of integers wraps around in their dtype."""
        return self._by(self.result, self._canonical(xs))

    def vjp(self, g: np.ndarray, *xs: np.ndarray) -> tuple[np.ndarray, ...]:
        """The gradient by each tensor."""
        every = self._canonical(xs) | {self.result: self._to_canonical(self.result, long(g))}
        return tuple(self._by(name, every) for name in self.names)

    def error(self, u: float, *xs: np.ndarray) -> np.ndarray:
        """The error of the result: γ of all its roundings, relative to the sum of the sizes of its terms."""
        return self._error(u, self.result, dict(zip(self.names, xs, strict=True)), self.f(*xs))

    def grad_error(self, i: int, u: float, g: np.ndarray, *xs: np.ndarray) -> np.ndarray:
        """The error of the gradient by tensor i."""
        every = {**dict(zip(self.names, xs, strict=True)), self.result: g}
        return self._error(u, self.names[i], every, self.vjp(g, *xs)[i])

    def with_zeros(self, *xs: np.ndarray) -> np.ndarray:
        """The result if the places that no window covers are zeros, which an infinite or NaN filter turns into NaN.

        Such places are those of padding, and in a gradient by the image also those between the windows.
        """
        every = self._canonical(xs)
        geometry = self._geometry(self._shapes({name: x.shape for name, x in every.items()}))
        kernel, covered = every["filter"], {}
        for place, at_image, at_output in geometry.meetings():
            covered[place] = at_output if self.result == "output" else at_image
        value = np.array(self._to_canonical(self.result, self.f(*xs)))
        groups = value.shape[-1] // kernel.shape[-2] if self.result == "image" else 1
        for place in np.ndindex(*geometry.filter):
            zero = np.ones(value.shape[1:-1], bool)
            if place in covered:
                zero[covered[place]] = False
            bad = ~np.isfinite(kernel[place])
            by_image = bad.reshape(len(bad), groups, -1).any(-1).T.ravel()
            channels = bad.any(0) if self.result == "output" else by_image
            value[:, zero[..., None] & channels] = np.nan
        return self._from_canonical(self.result, value, value.shape[-1])

    def _error(self, u: float, result: str, every: Mapping[str, np.ndarray], value: np.ndarray) -> np.ndarray:
        """The error of the derivative by one tensor."""
        plain = {name: self._to_canonical(name, sizes(x)) for name, x in every.items()}
        ones = {name: np.ones(x.shape) for name, x in plain.items()}
        factors = [x for name, x in every.items() if name != result]
        total, count = (self._by(result, tensors).astype(np.float64) for tensors in (plain, ones))
        return bound(u, total, count, factors, value)

    def _by(self, result: str, every: Mapping[str, np.ndarray]) -> np.ndarray:
        """The derivative by one tensor, in the op's layout; all tensors have their channels last."""
        shapes = self._shapes({name: x.shape for name, x in every.items()})
        dtype = np.result_type(*(x.dtype for x in every.values()))
        arrays = {name: every[name] if name != result else np.zeros(shapes[name], dtype) for name in TENSORS}
        _TO[result](self._geometry(shapes), *arrays.values())
        return self._from_canonical(result, arrays[result], shapes["image"][-1])

    def _shapes(self, known: Mapping[str, Shape]) -> dict[str, Shape]:
        """The shapes of all tensors, with their channels last, from those of the two that the function takes."""
        shapes = dict(known)
        if self.result == "output":
            shapes["output"] = (shapes["image"][0], *self._geometry(shapes).output, shapes["filter"][-1])
        elif self.size:
            shapes[self.result] = self._to_canonical(self.result, np.empty(self.size, bool)).shape
        elif self.result == "image":
            kernel, output = shapes["filter"], shapes["output"]
            windows = [(n - 1) * d + 1 for n, d in zip(kernel, self.dilations, strict=False)]
            places = tuple((n - 1) * s + w for n, s, w in zip(output[1:], self.strides, windows, strict=False))
            shapes["image"] = (output[0], *places, kernel[-1] // self.depthwise if self.depthwise else kernel[-2])
        elif self.result == "filter":
            image, output = shapes["image"], shapes["output"]
            spans = [n - (m - 1) * s for n, m, s in zip(image[1:], output[1:], self.strides, strict=False)]
            places = tuple((n - 1) // d + 1 for n, d in zip(spans, self.dilations, strict=False))
            shapes["filter"] = (*places, 1 if self.depthwise else image[-1], output[-1])
        return shapes

    def _geometry(self, shapes: Mapping[str, Shape]) -> Geometry:
        """The places of an image and a filter of these shapes, with their channels last."""
        return Geometry(shapes["image"][1:-1], shapes["filter"][:-2], self.strides, self.dilations, self.padding)

    def _canonical(self, xs: Sequence[np.ndarray]) -> dict[str, np.ndarray]:
        return {name: self._to_canonical(name, long(x)) for name, x in zip(self.names, xs, strict=True)}

    def _to_canonical(self, name: str, x: np.ndarray) -> np.ndarray:
        """A tensor with its channels last, and with filters as of an ordinary convolution in groups."""
        if name == "filter" and self.depthwise:
            return x.reshape(*x.shape[:-2], 1, x.shape[-2] * x.shape[-1])
        return np.moveaxis(x, 1, -1) if self.channels_first and name != "filter" else x

    def _from_canonical(self, name: str, x: np.ndarray, channels: int) -> np.ndarray:
        """A tensor in the op's layout; `channels` are those of the image."""
        if name == "filter" and self.depthwise:
            return x.reshape(*x.shape[:-2], channels, self.depthwise)
        return np.moveaxis(x, -1, 1) if self.channels_first and name != "filter" else x


def of_windows(convolution: Convolution, *xs: np.ndarray) -> np.ndarray:
    """A convolution by another method: a padded image's windows, by NumPy's `sliding_window_view`, times the filter."""
    every = convolution._canonical(xs)
    x, w = every["image"], every["filter"]
    dims = w.ndim - 2
    geometry = convolution._geometry({name: array.shape for name, array in every.items()})
    windows = [(n - 1) * d + 1 for n, d in zip(w.shape, convolution.dilations, strict=False)]
    last = [(n - 1) * s + k for n, s, k in zip(geometry.output, convolution.strides, windows, strict=True)]
    before = [geometry.extents(i)[1] for i in range(dims)]
    after = [max(n - b - m, 0) for n, b, m in zip(last, before, x.shape[1:], strict=False)]
    filled = np.pad(x, ((0, 0), *zip(before, after, strict=True), (0, 0)))
    views = np.lib.stride_tricks.sliding_window_view(filled, windows, axis=tuple(range(1, 1 + dims)))
    used = [slice(0, n * s, s) for n, s in zip(geometry.output, convolution.strides, strict=True)]
    views = views[:, *used, :, *(slice(None, None, d) for d in convolution.dilations)]
    groups, inputs, outputs = _channels(x, w, w)
    views = views.reshape(*views.shape[: 1 + dims], groups, inputs, *w.shape[:-2])
    grouped = w.reshape(*w.shape[:-2], inputs, groups, outputs)
    places = "uvw"[:dims]
    terms = np.einsum(f"...gi{places},{places}igo->...go", views, grouped)
    return convolution._from_canonical("output", terms.reshape(*terms.shape[:-2], w.shape[-1]), x.shape[-1])
