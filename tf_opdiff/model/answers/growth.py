"""Growth: where the rounding of a program becomes large, by the errors that one more rounding of each op causes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from tf_opdiff.model.recordings.recorded import Recording

#: The error that counts as that of one rounding, for an op that takes exact values.
_UNIT = 2.0**-53


@dataclass(frozen=True)
class Growth:
    """The op in which rounding grows most on the way to a result, the first op of that way, and the factor."""

    op: int
    source: int
    factor: float


def growth(recording: Recording, errors: Sequence[float], result: int) -> Growth | None:
    """The growth on the way to a result, a number of a value; None if no op gives it, or rounding does not reach it.

    The way goes back from each op to the operand with the largest error.

    Args:
      recording: the ops.
      errors: the relative error of each op if each result of an op is rounded once more.
      result: the number of a value.
    """
    way, number = list[int](), recording.producers.get(result)
    while number is not None and errors[number]:
        way.append(number)
        number = _largest(recording, errors, number)
    if not way:
        return None
    factors = {n: _factor(errors[n], _taken(recording, errors, n, way[-1])) for n in way}
    worst = max(reversed(way), key=factors.__getitem__)
    return Growth(worst, way[-1], factors[worst])


def _largest(recording: Recording, errors: Sequence[float], number: int) -> int | None:
    """The op whose result is the operand of an op with the largest error; None if all operands are exact."""
    op = recording.ops[number]
    origins = {n for v in op.operands if (n := recording.producers.get(v)) is not None and n < number}
    origin = max(sorted(origins), key=lambda n: errors[n], default=None)
    return origin if origin is not None and errors[origin] else None


def _taken(recording: Recording, errors: Sequence[float], number: int, first: int) -> float:
    """The largest error that an op takes."""
    origin = _largest(recording, errors, number)
    return errors[origin] if origin is not None else min(errors[first], errors[number])


def _factor(given: float, taken: float) -> float:
    if math.isinf(given):
        return math.inf if math.isfinite(taken) else 1.0
    return given / max(taken, _UNIT) if math.isfinite(taken) else 0.0
