"""Convolution calls: raw ops of convolutions and of their gradients, with windows of every kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from tf_opdiff.suites.forms.calls import Call, Wrong
from tf_opdiff.suites.forms.errors import WHEN_BUILT
from tf_opdiff.suites.reference.neural_networks.convolution import Convolution
from tf_opdiff.suites.reference.neural_networks.geometry import Geometry, Padding, Shape

#: Label → what does not fit: the shape of a tensor by its name, the `size` of the result, attributes.
Changes = Mapping[str, Mapping[str, Any]]
ARGUMENTS: Mapping[str, str] = {"image": "input", "filter": "filter", "output": "out_backprop"}


@dataclass(frozen=True, kw_only=True)
class Windows:
    """The shapes of an image and of a filter, with their channels last, and how the windows lie.

    strides, dilations      one for each dimension; 1 if empty.
    padding                 `VALID`, `SAME`, or the places before and after each dimension.
    channels_first          whether the op takes the channels of an image before its dimensions.
    """

    image: Shape
    filter: Shape
    strides: Shape = ()
    dilations: Shape = ()
    padding: Padding = "VALID"
    channels_first: bool = False

    @property
    def dimensions(self) -> int:
        """The number of dimensions of an image without its batch and its channels."""
        return len(self.image) - 2

    @property
    def steps(self) -> tuple[Shape, Shape]:
        """The strides and the dilations, one for each dimension."""
        ones = (1,) * self.dimensions
        return self.strides or ones, self.dilations or ones


@dataclass(frozen=True, kw_only=True)
class Convolved:
    """An op of convolution.

    raw         the OpDef.
    result      the tensor that it computes: `output`, or a gradient by `image` or `filter`.
    formats     the values of `data_format` for channels that are last and first; empty without the attribute.
    size        the name of the argument with the size of the result; empty if there is none.
    shape_of    whether that argument is a tensor of this size.
    depthwise   whether each channel has filters of its own.
    grouped     whether an attribute has the number of groups.
    """

    raw: str
    result: str = "output"
    formats: tuple[str, ...] = ("NHWC", "NCHW")
    size: str = ""
    shape_of: bool = False
    depthwise: bool = False
    grouped: bool = False

    def call(self, windows: Windows, *, fixed: bool = True) -> Call:
        """The call of these windows.

        Args:
          windows: the windows.
          fixed: whether the size of the result is a constant. Otherwise, the program computes it from its inputs, for
            windows without strides, dilations and padding.
        """
        promise, shapes = self.promise(windows, fixed=fixed), self.shapes(windows)
        return Call(self.program(windows, promise.size), promise, tuple(shapes[name] for name in promise.names))

    def promise(self, windows: Windows, *, fixed: bool = True) -> Convolution:
        """The promise of a call of these windows; the size of the result may be fixed."""
        strides, dilations = windows.steps
        return Convolution(
            result=self.result,
            strides=strides,
            dilations=dilations,
            padding=windows.padding,
            size=self.shapes(windows)[self.result] if self.result != "output" and fixed else (),
            depthwise=windows.filter[-1] if self.depthwise else 0,
            channels_first=windows.channels_first,
        )

    def shapes(self, windows: Windows) -> dict[str, Shape]:
        """The shapes of all tensors as the op takes them."""
        image, kernel = windows.image, windows.filter
        places = Geometry(image[1:-1], kernel[:-2], *windows.steps, windows.padding).output
        channels = kernel[-2] * kernel[-1] if self.depthwise else kernel[-1]
        shapes = {"image": image, "filter": kernel, "output": (image[0], *places, channels)}
        if windows.channels_first:
            shapes |= {name: (x[0], x[-1], *x[1:-1]) for name, x in shapes.items() if name != "filter"}
        return shapes

    def program(self, windows: Windows, size: Any = (), **changes: Any) -> Callable[..., Any]:
        """program(tf, *xs) → the result; `changes` are attributes in place of those of the windows."""
        attributes = self.attributes(windows) | changes
        names = [ARGUMENTS[name] for name in ARGUMENTS if name != self.result]
        of_each = windows.filter[-1]

        def program(tf: Any, *xs: Any) -> Any:
            arguments = dict(zip(names, xs, strict=True))
            if self.size:
                shape = tf.constant(size, tf.int32) if size else self._size(tf, of_each, *xs)
                arguments[self.size] = tf.zeros(shape, xs[0].dtype) if self.shape_of else shape
            return getattr(tf.raw_ops, self.raw)(**arguments, **attributes)

        return program

    def unfit(self, windows: Windows, promise: Mapping[str, Any], changes: Changes) -> dict[str, Wrong]:
        """Calls that the op refuses.

        If a graph refuses shapes when it is built, a program returns zeros of the shape of the result: in eager mode, a
        kernel may return memory that it did not write, which differs from run to run.

        Args:
          windows: windows that fit.
          promise: the promise of the error, as fields of a spec.
          changes: what does not fit.
        """
        shapes, calls = self.shapes(windows), {}
        for label, change in changes.items():
            tensors = {**shapes, **{name: shape for name, shape in change.items() if name in shapes}}
            other = {name: value for name, value in change.items() if name not in (*shapes, "size")}
            program = self.program(windows, change.get("size", shapes[self.result]), **other)
            if tensors != shapes and promise["reference"] is WHEN_BUILT["reference"]:
                program = _zeros_of(program)
            own = tuple(shape for name, shape in tensors.items() if name != self.result)
            calls[label] = Wrong(program, own, promise)
        return calls

    def attributes(self, windows: Windows) -> dict[str, Any]:
        """The attributes of the op."""
        strides, dilations = windows.steps
        first = windows.channels_first

        def spread(values: tuple[Any, ...], other: Any) -> list[Any]:
            return [other, other, *values] if first else [other, *values, other]

        attributes: dict[str, Any] = {"strides": spread(strides, 1), "dilations": spread(dilations, 1)}
        if isinstance(windows.padding, str):
            attributes["padding"] = windows.padding
        else:
            pairs = spread(windows.padding, (0, 0))
            attributes |= {"padding": "EXPLICIT", "explicit_paddings": [n for pair in pairs for n in pair]}
        if self.formats:
            attributes["data_format"] = self.formats[first]
        if self.grouped:
            attributes["groups"] = windows.image[-1] // windows.filter[-2]
        return attributes

    def _size(self, tf: Any, of_each: int, left: Any, right: Any) -> Any:
        """The size of the result, from the shapes of tensors that may be unknown when a graph is built.

        `of_each` is the number of outputs of each channel, if each channel has filters of its own.
        """
        a, b = tf.shape(left), tf.shape(right)
        if self.result == "image":
            channels = a[-2:-1]
            return tf.concat([b[:1], b[1:-1] + a[:-2] - 1, channels], 0)
        outputs = tf.constant([of_each]) if self.depthwise else b[-1:]
        return tf.concat([a[1:-1] - b[1:-1] + 1, a[-1:], outputs], 0)


def _zeros_of(program: Callable[..., Any]) -> Callable[..., Any]:
    """A program that returns zeros of the shape of another one's result."""
    return lambda tf, *xs: tf.zeros_like(program(tf, *xs))
