"""Dilation: the specs of the largest sums of windows, and of their gradients."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tf_opdiff.harness.spec.plan import WITHOUT_XLA
from tf_opdiff.harness.spec.recipes import FLOATS, INTEGERS, Draw
from tf_opdiff.harness.spec.spec import Spec
from tf_opdiff.suites.forms.calls import Call, Wrong
from tf_opdiff.suites.forms.contraction import upstreams
from tf_opdiff.suites.forms.elements import plain, special
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.part import part, tiered
from tf_opdiff.suites.reference.convolution import Geometry, Padding, Shape
from tf_opdiff.suites.reference.dilation import Dilation

#: XLA has no kernels for dilations.


@dataclass(frozen=True, kw_only=True)
class Grid:
    """The shapes of an image and of a filter, and how the windows lie."""

    image: Shape
    filter: Shape
    strides: Shape = (1, 1)
    rates: Shape = (1, 1)
    padding: Padding = "VALID"

    def shapes(self, result: str) -> tuple[Shape, ...]:
        """The shapes of the inputs of an op with this result."""
        places = Geometry(self.image[1:-1], self.filter[:-1], self.strides, self.rates, self.padding).output
        upstream = (self.image[0], *places, self.image[-1])
        return (self.image, self.filter) if result == "output" else (self.image, self.filter, upstream)


def raw(op: str, grid: Grid, **changes: Any) -> Callable[..., Any]:
    """program(tf, *xs) → the result of a raw op; `changes` are attributes in place of those of the grid."""
    attributes = {
        "strides": [1, *grid.strides, 1],
        "rates": [1, *grid.rates, 1],
        "padding": grid.padding,
        **changes,
    }
    names = ("input", "filter", "out_backprop")
    return lambda tf, *xs: getattr(tf.raw_ops, op)(**dict(zip(names, xs, strict=False)), **attributes)


def dilation(
    name: str,
    raw_op: str,
    result: str,
    grids: Mapping[str, Grid],
    small: Mapping[str, Grid],
    wrong: Mapping[str, Wrong],
) -> tuple[Spec, ...]:
    """The specs of an op of dilation. The default tier has float32, the full tier all other dtypes.

    Args:
      name: the name with which theirs begin.
      raw_op: the OpDef.
      result: `output` of a dilation, `image` or `filter` of its gradients.
      grids: label → a grid; one program has all of them.
      small: label → a grid of tensors without elements, or with one.
      wrong: label → a call that the op refuses.
    """

    def call(grid: Grid) -> Call:
        promise = Dilation(result=result, strides=grid.strides, rates=grid.rates, padding=grid.padding)
        return Call(raw(raw_op, grid), promise, grid.shapes(result))

    calls, gradient = {label: call(grid) for label, grid in grids.items()}, result == "output"
    return op(
        name,
        raw_op,
        part("-integer", recipes={"distinct": _DISTINCT}, dtypes=INTEGERS, tier="full", gradient=False, rounded=()),
        calls=calls,
        recipes={"distinct": _DISTINCT, "upstreams": _DISTINCT},
        upstreams={"upstreams": upstreams},
        forward={"plain": plain, "special": special, "infinite": _infinite} if gradient else {},
        second=("distinct",) if gradient else (),
        small={label: {"only": call(grid)} for label, grid in small.items()},
        of_small=_DISTINCT,
        batch=calls if result != "filter" else {},
        shared=(1,),
        wrong=wrong,
        dtypes=tiered(FLOATS),
        gradient=gradient,
        modes=WITHOUT_XLA,
    )


def _image(draw: Draw, dtype: np.dtype, *shape: int) -> np.ndarray:
    """Multiples of 1, or of 16 in integers: with those of a filter, their sums within a window all differ."""
    return (_numbers(draw, dtype, shape) * _unit(dtype)).astype(dtype)


def _filter(draw: Draw, dtype: np.dtype, *shape: int) -> np.ndarray:
    """Each place has a fraction of its own, a multiple of 1/16, or of 1."""
    own = np.arange(int(np.prod(shape[:-1]))).reshape(*shape[:-1], 1) / 16
    return ((_numbers(draw, dtype, shape) + own) * _unit(dtype)).astype(dtype)


def _upstream(draw: Draw, dtype: np.dtype, *shape: int) -> np.ndarray:
    """Small integers."""
    return _numbers(draw, dtype, shape).astype(dtype)


def _numbers(draw: Draw, dtype: np.dtype, shape: Shape) -> np.ndarray:
    return draw.integers(*shape, low=0 if np.dtype(dtype).kind == "u" else -3, high=3).astype(np.float64)


def _unit(dtype: np.dtype) -> int:
    return 16 if np.dtype(dtype).kind in "iu" else 1


def _infinite(draw: Draw, dtype: np.dtype, *shape: int) -> np.ndarray:
    """Numbers, and negative infinities; some windows have nothing but these."""
    x = draw.values(dtype, *shape)
    x.reshape(-1)[: x.size // 2] = -np.inf
    return x


_DISTINCT = (_image, _filter, _upstream)
