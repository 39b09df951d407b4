"""Loose bounds: the elements of a promise at which its budget and its bound allow almost any result.

The room of an element is the largest distance from the promise that is allowed. It is too wide if it is more than half
of the digits of the dtype: then a result passes that `harness.judge.severity` would not even call an error of accuracy.
It is also too wide if it is more than 4,096 ULPs, which matters for float64 alone.
Inputs may excuse a wide room: a sum that cancels, or the sine of a huge number, is as uncertain as the inputs are. So a
room is excused where it is at most `ROUNDINGS` times as wide as the change of the exact result when each input moves to
a neighbouring number of its dtype, as upstreams and tangents do (backward stability: Higham, Accuracy and Stability,
section 1.5).

The digits of a complex number are those of its absolute value: complex arithmetic has small errors relative to that
only (Higham, section 3.6).

Only a spec of one op is held to this. Inside a longer program, or in several steps, other numbers than the inputs
cancel, and only its author knows which.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Self

import ml_dtypes
import numpy as np

from tf_opdiff.harness.judge.difference import ulp_of
from tf_opdiff.harness.judge.expectation import expectation, widened
from tf_opdiff.harness.judge.reference import ReferenceFault
from tf_opdiff.harness.judge.want import Want
from tf_opdiff.harness.spec.recipes import Draw, is_float
from tf_opdiff.harness.spec.spec import Case, Side, Spec

#: The number of roundings of the inputs whose effect on the result a room may have.
ROUNDINGS = 128
#: How often inputs move by chance. The changes of a sum may cancel; of hundreds of sums, those of some do four times.
CHANCES = 16
#: The widest room in ULPs that needs no reason: half of the digits of a float32. A float64 keeps to it too.
WIDEST = 2.0**12


def part_of(dtype: np.dtype) -> np.dtype:
    """The dtype of the parts of a complex dtype; any other dtype itself."""
    return np.dtype(f"f{dtype.itemsize // 2}") if dtype.kind == "c" else dtype


def digits_of(dtype: np.dtype) -> float:
    """The width in ULPs of half of the digits of a dtype, but at most `WIDEST`: 64 in float16, 16 in bfloat16."""
    return min(2.0 ** (ml_dtypes.finfo(dtype).nmant // 2 + 1), WIDEST)


def room(want: Want) -> tuple[np.ndarray, np.ndarray]:
    """The largest allowed absolute error of each element, and the ULP of each element, both of the promise's shape.

    The ULP of a complex number is that of its absolute value, in the dtype of its parts.
    """
    assert want.value is not None and want.dtype is not None
    part = part_of(want.dtype)
    size = np.abs(want.value).astype(part).astype(np.float64)
    unit = ulp_of(np.where(np.isfinite(size), size, 0.0), part)
    return want.allowed(unit), unit


@dataclass(frozen=True)
class Rooms:
    """The elements of a promise with too wide a room, and those among them that are excused; of the promise's shape.

    Excused are the elements that the spec declares `loose`, and those that are as uncertain as the inputs.
    """

    wide: np.ndarray
    excused: np.ndarray

    @property
    def faulty(self) -> bool:
        """Whether an element has too wide a room without an excuse."""
        return bool((self.wide & ~self.excused).any())

    @classmethod
    def of(cls, case: Case, side: Side | None, quantity: str, want: Want) -> Self | None:
        """The rooms of a promise in a mode; None if it has no floats, or the program is not one op.

        Elements that are not finite have no room: their class is compared.
        """
        if want.value is None or want.dtype is None or not of_one_op(case.spec):
            return None
        if not is_float(part_of(want.dtype)):
            return None
        allowed, unit = room(want)
        wide = np.isfinite(want.value.astype(want.dtype)) & (allowed > digits_of(part_of(want.dtype)) * unit)
        excused = np.zeros(wide.shape, bool)
        if not wide.any():
            return cls(wide, excused)
        inputs = case.inputs()
        excused |= loose_elements(case, inputs, quantity) & _beside_norm(case, quantity, want, allowed)
        for change in _changes(case, inputs, side, quantity) if (wide & ~excused).any() else ():
            excused |= allowed <= ROUNDINGS * change
            if not (wide & ~excused).any():
                break
        return cls(wide, excused & wide)


def of_one_op(spec: Spec) -> bool:
    """Whether the program of a spec is one op, without state, sessions, claims and functions of the Python API."""
    ops = spec.ops if isinstance(spec.ops, str) else ";".join(spec.ops.values())
    stands_alone = not (spec.evidence or spec.execution.state or spec.execution.sessions or spec.claims)
    return bool(ops) and ";" not in ops and stands_alone


def loose_elements(case: Case, inputs: tuple[np.ndarray, ...], quantity: str) -> np.ndarray:
    """The elements of a quantity that the spec declares `loose`, as a bool array; False without a declaration."""
    loose = case.spec.tolerance.loose_of(quantity)
    return np.asarray(loose(*map(widened, inputs), **case.keywords) if loose else False, bool)


def _beside_norm(case: Case, quantity: str, want: Want, allowed: np.ndarray) -> np.ndarray:
    """The elements that keep half of the digits of the norm along the axes of `Loose.along`; all if it has none."""
    loose, value, dtype = case.spec.tolerance.loose_of(quantity), want.value, want.dtype
    assert value is not None and dtype is not None
    if loose is None or loose.along is None:
        return np.ones(value.shape, bool)
    axes = tuple(axis for axis in loose.along if -axis <= value.ndim)
    sizes = np.abs(np.where(np.isfinite(value), value, 0)).astype(np.float64)
    norm = np.broadcast_to(np.sqrt(np.sum(sizes**2, axis=axes, keepdims=True)), value.shape).copy()
    return np.asarray(allowed <= digits_of(part_of(dtype)) * ulp_of(norm, part_of(dtype)))


def _changes(case: Case, inputs: tuple[np.ndarray, ...], side: Side | None, quantity: str) -> Iterator[np.ndarray]:
    """The change of each exact element when the inputs move to their neighbours; infinite where it is undefined.

    First all inputs move up, then all down; then one up and the next down, as the difference of two numbers changes;
    then each moves either way, by chance, `CHANCES` times.
    """
    base, draw = expectation(case, inputs, side, bounds=False), Draw(case.seed ^ 0x500)
    exact = base.wants[quantity].value
    for ways in ((1, 1), (-1, -1), (1, -1), *((0, 0) for _ in range(CHANCES))):
        moved = _all_moved(inputs, ways, draw)
        upstreams = base.upstreams and _all_moved(base.upstreams, ways, draw)
        tangents = base.tangents and _all_moved(base.tangents, ways, draw)
        these = {"upstreams_of": partial(_these, upstreams), "tangents_of": partial(_these, tangents)}
        try:
            others = expectation(case, moved, side, bounds=False, **these).wants
        except ReferenceFault:
            continue
        other = others[quantity].value if quantity in others else None
        if exact is not None and other is not None and other.shape == exact.shape:
            apart = np.abs(other - exact)
            yield np.where(np.isfinite(apart), apart, np.inf)


def _these(arrays: Any, others: Sequence[np.ndarray], case: Case) -> Any:
    """These upstreams or tangents, whatever the outputs or inputs."""
    return arrays


def _all_moved(xs: Sequence[np.ndarray | None], ways: tuple[int, int], draw: Draw) -> tuple[Any, ...]:
    """The arrays, each with its floats at their neighbours: those of even numbers one way, the others another way."""
    return tuple(None if x is None else _moved(x, ways[i % 2], draw) for i, x in enumerate(xs))


def _moved(x: np.ndarray, way: int, draw: Draw) -> np.ndarray:
    """The array with each float at its next neighbour: up, down, or either by chance if `way` is 0."""
    if x.dtype.kind == "c":
        return (_moved(x.real, way, draw) + 1j * _moved(x.imag, way, draw)).astype(x.dtype)
    if not is_float(x.dtype):
        return x
    ways = np.where(draw.booleans(*x.shape), 1, -1) if way == 0 else np.full(x.shape, way)
    return np.nextafter(x, (ways * np.inf).astype(x.dtype), dtype=x.dtype)
