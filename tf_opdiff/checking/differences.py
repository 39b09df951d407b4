"""Differences: the gradient of a NumPy reference by finite differences in float64, with a bound on its error."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

#: The relative steps; each also serves as a step of its own size at numbers below 1.
_STEPS = (6e-6, 2e-4)
#: The most numbers of an input that are moved, and the most numbers that the reference computes for one input.
_MOVED, _WORK = 256, 20_000_000
_EPSILON = float(np.finfo(np.float64).eps)
#: The largest number whose steps grow with it; and the least step, as a share of the number.
_LARGE, _RESOLVED = 1e3, 1e-12
#: The share of an estimate beyond which the two sides count as a kink.
_KINK = 1e-2
#: The share of the scale by which the estimates of a step and of its half may differ.
_AGREE = 0.1


@dataclass(frozen=True)
class Slope:
    """The gradient by one number of an input.

    Attributes:
      index: the place of the number in its input, as an index of the flat array.
      low, high: the gradient is between them.
      scale: the sum of the magnitudes of the outputs' contributions; errors of rounding grow with it.
    """

    index: int
    low: float
    high: float
    scale: float


def slopes(
    reference: Callable[..., Any], inputs: Sequence[np.ndarray], upstreams: Sequence[np.ndarray | None], number: int
) -> list[Slope]:
    """The gradient of a reference by some numbers of one input; none where it can't be bounded, such as at infinities.

    Of a large input, numbers at equal distances are moved.

    Args:
      reference: takes the inputs, and returns an array or a tuple of arrays.
      inputs: floats as float64.
      upstreams: the upstream gradient of each output; None for an output that has none.
      number: the input by which the gradient is taken.
    """
    size = inputs[number].size
    work = sum(np.size(array) for array in (*inputs, *upstreams) if array is not None) * 4 * len(_STEPS)
    count = max(1, min(size, _MOVED, _WORK // max(1, work)))

    def weighed(index: int, by: float) -> np.ndarray:
        """What the outputs contribute, with one number moved."""
        moved = [array.copy() for array in inputs]
        moved[number].reshape(-1)[index] += by
        results = reference(*moved)
        outputs = results if isinstance(results, tuple | list) else (results,)
        pairs = [(out, g) for out, g in zip(outputs, upstreams, strict=True) if g is not None]
        return np.concatenate([(np.asarray(out, np.float64) * g).reshape(-1) for out, g in pairs])

    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        places = np.unique(np.linspace(0, size - 1, count).astype(int)).tolist() if size else []
        found = (_slope(partial(weighed, i), float(inputs[number].reshape(-1)[i]), i, size) for i in places)
        return [slope for slope in found if slope is not None]


def _slope(weighed: Callable[[float], np.ndarray], at: float, index: int, size: int) -> Slope | None:
    """The narrowest bounds of the gradient at a number, of those that the steps give; None if no step gives any."""
    if not np.isfinite(at):
        return None
    here, best = weighed(0.0), None
    steps = {step * unit for step in _STEPS for unit in (min(max(1.0, abs(at)), _LARGE), min(abs(at), _LARGE))}
    for step in sorted(steps):
        step = (at + step) - at  # exact in float64
        if step > abs(at) * _RESOLVED and (one := _between(weighed, here, step, index, size)):
            best = one if best is None or one.high - one.low < best.high - best.low else best
    return best


def _between(
    weighed: Callable[[float], np.ndarray], here: np.ndarray, step: float, index: int, size: int
) -> Slope | None:
    """The bounds of the gradient by one step and its half; None where they do not agree, as at a jump."""
    four = [weighed(by) for by in (step, -step, step / 2, -step / 2)]
    moves = ~np.all([(one == here) | (np.isnan(one) & np.isnan(here)) for one in four], axis=0)
    if not (np.isfinite(here).all() or (here.size == size and np.flatnonzero(moves).tolist() == [index])):
        return None  # which outputs without a number depend on this one is unknown, unless the function is elementwise
    largest = float(np.abs(here[moves] if moves.any() else here).sum())
    up, down, half_up, half_down, here = (one[moves] for one in (*four, here))
    whole, half = (up - down) / (2 * step), (half_up - half_down) / step
    sides = [float(one.sum()) for one in (half, (half_up - here) / (step / 2), (here - half_down) / (step / 2))]
    scale = float(np.abs(half).sum())
    rounding = 8 * _EPSILON * largest / step
    error = abs(float(whole.sum()) - sides[0]) + rounding
    if not np.isfinite([*sides, scale, error]).all() or error > _AGREE * scale + rounding:
        return None
    is_kink = abs(sides[1] - sides[2]) > _KINK * (abs(sides[1]) + abs(sides[2])) + 2 * rounding
    ends = sides if is_kink else sides[:1]
    return Slope(index, min(ends) - error, max(ends) + error, scale)
