"""Tolerance: how far the result of an op or of a program may be from that of another plan.

Where a spec has a budget, that budget is the tolerance. Elsewhere it comes from the condition of the function: the
function runs again, in eager mode, on inputs of which each element is a few units of rounding off. What such a change
does to a result, any correct implementation may do to it as well: the result of a backward stable algorithm is the
exact result for inputs that are a little off (Higham, Accuracy and Stability of Numerical Algorithms, section 1.5).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import ml_dtypes
import numpy as np

from tf_opdiff.harness.judge.differences.compare import compare_arrays
from tf_opdiff.harness.judge.differences.comparison import Comparison
from tf_opdiff.harness.spec.inputs.recipes import is_float

#: The distance of a shaken input from the input, in units of rounding.
SHAKE = 4
#: The seeds of the signs; seed 0 has one sign for all elements, which shows the condition of sums of one sign.
SAMPLES = range(8)
#: The allowed distance in ULPs of a result for which no spec has a budget, however good its condition.
ULP = 16.0
#: The allowed distance of an element in units of rounding of the largest element: large numbers may cancel in an op.
FLOOR = 8
#: Kinds of differences that do not make an op the cause: zeros of another sign, and subnormal numbers that are zero.
MINOR = frozenset({"signed_zero", "subnormal"})


def is_real(dtype: np.dtype) -> bool:
    """Whether a dtype has rounding: floats and complex numbers."""
    return is_float(dtype) or dtype.kind == "c"


def shaken(seed: int, units: float = SHAKE) -> Callable[[np.ndarray], np.ndarray]:
    """A function that moves each element of an array of floats by some units of rounding; others stay as they are.

    Zeros, infinities and NaN stay as well. The signs are random; of seed 0, they are all positive.
    """
    random = np.random.default_rng(seed)

    def change(x: np.ndarray) -> np.ndarray:
        if not is_real(x.dtype):
            return x
        unit = float(ml_dtypes.finfo(x.real.dtype).eps) / 2
        signs = random.integers(0, 2, x.shape) * 2 - 1 if seed else 1
        wide = x.astype(np.complex128 if x.dtype.kind == "c" else np.float64)
        return np.asarray((wide * (1 + units * unit * signs)).astype(x.dtype))

    return change


def terms(inputs: Sequence[np.ndarray], output: np.ndarray) -> float:
    """An estimate of the number of terms in each element of an op's output, at least 1.

    A reduction has size / size of the output terms. A product of two matrices A (m, k) and B (k, n) has
    k = √(m k · k n / (m n)) terms. A convolution has a few times more than this square root.
    """
    sizes = sorted((x.size for x in inputs if is_real(x.dtype)), reverse=True)
    if not sizes or not output.size:
        return 1.0
    product = math.sqrt(sizes[0] * sizes[1] / output.size) if len(sizes) > 1 else 1.0
    return max(1.0, sizes[0] / output.size, product)


def allowed_error(base: np.ndarray, samples: Iterable[np.ndarray], terms: float = 1.0) -> np.ndarray:
    """The allowed absolute error of each element, float64, of the shape of `base`, an array of floats.

    (16 + 4 √n) times the largest change that one unit of rounding of the inputs makes; n is the number of terms, whose
    rounding errors add up like √n (Higham, section 4.6). At least `FLOOR` units of rounding of the largest element.
    """
    finite = np.abs(_wide(base)[np.isfinite(_wide(base))])
    floor = FLOOR * float(ml_dtypes.finfo(base.real.dtype).eps) / 2 * finite.max(initial=0.0)
    return np.maximum(largest_change(base, samples) / SHAKE * (16 + 4 * math.sqrt(terms)), floor)


def largest_change(base: np.ndarray, samples: Iterable[np.ndarray]) -> np.ndarray:
    """The largest finite distance of each element of an array of floats from that of a sample, float64."""
    largest = np.zeros(base.shape)
    with np.errstate(all="ignore"):
        for sample in samples:
            change = np.abs(_wide(sample) - _wide(base))
            largest = np.maximum(largest, np.where(np.isfinite(change), change, 0.0))
    return largest


def _wide(array: np.ndarray) -> np.ndarray:
    return array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)


def same_bits(one: np.ndarray, other: np.ndarray) -> bool:
    """Whether two arrays have one shape, one dtype and the same elements, bit by bit; for texts, the same texts."""
    if one.shape != other.shape or one.dtype != other.dtype:
        return False
    if one.dtype.kind == "O":
        return bool((one == other).all())
    return one.tobytes() == other.tobytes()


def compared(got: np.ndarray, want: np.ndarray, ulps: float, bound: np.ndarray | None = None) -> Comparison:
    """Compares a result with that of another plan; see `harness.judge.differences.compare.compare_arrays`."""
    if same_bits(got, want):
        return Comparison(size=got.size)
    with np.errstate(all="ignore"):
        comparison = compare_arrays(got, want, want.dtype, budget=ulps, bound=bound)
    parts = tuple(replace(part, distances=None) for part in comparison.others)
    return replace(comparison, distances=None, others=parts)


def compared_by_condition(got: np.ndarray, want: np.ndarray, samples: Sequence[np.ndarray]) -> Comparison:
    """Compares a result of a whole program; `samples` are the same result for shaken inputs and variables.

    An integer or boolean that a sample changes may differ. Where rounding alone is as large as the largest element, as
    in the gradient of a bias before a batch normalisation, each element may differ by as much as any other.
    """
    if got.shape != want.shape or got.dtype != want.dtype or same_bits(got, want):
        return compared(got, want, ULP)
    if is_real(want.dtype):
        allowed = allowed_error(want, samples)
        return compared(got, want, ULP, np.full_like(allowed, allowed.max()) if is_noise(want, allowed) else allowed)
    undecided = np.logical_or.reduce([sample != want for sample in samples]) if samples else False
    return compared(np.where(undecided, want, got).astype(got.dtype), want, 0.0)


def is_noise(want: np.ndarray, allowed: np.ndarray) -> bool:
    """Whether no element of a result is larger than the largest allowed error: another sign would be as right."""
    finite = np.abs(_wide(want)[np.isfinite(_wide(want))])
    return bool(allowed.size) and bool(finite.max(initial=0.0) <= allowed.max())


def serious(comparison: Comparison) -> bool:
    """Whether a difference can make an op the cause of other differences."""
    return bool({*comparison.kinds} - MINOR)


def lost(error: float, dtype: np.dtype) -> bool:
    """Whether a result of a dtype with this relative error has lost two thirds of its digits, or any as an integer."""
    if not is_real(dtype):
        return error > 0
    return error > float(ml_dtypes.finfo(np.empty(0, dtype).real.dtype).eps) ** (1 / 3)


def relative_error(got: np.ndarray, want: np.ndarray) -> float:
    """The largest difference over the largest promised number; infinity if classes or shapes differ; 0 for equal bits.

    For integers, booleans and texts, the share of the elements that differ.
    """
    if same_bits(got, want):
        return 0.0
    if got.shape != want.shape or got.dtype != want.dtype:
        return math.inf
    if not is_real(want.dtype):
        return float(np.mean(got != want))
    g, w = _wide(got), _wide(want)
    finite = np.isfinite(w)
    if (np.isfinite(g) != finite).any() or (np.isnan(g) != np.isnan(w)).any():
        return math.inf
    largest, difference = np.abs(w[finite]).max(initial=0.0), np.abs(g[finite] - w[finite]).max(initial=0.0)
    return float(difference / largest) if largest else (math.inf if difference else 0.0)
