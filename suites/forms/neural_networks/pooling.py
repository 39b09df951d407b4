"""Pooling: calls of ops of windows, in two and three dimensions and in both layouts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from tf_opdiff.harness.spec.plan import WITHOUT_XLA
from tf_opdiff.harness.spec.spec import Side, Spec
from tf_opdiff.suites.forms.calls import Call, Calls, Wrong, unfit
from tf_opdiff.suites.forms.errors import IN_KERNEL, raises
from tf_opdiff.suites.reference.neural_networks.pooling import Pooling, Windows

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
        """The windows, with the axes of the batch and of the depth."""
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
#: The fields of images whose channels are first, of an op whose kernel for CPUs lacks this layout, with oneDNN too.
REFUSED_ON_CPU: dict[str, Any] = {
    "gradient": False,
    "dtypes": ("float32",),
    "contract": {
        f"cpu/{mode}": Side(
            reference=raises("INVALID_ARGUMENT", "HWC"),
            why="TensorFlow's kernel for CPUs takes images whose channels are last; XLA takes both layouts",
        )
        for mode in WITHOUT_XLA
    },
}
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


def pooled(pools: Pools, *shapes: str, forward: Callable[..., Pooling] | None = None, **attributes: Any) -> Calls:
    """Calls with windows.

    Args:
      pools: the windows.
      shapes: for each input that is drawn, whether it has the shape of the `tensor` or that of the `result`.
      forward: makes the promise of the op whose result is the last input: see `windowed`.
      attributes: further attributes.
    """

    def call(pool: Pool) -> Call:
        attrs, each = {**pool.attrs, **attributes}, {"tensor": pool.shape, "result": pool.outputs}
        computed = (partial(_result, forward(**attrs)),) if forward else ()
        return Call(shapes=tuple(each[name] for name in shapes), attrs=attrs, computed=computed)

    return {label: call(pool) for label, pool in pools.items()}


def _result(forward: Pooling, x: np.ndarray, g: np.ndarray) -> np.ndarray:
    y = forward.f(x if x.dtype.kind in "iu" else x.astype(np.float64))
    return y if y.dtype.kind in "iu" else y.astype(x.dtype)


def windowed(kind: Callable[..., Pooling]) -> Callable[..., Pooling]:
    """A function that makes a promise of this kind of the attributes of a call."""

    def promise(
        *,
        ksize: list[int],
        strides: list[int],
        padding: str,
        explicit_paddings: Sequence[int] = (),
        data_format: str = "",
        **more: Any,
    ) -> Pooling:
        return kind(Windows(tuple(ksize), tuple(strides), tuple(explicit_paddings) or padding), **more)

    return promise


def small(rank: int, *shapes: str, **more: Any) -> dict[str, Calls]:
    """Calls with tensors without elements, or with one, of images of this rank; see `pooled`."""
    return {
        label: pooled(
            {"pair": Pool((*own[:2], *own[1:2] * (rank - 2), *own[2:]), (2,) * rank, (1,) * rank, "SAME")},
            *shapes,
            **more,
        )
        for label, own in _SMALL.items()
    }


def together(rank: int) -> Pools:
    """Windows around each element of images of this rank: the result has the shape of the tensor."""
    return {"around": Pool((2, *(3, 4, 2)[:rank], 2), (3, 2, 2)[:rank], (1,) * rank, "SAME")}


def refused(rank: int, changes: Mapping[str, Mapping[str, Any]], *shapes: str, **attributes: Any) -> dict[str, Wrong]:
    """Calls that an op refuses, by label.

    Args:
      rank: that of an image.
      changes: label → the attributes that are wrong; `shape` is that of all tensors, `promise` that of the error, as
        fields of a spec.
      shapes, attributes: as of `pooled`; the inputs that are computed have shapes as well.
    """
    (fitting,) = pooled({"": Pool((1, *(3,) * rank, 2), (2,) * rank, (1,) * rank)}, *shapes, **attributes).values()
    wrong = {}
    for label, change in changes.items():
        own = dict(change)
        shape = own.pop("shape", None)
        wrong[label] = unfit(*(shape or each for each in fitting.shapes or ()), **{**fitting.attrs, **own})
    return wrong


def bad_attributes(rank: int, **promises: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Attributes that every pooling of images of this rank refuses: see `refused`.

    Args:
      rank: that of an image.
      promises: label, with underscores → the promise of an op that has another one.
    """
    ones = [1] * rank
    bad: dict[str, dict[str, Any]] = {
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
    bad |= {label: bad[label] | {"promise": promise} for label, promise in promises.items()}
    return {label.replace("_", "-"): change for label, change in bad.items()}


def in_float32_alone(spec: Spec) -> Spec:
    """The spec; XLA has the kernel of MaxPoolGradGrad, by which others are differentiated twice, in float32 alone."""
    return replace(spec, modes=WITHOUT_XLA) if spec.derivatives.hvp and "float32" not in spec.dtypes else spec
