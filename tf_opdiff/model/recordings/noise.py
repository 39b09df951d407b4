"""Noise: the values of recorded ops if each op rounds more than it does."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np

from tf_opdiff.model.answers import tolerance
from tf_opdiff.model.recordings.recorded import RecordedOp, Recording
from tf_opdiff.model.recordings.values import ValueReader

#: The results of an op, on inputs by the number of the value.
Run = Callable[[RecordedOp, Mapping[int, np.ndarray]], Sequence[np.ndarray]]
#: How far the operands and the results of an op are off, in units of rounding.
Units = Callable[[RecordedOp], tuple[float, float]]


def noisy(recording: Recording, run: Run, units: Units, seed: int) -> dict[int, np.ndarray]:
    """The values that the ops of a program give, by number, if their operands and results are a little off.

    An op that refuses such operands has no values, and later ops take the recorded ones. `seed` is that of the signs.
    """
    read, values = ValueReader(recording.file), dict[int, np.ndarray]()
    for op in recording.ops:
        if op.unplayable:
            continue
        stored = {v: place for v in op.operands if (place := recording.values[v])}
        inputs = {v: values[v] if v in values else read(place) for v, place in stored.items()}
        of_operands, of_results = units(op)
        change = tolerance.shaken(seed and seed * 100_003 + op.number, of_operands)
        results: Sequence[np.ndarray] = ()
        with contextlib.suppress(Exception):  # values that the op does not allow
            results = run(op, {v: change(a) for v, a in inputs.items()} if of_operands else inputs)
        change = tolerance.shaken(seed and seed * 100_019 + op.number, of_results)
        for value, array in zip(op.results, results, strict=False):
            values[value] = change(array) if _rounded(array, inputs.values()) else array
    return values


def _rounded(result: np.ndarray, operands: Iterable[np.ndarray]) -> bool:
    """Whether an op rounded a result: integers are exact, and so is what an op only moves."""
    if not tolerance.is_real(result.dtype) or not np.any(result != np.rint(result)):
        return False
    return not any(np.isin(result, one).all() for one in operands if one.dtype == result.dtype)
