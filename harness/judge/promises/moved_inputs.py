"""Moved inputs: how far the exact results of a case change when its inputs change by about a rounding.

Upstreams and tangents move as the inputs do.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, Self

import numpy as np

from tf_opdiff.harness.judge.differences.difference import ulp_of
from tf_opdiff.harness.judge.promises.expectation import Expectation, expectation
from tf_opdiff.harness.judge.promises.reference import ReferenceFault
from tf_opdiff.harness.judge.promises.want import Want
from tf_opdiff.harness.spec.inputs.recipes import Draw, is_float
from tf_opdiff.harness.spec.spec import Case, Side
from tf_opdiff.harness.spec.tolerances.loose import Loose

#: How often inputs move by chance. The changes of a sum may cancel; of hundreds of sums, those of some do four times.
CHANCES = 16
#: The ways in which inputs move: those of even numbers, and the others. First all move up, then all down; then one
#: moves up and the next down, as the difference of two numbers changes; then each element moves either way, by chance.
_WAYS = ((1, 1), (-1, -1), (1, -1), *((0, 0),) * CHANCES)


@dataclass(frozen=True)
class Scale:
    """The sizes to which errors are relative, if they are not those of each element: see `Loose`.

    first   the first axis along which the largest number is looked for.
    dtype   the dtype in which the program computes.
    size    the least size of results.
    """

    first: int
    dtype: np.dtype
    size: float

    @classmethod
    def of(cls, loose: Loose, inputs: Sequence[np.ndarray], dtype: np.dtype) -> Self:
        """The scale that a declaration gives to inputs, for a result of a dtype."""
        rank = max((x.ndim for x in inputs), default=0)
        computed = min(dtype, np.dtype(loose.dtype or dtype), key=lambda each: each.itemsize)
        return cls(0 if loose.last is None else max(rank - loose.last, 0), computed, loose.size)

    def ulp(self, x: np.ndarray, least: float = 0.0) -> np.ndarray:
        """The ULP, in the dtype of the program, of the largest number of x, in a shape that is broadcast to x."""
        sizes = np.abs(np.where(np.isfinite(x), x, 0)).astype(np.float64)
        axes = tuple(range(min(self.first, x.ndim), x.ndim))
        part = np.dtype(f"f{x.dtype.itemsize // 2}") if x.dtype.kind == "c" else x.dtype
        rounded = min(self.dtype, part, key=lambda each: each.itemsize)
        return np.asarray(ulp_of(np.max(sizes, axis=axes, keepdims=True, initial=least), rounded))


@dataclass(frozen=True)
class Moved:
    """The exact results of a case on a side of its contract, for moved inputs; computed once for all quantities."""

    case: Case
    side: Side | None
    _wants: dict[tuple[Scale | None, int], Mapping[str, Want]] = field(default_factory=dict)

    @cached_property
    def base(self) -> Expectation:
        """The promises for the inputs themselves."""
        return expectation(self.case, self.case.inputs(), self.side, bounds=False)

    def changes(self, quantity: str, scale: Scale | None = None) -> Iterator[np.ndarray]:
        """The changes of each exact element of a quantity, one for each way; infinite where it is undefined.

        Each number moves to its neighbour or, with a scale, by the ULP of the largest one.
        """
        exact = self.base.wants[quantity].value
        for number in range(len(_WAYS)):
            if (scale, number) not in self._wants:
                self._wants[scale, number] = self._moved(scale, number)
            wants = self._wants[scale, number]
            other = wants[quantity].value if quantity in wants else None
            if exact is not None and other is not None and other.shape == exact.shape:
                apart = np.abs(other - exact)
                yield np.where(np.isfinite(apart), apart, np.inf)

    def _moved(self, scale: Scale | None, number: int) -> Mapping[str, Want]:
        """The promises for inputs that move in the way with this number; none if the reference refuses them."""
        draw, base, ways = Draw(self.case.seed ^ 0x500 ^ number << 12), self.base, _WAYS[number]
        inputs, upstreams, tangents = (
            xs and _all_moved(xs, ways, draw, scale) for xs in (self.case.inputs(), base.upstreams, base.tangents)
        )
        these = {"upstreams_of": partial(_these, upstreams), "tangents_of": partial(_these, tangents)}
        try:
            return expectation(self.case, inputs or (), self.side, bounds=False, **these).wants
        except ReferenceFault:
            return {}


def _these(arrays: Any, others: Sequence[np.ndarray], case: Case) -> Any:
    """These upstreams or tangents, whatever the outputs or inputs."""
    return arrays


def _all_moved(
    xs: Sequence[np.ndarray | None], ways: tuple[int, int], draw: Draw, scale: Scale | None
) -> tuple[Any, ...]:
    """The arrays, each with its floats moved: those of even numbers one way, the others another way."""
    return tuple(None if x is None else _moved(x, ways[i % 2], draw, scale) for i, x in enumerate(xs))


def _moved(x: np.ndarray, way: int, draw: Draw, scale: Scale | None) -> np.ndarray:
    """The array with each float moved: up, down, or either by chance if `way` is 0."""
    if x.dtype.kind == "c":
        return (_moved(x.real, way, draw, scale) + 1j * _moved(x.imag, way, draw, scale)).astype(x.dtype)
    if not is_float(x.dtype):
        return x
    ways = np.where(draw.booleans(*x.shape), 1, -1) if way == 0 else np.full(x.shape, way)
    if scale is None:
        return np.nextafter(x, (ways * np.inf).astype(x.dtype), dtype=x.dtype)
    return np.asarray((x.astype(np.float64) + ways * scale.ulp(x)).astype(x.dtype))
