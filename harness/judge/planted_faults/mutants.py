"""Mutants: wrong results, made of a right one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import ml_dtypes
import numpy as np

from tf_opdiff.harness.device.observation import Result
from tf_opdiff.harness.judge.differences.difference import ulp_of
from tf_opdiff.harness.judge.promises.loose_bounds import part_of
from tf_opdiff.harness.judge.promises.want import Want
from tf_opdiff.harness.spec.inputs.recipes import is_float

#: (the right result, the inputs of the op) → a wrong result, or None where there is none of its kind.
Mutant = Callable[[Result, Sequence[np.ndarray]], Result | None]


def _value(change: Callable[[np.ndarray], np.ndarray | None]) -> Mutant:
    """The mutant that changes a result's array."""

    def mutant(truth: Result, _inputs: Sequence[np.ndarray]) -> Result | None:
        if truth.value is None:
            return None
        value = change(truth.value)
        return None if value is None else replace(truth, value=value)

    return mutant


def _numeric(array: np.ndarray) -> bool:
    return array.dtype.kind in "fciu" or is_float(array.dtype)


def _floating(array: np.ndarray) -> bool:
    return array.dtype.kind == "c" or is_float(array.dtype)


def _where(condition: Callable[[np.ndarray], np.ndarray], new: Callable[[np.ndarray], Any]) -> Mutant:
    return _value(lambda a: np.where(condition(a), new(a), a).astype(a.dtype) if is_float(a.dtype) else None)


def _last(array: np.ndarray) -> np.ndarray | None:
    """The array with a wrong last element, as from a vector loop that skips its tail."""
    if not array.size:
        return None
    changed = array.copy()
    flat = changed.reshape(-1)
    flat[-1] = (not flat[-1]) if array.dtype == bool else b"?" if array.dtype == object else -flat[-1] - 1
    return changed


def _small(array: np.ndarray) -> np.ndarray:
    """Where a float or complex number is below 1/1000 of the largest finite one, and neither subnormal nor zero."""
    size = np.abs(array.astype(np.complex128 if array.dtype.kind == "c" else np.float64))
    finite, normal = np.isfinite(size), float(ml_dtypes.finfo(part_of(array.dtype)).smallest_normal)
    return finite & (size >= normal) & (size < 1e-3 * np.max(size, where=finite, initial=0.0))


def _all(array: np.ndarray) -> np.ndarray:
    return np.ones(array.shape, bool)


def _times(factor: Callable[[np.dtype], float], where: Callable[[np.ndarray], np.ndarray]) -> Mutant:
    """The mutant that multiplies the elements that `where` selects by a factor, which may depend on the dtype."""

    def change(array: np.ndarray) -> np.ndarray | None:
        if not _floating(array):
            return None
        return np.where(where(array), array * array.dtype.type(factor(array.dtype)), array).astype(array.dtype)

    return _value(change)


def _half_of_the_digits(dtype: np.dtype) -> float:
    """1 + 2^-(p // 2) with p mantissa bits: 1/32 off in float16, 1/8 in bfloat16, 2^-11 in float32, 2^-26 in float64.

    Fewer than half of the digits are then right, which no application would call the right result.
    """
    return 1 + 2.0 ** -(ml_dtypes.finfo(part_of(dtype)).nmant // 2)


def outside(excused: np.ndarray, mutant: Mutant) -> Mutant:
    """The mutant without its changes to the excused elements."""

    def change(truth: Result, inputs: Sequence[np.ndarray]) -> Result | None:
        wrong = mutant(truth, inputs)
        if wrong is None or wrong.value is None or truth.value is None or not excused.any():
            return wrong
        return replace(wrong, value=np.where(excused, truth.value, wrong.value).astype(truth.value.dtype))

    return change


def past(want: Want) -> Mutant:
    """The mutant with one wrong element, an ULP beyond budget and bound, where they allow the smallest error."""

    def change(array: np.ndarray) -> np.ndarray | None:
        if not is_float(array.dtype):
            return None
        ulp = ulp_of(np.where(np.isfinite(array), array, 0), array.dtype)
        allowed = np.broadcast_to(want.allowed(ulp) / ulp, array.shape)
        wrong = array + np.where(array > 0, 1, -1) * (np.floor(allowed + 0.5) + 1) * ulp
        usable = ~want.ambiguous & np.isfinite(array) & (np.abs(wrong) < float(ml_dtypes.finfo(array.dtype).max))
        if not usable.any():
            return None
        changed, at = array.copy().reshape(-1), np.argmin(np.where(usable, allowed, np.inf))
        right, value = changed[at], wrong.reshape(-1)[at].astype(array.dtype)
        if abs(float(value) - float(right)) <= (allowed * ulp).reshape(-1)[at]:  # it was rounded back
            value = np.nextafter(value, np.copysign(np.inf, value).astype(array.dtype), dtype=array.dtype)
        changed[at] = value
        return changed.reshape(array.shape)

    return _value(change)


def _identity(truth: Result, inputs: Sequence[np.ndarray]) -> Result | None:
    """The first input with the result's shape and dtype, in place of the result."""
    if truth.value is None:
        return None
    same = (x for x in inputs if x.shape == truth.value.shape and x.dtype == truth.value.dtype)
    first = next(same, None)
    return None if first is None else replace(truth, value=first)


def _dropped(truth: Result, _inputs: Sequence[np.ndarray]) -> Result | None:
    return None if truth.status in ("unconnected", "error") else Result("unconnected")


def _connected(truth: Result, inputs: Sequence[np.ndarray]) -> Result | None:
    """Zeros where the gradient should be unconnected."""
    return Result("value", np.zeros_like(inputs[0])) if truth.status == "unconnected" and inputs else None


def _raised(truth: Result, _inputs: Sequence[np.ndarray]) -> Result | None:
    return None if truth.status == "error" else Result("error", code="INTERNAL", message="planted")


def _swallowed(truth: Result, inputs: Sequence[np.ndarray]) -> Result | None:
    return Result("value", np.zeros_like(inputs[0])) if truth.status == "error" and inputs else None


def _other_error(truth: Result, _inputs: Sequence[np.ndarray]) -> Result | None:
    return replace(truth, code="UNKNOWN") if truth.status == "error" and truth.code != "UNKNOWN" else None


MUTANTS: dict[str, Mutant] = {
    "zeros": _value(np.zeros_like),
    "ones": _value(lambda a: np.ones_like(a) if a.dtype != object else None),
    "identity": _identity,
    "sign flipped": _value(lambda a: -a if _numeric(a) else None),
    "negated": _value(lambda a: ~a if a.dtype == bool else None),
    "last element": _value(_last),
    "rolled": _value(lambda a: np.roll(a, 1)),
    "transposed": _value(lambda a: a.T if a.ndim > 1 else None),
    "reduced": _value(lambda a: a[:1] if a.ndim and a.shape[0] > 1 else None),
    "halved": _value(lambda a: (a / 2).astype(a.dtype) if _floating(a) else None),
    "widened": _value(lambda a: a.astype(np.float64) if is_float(a.dtype) and a.itemsize < 8 else None),
    "NaN to 0": _where(np.isnan, lambda a: 0),
    "inf to max": _where(np.isinf, lambda a: np.copysign(ml_dtypes.finfo(a.dtype).max, a)),
    "-0 to +0": _where(lambda a: a == 0, lambda a: 0),
    "subnormal to 0": _where(
        lambda a: (a != 0) & (np.abs(a) < ml_dtypes.finfo(a.dtype).smallest_normal), lambda a: np.copysign(0, a)
    ),
    "dropped": _dropped,
    "zeros for none": _connected,
    "raised": _raised,
    "swallowed": _swallowed,
    "other error": _other_error,
}


#: Mutants of specs of one op. They leave alone the elements whose wide room is excused: see `loose_bounds`.
STRICT: dict[str, Mutant] = {
    "relative error": _times(_half_of_the_digits, _all),
    "small to 0": _times(lambda dtype: 0.0, _small),
    "small negated": _times(lambda dtype: -1.0, _small),
}
