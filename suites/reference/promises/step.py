"""Step: the result of one op of a formula, computed with NumPy and rounded to its dtype, as eager mode does.

Operations that IEEE 754 rounds exactly are done by NumPy in the dtype. Other functions are evaluated in a wider dtype,
and may be off by `ULPS`: the specs of the ops themselves measure their errors. A radius holds this uncertainty; every
later op is evaluated at the ends of the interval, so that the radius of its result follows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np

from tf_opdiff.harness.judge.differences.difference import ulp_of
from tf_opdiff.harness.spec.inputs.recipes import is_float

#: The largest error of a function that IEEE 754 does not round exactly, in ULPs of its result.
ULPS = 8.0


class Flushing(NamedTuple):
    """The subnormals that arithmetic takes for zeros: those among its inputs, those among its results."""

    inputs: bool = False
    results: bool = False


#: Subnormals stay as they are.
NONE = Flushing()


@dataclass(frozen=True, eq=False)
class Step:
    """The result of an op: an array in its dtype, and the largest error of each element, in float64; None for no error.

    A Python operator is the ufunc that NumPy uses for it; it rounds exactly.
    """

    value: np.ndarray
    radius: np.ndarray | None = None
    flushing: Flushing = NONE

    def __add__(self, other: Any) -> Step:
        return exact(np.add)(self, other)

    def __radd__(self, other: Any) -> Step:
        return exact(np.add)(other, self)

    def __sub__(self, other: Any) -> Step:
        return exact(np.subtract)(self, other)

    def __rsub__(self, other: Any) -> Step:
        return exact(np.subtract)(other, self)

    def __mul__(self, other: Any) -> Step:
        return exact(np.multiply)(self, other)

    def __rmul__(self, other: Any) -> Step:
        return exact(np.multiply)(other, self)

    def __truediv__(self, other: Any) -> Step:
        return exact(np.divide)(self, other)

    def __rtruediv__(self, other: Any) -> Step:
        return exact(np.divide)(other, self)

    def __floordiv__(self, other: Any) -> Step:
        return exact(np.floor_divide)(self, other)

    def __mod__(self, other: Any) -> Step:
        return exact(np.remainder)(self, other)

    def __neg__(self) -> Step:
        return signed(np.negative)(self)

    def __lt__(self, other: Any) -> Step:
        return exact(np.less)(self, other)

    def __le__(self, other: Any) -> Step:
        return exact(np.less_equal)(self, other)

    def __gt__(self, other: Any) -> Step:
        return exact(np.greater)(self, other)

    def __ge__(self, other: Any) -> Step:
        return exact(np.greater_equal)(self, other)

    def __getitem__(self, at: Any) -> Step:
        return moved(lambda a: a[at])(self)

    @property
    def ends(self) -> tuple[np.ndarray, np.ndarray]:
        """The values nearest to zero and farthest from zero that the radius allows, in the dtype."""
        if self.radius is None:
            return self.value, self.value
        value = widened(self.value)
        size, sign = np.abs(value), np.copysign(1, value)
        near, far = (np.where(np.isfinite(value), s * sign, value) for s in (size - self.radius, size + self.radius))
        return _flushed(near.astype(self.value.dtype), self.flushing.results), far.astype(self.value.dtype)


def _as_steps(arguments: Sequence[Any]) -> tuple[list[Step], Flushing]:
    """The arguments as steps; a Python number or list takes the dtype of the first step, as in TensorFlow.

    Without a step, floats are float32.
    """
    plain = Step(np.asarray(arguments[0]) if isinstance(arguments[0], bool) else np.zeros((), np.float32))
    first = next((a for a in arguments if isinstance(a, Step)), plain)
    steps = [a if isinstance(a, Step) else Step(np.asarray(a).astype(first.value.dtype)) for a in arguments]
    return steps, next((s.flushing for s in steps if s.flushing != NONE), NONE)


def _flushed(array: np.ndarray, on: bool) -> np.ndarray:
    """The array with a zero of the same sign for each subnormal; float16 is computed in float32, which has them."""
    if not on or not is_float(array.dtype) or array.dtype == np.float16:
        return array
    tiny = np.abs(array) < ml_dtypes.finfo(array.dtype).smallest_normal
    return np.where(tiny, np.copysign(array.dtype.type(0), array), array)


def widened(array: np.ndarray) -> np.ndarray:
    """Floats in a dtype of at least 11 more bits; other arrays unchanged."""
    if not is_float(array.dtype):
        return array
    return array.astype(np.longdouble if array.dtype == np.float64 else np.float64)


def _radius(f: Callable[..., Any], steps: Sequence[Step], result: np.ndarray) -> np.ndarray | None:
    """The largest distance between a result and f at the ends of its arguments' intervals; None if they are exact."""
    if all(s.radius is None for s in steps) or not is_float(result.dtype):
        return None
    wides = [widened(s.value) for s in steps]
    ends = [(w,) if s.radius is None else (w - s.radius, w + s.radius) for w, s in zip(wides, steps, strict=True)]
    distances = [np.abs(f(*corner) - widened(result)) for corner in product(*ends)]
    finite = np.isfinite(widened(result))
    return np.where(finite, np.fmax.reduce(distances), 0).astype(np.float64) + _rounding(result, 1)


def _rounding(result: np.ndarray, ulps: float) -> np.ndarray:
    """The given number of ULPs of each element; none of a zero, of an infinity and of NaN."""
    near = widened(result).astype(np.float64)
    finite = np.isfinite(near) & (near != 0)
    return np.where(finite, ulps * ulp_of(np.where(finite, near, 1.0), result.dtype), 0.0)


def exact(f: Callable[..., Any]) -> Callable[..., Step]:
    """The step of an op that IEEE 754 rounds exactly, or whose result needs no rounding; f works in each dtype."""

    def step(*arguments: Any) -> Step:
        steps, flushing = _as_steps(arguments)
        result = np.asarray(f(*(_flushed(s.value, flushing.inputs) for s in steps)))
        result = _flushed(result, flushing.results)
        return Step(result, _radius(f, steps, result), flushing)

    return step


def rounded(f: Callable[..., Any], ulps: float = ULPS) -> Callable[..., Step]:
    """The step of a function that is evaluated in a wider dtype, and may be off by that number of ULPs.

    On integers it is exact.
    """

    def step(*arguments: Any) -> Step:
        steps, flushing = _as_steps(arguments)
        if not is_float(steps[0].value.dtype):
            return exact(f)(*steps)
        wide = np.asarray(f(*(widened(_flushed(s.value, flushing.inputs)) for s in steps)))
        result = _flushed(wide.astype(steps[0].value.dtype), flushing.results)
        before = _radius(f, steps, result)
        return Step(result, _rounding(result, ulps) + (0.0 if before is None else before), flushing)

    return step


def signed(f: Callable[..., Any]) -> Callable[[Step], Step]:
    """The step of an op that changes signs only."""
    return lambda x: Step(np.asarray(f(x.value)), x.radius, x.flushing)


def moved(f: Callable[..., Any]) -> Callable[..., Any]:
    """The step of an op that moves elements of one array, into one array or a list of them."""

    def step(x: Step, *more: Any, **keywords: Any) -> Any:
        value, radius = (None if a is None else f(a, *more, **keywords) for a in (x.value, x.radius))
        if isinstance(value, list):
            radii = [None] * len(value) if radius is None else radius
            return [Step(v, r, x.flushing) for v, r in zip(value, radii, strict=True)]
        return Step(np.asarray(value), radius, x.flushing)

    return step


def gathered(f: Callable[..., Any]) -> Callable[..., Step]:
    """The step of an op that moves elements of several arrays into one; f takes a list of arrays."""

    def step(values: Sequence[Any], *more: Any, **keywords: Any) -> Step:
        steps, flushing = _as_steps(values)
        exact = all(s.radius is None for s in steps)
        radii = [np.zeros(s.value.shape) if s.radius is None else s.radius for s in steps]
        radius = None if exact else np.asarray(f(radii, *more, **keywords))
        return Step(np.asarray(f([s.value for s in steps], *more, **keywords)), radius, flushing)

    return step


def cast(x: Step, dtype: Any) -> Step:
    """Conversion to a dtype, rounded to nearest; a float becomes an integer towards zero."""
    source, target = x.value.dtype, np.dtype(dtype)
    value = _flushed(x.value, x.flushing.inputs)
    if target.kind in "iu" and is_float(source):
        value = np.trunc(widened(value))
    result = _flushed(value != 0 if target.kind == "b" else value.astype(target), x.flushing.results)
    return Step(result, _radius(lambda v: v, [x], result), x.flushing)


def where(condition: Any, x: Any, y: Any) -> Step:
    """x where the condition holds, else y. The condition is exact: a step, or a Python value."""
    steps, flushing = _as_steps((x, y))
    test = condition.value if isinstance(condition, Step) else np.asarray(condition)
    radii = [np.zeros(()) if s.radius is None else s.radius for s in steps]
    radius = np.where(test, *radii) if any(s.radius is not None for s in steps) else None
    return Step(np.where(test, steps[0].value, steps[1].value), radius, flushing)
