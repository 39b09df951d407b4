"""Loose bounds: the elements of a promise at which its budget and its bound allow almost any result.

The room of an element is the largest distance from the promise that is allowed. It is too wide if it is more than half
of the digits of the dtype: then a result passes that `harness.judge.verdicts.severity` would not even call an error of
accuracy. It is also too wide if it is more than 4,096 ULPs, which matters for float64 alone.
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

from dataclasses import dataclass
from typing import Self

import ml_dtypes
import numpy as np

from tf_opdiff.harness.judge.differences.difference import ulp_of
from tf_opdiff.harness.judge.promises.expectation import widened
from tf_opdiff.harness.judge.promises.moved_inputs import Moved, Scale
from tf_opdiff.harness.judge.promises.want import Want
from tf_opdiff.harness.spec.inputs.recipes import is_float
from tf_opdiff.harness.spec.spec import Spec

#: The number of roundings of the inputs whose effect on the result a room may have.
ROUNDINGS = 128
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
    def of(cls, moved: Moved, quantity: str, want: Want) -> Self | None:
        """The rooms of a promise in a mode; None if it has no floats, or the program is not one op.

        Elements that are not finite have no room: their class is compared.
        """
        case = moved.case
        if want.value is None or want.dtype is None or not of_one_op(case.spec):
            return None
        if not is_float(part_of(want.dtype)):
            return None
        allowed, unit = room(want)
        wide = np.isfinite(want.value.astype(want.dtype)) & (allowed > digits_of(part_of(want.dtype)) * unit)
        excused = np.zeros(wide.shape, bool)
        if not wide.any():
            return cls(wide, excused)
        loose = case.spec.tolerance.loose_of(quantity)
        scale = Scale.of(loose, case.inputs(), part_of(want.dtype)) if loose and not loose.where else None
        if loose and loose.where:
            excused |= np.asarray(loose.where(*map(widened, case.inputs()), **case.keywords), bool)
        roundings: float = ROUNDINGS
        if loose and scale:
            roundings = max(ROUNDINGS, digits_of(scale.dtype), loose.roundings)
            excused |= allowed <= roundings * scale.ulp(want.value, scale.size)
        for change in moved.changes(quantity, scale) if (wide & ~excused).any() else ():
            excused |= allowed <= roundings * change
            if not (wide & ~excused).any():
                break
        return cls(wide, excused & wide)


def of_one_op(spec: Spec) -> bool:
    """Whether the program of a spec is one op, without state, sessions, claims and functions of the Python API."""
    ops = spec.ops if isinstance(spec.ops, str) else ";".join(spec.ops.values())
    stands_alone = not (spec.evidence or spec.execution.state or spec.execution.sessions or spec.claims)
    return bool(ops) and ";" not in ops and stands_alone
