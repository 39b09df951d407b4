"""Pooling: calls of ops of windows, in two and three dimensions and in both layouts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from tf_opdiff.suites.forms.calls import Call, Calls, Wrong
from tf_opdiff.suites.forms.errors import IN_KERNEL, WHEN_BUILT
from tf_opdiff.suites.reference.pooling import Pooling, Windows
from tf_opdiff.suites.reference.promise import Promise

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Pool:
    """Windows over the images of a tensor.

    shape       of the tensor: batch, image, channels, or batch, channels, image with `first`.
    size        of a window, along each dimension of an image.
    stride      from window to window.
    padding     `VALID`, `SAME`, or the numbers of elements before and after each dimension of an image in turn.
    first       whether the channels come before the images.
    deep        the size and the stride of windows along the channels.
    """

    shape: Shape
    size: Shape
    stride: Shape
    padding: str | Shape = "VALID"
    first: bool = False
    deep: int = 1

    @property
    def windows(self) -> Windows:
        """The same windows over the whole tensor."""
        padding = self.padding if isinstance(self.padding, str) else self._laid((0, 0), self.padding, (0, 0))
        return Windows(self._laid((1,), self.size, (self.deep,)), self._laid((1,), self.stride, (self.deep,)), padding)

    @property
    def attrs(self) -> dict[str, Any]:
        """The attributes of an op."""
        windows, layout = self.windows, {2: ("NHWC", "NCHW"), 3: ("NDHWC", "NCDHW")}[len(self.size)]
        explicit = not isinstance(windows.padding, str)
        return {
            "ksize": [*windows.sizes],
            "strides": [*windows.strides],
            "padding": "EXPLICIT" if explicit else windows.padding,
            **({"explicit_paddings": [*windows.padding]} if explicit else {}),
            **({"data_format": layout[1]} if self.first else {}),
        }

    @property
    def outputs(self) -> Shape:
        """The shape of the result."""
        return self.windows.outputs(self.shape)

    def _laid(self, batch: Shape, image: Shape, channels: Shape) -> Shape:
        """The numbers of a batch, of an image and of channels, in the order of the layout."""
        return (*batch, *channels, *image) if self.first else (*batch, *image, *channels)


Pools = Mapping[str, Pool]
#: Images of two dimensions: windows apart, overlapping, with gaps, as large as the image, larger, and of one element.
POOLS: Pools = {
    "valid": Pool((2, 5, 7, 3), (2, 3), (2, 3)),
    "same": Pool((2, 5, 7, 3), (3, 2), (2, 2), "SAME"),
    "overlapping": Pool((1, 4, 5, 2), (2, 4), (1, 1)),
    "gaps": Pool((1, 7, 5, 2), (1, 2), (3, 3)),
    "whole": Pool((2, 4, 2, 3), (4, 2), (1, 1)),
    "larger": Pool((1, 3, 4, 2), (6, 9), (2, 1), "SAME"),
    "element": Pool((1, 2, 3, 1), (1, 1), (1, 1)),
}
#: Windows along the channels.
DEEP: Pools = {"depth": Pool((2, 2, 3, 6), (1, 1), (1, 1), deep=3)}
#: Numbers before and after each dimension of an image.
EXPLICIT: Pools = {"explicit": Pool((2, 5, 4, 3), (3, 2), (2, 1), (1, 2, 0, 1))}
CHANNELS_FIRST: Pools = {
    "valid": Pool((2, 3, 5, 7), (2, 3), (2, 3), first=True),
    "same": Pool((2, 3, 5, 7), (3, 2), (2, 2), "SAME", first=True),
}
CUBES: Pools = {
    "valid": Pool((2, 4, 3, 5, 2), (2, 3, 2), (2, 1, 2)),
    "same": Pool((1, 3, 5, 2, 3), (2, 2, 3), (2, 3, 1), "SAME"),
    "overlapping": Pool((1, 3, 4, 3, 2), (2, 3, 2), (1, 1, 1)),
    "whole": Pool((2, 1, 4, 2, 3), (1, 4, 2), (1, 1, 1)),
    "larger": Pool((1, 2, 3, 1, 2), (5, 4, 3), (1, 2, 1), "SAME"),
}
CUBES_CHANNELS_FIRST: Pools = {"same": Pool((1, 3, 3, 5, 2), (2, 2, 3), (2, 3, 1), "SAME", first=True)}
#: Tensors without elements, or with one, under windows of two elements along each dimension.
_SMALL = {
    "no_images": (0, 3, 2, 2),
    "no_rows": (2, 0, 3, 2),
    "no_columns": (2, 3, 0, 2),
    "no_channels": (2, 3, 2, 0),
    "nothing": (0, 0, 0, 0),
    "one": (1, 1, 1, 1),
    "one_row": (1, 1, 5, 1),
}


def small(rank: int) -> dict[str, Pools]:
    """Tensors without elements, or with one, of images of this rank."""
    return {
        label: {"pair": Pool((*shape[:2], *shape[1:2] * (rank - 2), *shape[2:]), (2,) * rank, (1,) * rank, "SAME")}
        for label, shape in _SMALL.items()
    }


def together(rank: int) -> Pools:
    """Windows around each element of images of this rank: the result has the shape of the tensor."""
    return {"around": Pool((2, *(3, 4, 2)[:rank], 2), (3, 2, 2)[:rank], (1,) * rank, "SAME")}


def of_tensor(op: str, argument: str, promise: Callable[[Windows], Promise], pools: Pools, **more: Any) -> Calls:
    """Calls of an op of one tensor, the argument of this name; `more` are further attributes."""

    def call(attrs: Mapping[str, Any], tf: Any, x: Any) -> Any:
        return getattr(tf.raw_ops, op)(**{argument: x}, **attrs)

    return {label: Call(partial(call, p.attrs | more), promise(p.windows), (p.shape,)) for label, p in pools.items()}


def of_upstream(
    op: str, promise: Callable[[Windows, Shape], Promise], pools: Pools, *, sized: bool = True, **more: Any
) -> Calls:
    """Calls of an op of an upstream and of the shape of the tensor that was pooled.

    Args:
      op: the OpDef.
      promise: makes its promise.
      pools: the windows.
      sized: whether the shapes are constants; otherwise, they are those of the upstream.
      more: further attributes, which come first.
    """

    def call(shape: Shape | None, attrs: Mapping[str, Any], tf: Any, g: Any) -> Any:
        return getattr(tf.raw_ops, op)(orig_input_shape=tf.shape(g) if shape is None else [*shape], grad=g, **attrs)

    return {
        label: Call(
            partial(call, p.shape if sized else None, p.attrs | more),
            promise(p.windows, p.shape if sized else ()),
            (p.outputs,),
        )
        for label, p in pools.items()
    }


def of_both(
    op: str,
    promise: Callable[[Windows], Promise],
    forward: Callable[[Windows], Pooling],
    pools: Pools,
    *,
    names: tuple[str, str, str] = ("orig_input", "grad", "orig_output"),
    like_input: bool = False,
    **more: Any,
) -> Calls:
    """Calls of an op of the tensor that was pooled, of an upstream, and of the result of the forward op.

    Args:
      op: the OpDef.
      promise: makes its promise.
      forward: makes the promise of the forward op.
      pools: the windows.
      names: the names of the three arguments.
      like_input: whether the upstream has the shape of the tensor; otherwise, it has that of the result.
      more: further attributes, which come first.
    """

    def call(attrs: Mapping[str, Any], tf: Any, *xs: Any) -> Any:
        return getattr(tf.raw_ops, op)(**dict(zip(names, xs, strict=True)), **attrs)

    def result(windows: Windows, x: np.ndarray, g: np.ndarray) -> np.ndarray:
        y = forward(windows).f(x if x.dtype.kind in "iu" else x.astype(np.float64))
        return y if y.dtype.kind in "iu" else y.astype(x.dtype)

    return {
        label: Call(
            partial(call, p.attrs | more),
            promise(p.windows),
            (p.shape, p.shape if like_input else p.outputs),
            computed=(partial(result, p.windows),),
        )
        for label, p in pools.items()
    }


def refused(calls: Callable[..., Calls], rank: int, changes: Mapping[str, Mapping[str, Any]]) -> dict[str, Wrong]:
    """Calls that an op refuses, by label.

    Args:
      calls: calls(pools, **attrs) → the calls of some windows, with other attributes.
      rank: that of an image.
      changes: label → the attributes that are wrong; `shape` is that of all tensors, `promise` that of the error, as
        fields of a spec.
    """
    pool = Pool((1, *(3,) * rank, 2), (2,) * rank, (1,) * rank)
    wrong = {}
    for label, change in changes.items():
        attrs = {key: value for key, value in change.items() if key not in ("shape", "promise")}
        (call,) = calls({label: pool}, **attrs).values()
        shapes = (*(call.shapes or ()), *(pool.outputs for _ in call.computed))
        fitting = tuple(change.get("shape", shape) for shape in shapes)
        wrong[label.replace("_", "-")] = Wrong(call.program, fitting, change.get("promise", WHEN_BUILT))
    return wrong


def bad_attributes(rank: int) -> dict[str, dict[str, Any]]:
    """Attributes that every pooling of images of this rank refuses: see `refused`."""
    ones = [1] * rank
    return {
        "too_large": {"ksize": [1, 5, *ones[1:], 1]},
        "large_by_one": {"ksize": [1, 4, *ones[1:], 1]},
        "no_stride": {"strides": [1, 0, *ones[1:], 1]},
        "negative_stride": {"strides": [1, -1, *ones[1:], 1]},
        "no_size": {"ksize": [1, *ones[1:], 0, 1], "promise": IN_KERNEL},
        "negative_size": {"ksize": [1, *ones[1:], -2, 1], "promise": IN_KERNEL},
        "too_flat": {"shape": (3,) * (rank + 1)},
        "too_deep": {"shape": (1,) * (rank + 3)},
        "few_sizes": {"ksize": [1, *ones, 1][:3]},
        "few_strides": {"strides": [1, *ones, 1][:3]},
        "unknown_padding": {"padding": "FULL"},
    }
