"""Casts: recipes of numbers of a source dtype whose casts to a target dtype are defined, are not, or are subnormal."""

import ml_dtypes
import numpy as np

from tf_opdiff.harness.spec.inputs.elementary import powers
from tf_opdiff.harness.spec.inputs.recipes import bit_patterns, edges, is_float, plain
from tf_opdiff.suites.forms.of_xla import NIBBLES
from tf_opdiff.suites.forms.recipes.left_out import LeavesOut
from tf_opdiff.suites.reference.elementwise.cast import beyond, limits


def _drawn(draw, source):
    """Edge values, random bits and plain numbers."""
    if source.name in NIBBLES:
        return np.resize(np.arange(ml_dtypes.iinfo(source).min, 8).astype(np.int8), 201).astype(source)
    if source.kind == "c":
        part = np.dtype(f"f{source.itemsize // 2}")
        pair = [np.concatenate([r(draw, part)[0] for r in (edges, bit_patterns, plain)]) for _ in "ri"]
        drawn = np.empty(201, source)
        drawn.real, drawn.imag = pair[0], np.roll(pair[1], 7)
        return drawn
    return np.concatenate([recipe(draw, source)[0] for recipe in (edges, bit_patterns, plain)])


def _subnormal(target, x):
    """Where a float's result in a float or complex dtype is a subnormal number."""
    real = x.real if x.dtype.kind == "c" else x
    if not is_float(real.dtype) or not (target.kind == "c" or is_float(target)):
        return np.zeros(x.shape, bool)
    part = np.dtype(f"f{target.itemsize // 2}") if target.kind == "c" else target
    parts = [real, x.imag] if target.kind == "c" and x.dtype.kind == "c" else [real]
    tiny = float(ml_dtypes.finfo(part).smallest_normal)
    return np.logical_or.reduce([(p != 0) & (np.abs(p.astype(np.float64)) < tiny) for p in parts])


def within_range(source, target):
    """A recipe: numbers of the source dtype for which the cast is defined, and whose results are not subnormal."""
    drawn = LeavesOut(lambda draw, dtype: (_drawn(draw, np.dtype(source)),), {"subnormal": _subnormal}, (1,))
    return LeavesOut(drawn, {"beyond": beyond}, (1,))


def _numbers(values, source):
    """The 201 numbers of a cast in the source dtype; complex numbers have the values, rolled, as imaginary parts."""
    source, values = np.dtype(source), np.asarray(values, np.float64)
    if source.kind != "c":
        return np.resize(values, 201).astype(source)
    numbers = np.empty(201, source)
    numbers.real, numbers.imag = np.resize(values, 201), np.resize(np.roll(values, 5), 201)
    return numbers


def tiny(source, target):
    """A recipe: numbers that are subnormal in the source dtype, in the target dtype, or in neither, but next to it."""
    real = [np.dtype(f"f{np.dtype(d).itemsize // 2}") if np.dtype(d).kind == "c" else d for d in (source, target)]
    parts = [d for d in real if is_float(d)]
    steps = np.array([0.25, 0.5, 0.75, 1, 1.5, 2, 3, 3.5, 100.5])
    values = []
    for info in map(ml_dtypes.finfo, parts):
        least, tiny = float(info.smallest_subnormal), float(info.smallest_normal)
        values += [*(steps * least), tiny / 2, tiny - least, tiny, tiny * (1 + float(info.eps)), tiny / 2 - least]
    both = np.array([*values, *(-v for v in values)])
    return lambda draw, dtype: (_numbers(both, source),)


def _limit_neighbours(source, target):
    """The limits of an integer dtype and their neighbours in a float dtype; huge numbers, NaN and infinities."""
    part = np.dtype(f"f{np.dtype(source).itemsize // 2}") if np.dtype(source).kind == "c" else np.dtype(source)
    low, high = limits(np.dtype(target))
    around = [low - 1, low, high, high + 1, 2 * high, 2 * low, 2**31, 2**63, 2**64, -(2**63), -1]
    near = np.array([float(limit) for limit in around]).astype(part)
    beside = [np.nextafter(near, np.array(end, part), dtype=part) for end in (-np.inf, np.inf)]
    top = float(ml_dtypes.finfo(part).max)
    fractions = [low - 0.5, low - 0.999, high + 0.5, high + 0.999, -0.5, -0.999, 0.5]
    return np.concatenate([near, *beside, np.array([*fractions, top, -top, np.inf, -np.inf, np.nan]).astype(part)])


def inside_limits(source, target):
    """A recipe: the numbers next to the limits of an integer dtype that are in its range."""

    def recipe(draw, dtype):
        values = _limit_neighbours(source, target).astype(np.float64)
        return (_numbers(values[~beyond(np.dtype(target), values)], source),)

    return recipe


def beyond_limits(source, target):
    """A recipe: the numbers next to the limits of an integer dtype and far from them that are not in its range.

    Negative numbers whose target is unsigned have recipes of their own: see `negative`.
    """

    def recipe(draw, dtype):
        values, low = _limit_neighbours(source, target).astype(np.float64), limits(np.dtype(target))[0]
        outside = beyond(np.dtype(target), values) & ~((low == 0) & np.isfinite(values) & (values < 0))
        return (_numbers(values[outside], source),)

    return recipe


def moderate(source):
    """A recipe: numbers of moderate size."""
    return lambda draw, dtype: (draw.values(np.dtype(source), 201),)


def negative(source, target):
    """A recipe: negative numbers whose sizes are in the range of the unsigned dtype."""
    bits = np.dtype(target).itemsize * 8 - 1
    return lambda draw, dtype: ((-powers(2, draw.uniform(67, low=0.1, high=min(bits, 15)))).astype(source),)


def ties(source):
    """A recipe: ties between two numbers of the target dtype, and numbers next to them that 24 bits round to a tie."""

    def recipe(draw, dtype):
        digits = ml_dtypes.finfo(dtype).nmant + 1
        odd = np.resize(1 + draw.integers(67, low=0, high=2 ** (digits - 1)), 67) | 2 ** (digits - 1)
        tie = (2 * odd + 1) << 40 - digits
        x = tie + np.resize([-1, 0, 1], 67)
        if source.startswith("float"):
            return ((x * 2.0**-38).astype(source),)
        return (x.astype(source) if np.dtype(source).itemsize == 8 else (x >> 10 | (x & 1)).astype(source),)

    return recipe
