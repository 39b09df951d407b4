"""Comparison: an observed result set against what was promised.

Classes before distances: status, shape, dtype, then the class of each element (NaN, infinite by sign, zero by sign,
subnormal), then the distance of finite numbers in units in the last place of the promised value.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import ml_dtypes
import numpy as np

from harness.expect import Want
from harness.inputs import is_float
from harness.observation import Result


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """How an observed result differs from the promised one. `kind` is empty where it does not.

    `index` is that of the worst element in the result's shape. `max_ulp` and `max_abs` are over all finite elements,
    those within the budget included. Where there is a bound, what is allowed differs between elements: `max_ulp` and
    `budget` are then those of the element which comes nearest to what is allowed, or exceeds it most.
    """

    kind: str = ""
    size: int = 0
    mismatched: int = 0
    max_ulp: float = math.nan
    max_abs: float = math.nan
    budget: float = math.nan
    index: tuple[int, ...] | None = None
    got: str = ""
    want: str = ""
    detail: str = ""


_EXPONENT = np.uint64(0x7FF0_0000_0000_0000)


@dataclass(frozen=True)
class Differences:
    """What became of each element of a result: its distance, and by kind which elements are wrong.

    `ulps` and `absolute` are 0 where either number is not finite; `rounded` is the promise in the result's dtype.
    `allowed` is what budget and bound allow, in ULPs, where there is a bound.
    """

    classes: Mapping[str, np.ndarray]
    ulps: np.ndarray
    absolute: np.ndarray
    rounded: np.ndarray
    allowed: np.ndarray | None = None

    @property
    def wrong(self) -> np.ndarray:
        return np.logical_or.reduce(list(self.classes.values()))

    def comparison(self, got: np.ndarray, budget: float) -> Comparison:
        """The difference in one line: the first kind that occurs, and its worst element."""
        largest, badness = float(self.ulps.max(initial=0.0)), self.ulps
        if self.allowed is not None and got.size:
            with np.errstate(divide="ignore", invalid="ignore"):  # nothing may be allowed, and nothing be off
                badness = np.where(self.ulps > 0, self.ulps / self.allowed, 0.0)
            worst = np.unravel_index(np.argmax(badness), got.shape)
            largest, budget = float(self.ulps[worst]), float(self.allowed[worst])
        absolute = float(self.absolute.max(initial=0.0))
        within = Comparison(size=got.size, max_ulp=largest, max_abs=absolute, budget=budget)
        wrong = self.wrong
        if not wrong.any():
            return within
        kind = next(k for k, where in self.classes.items() if where.any())
        index = np.unravel_index(np.argmax(np.where(self.classes[kind], 1 + badness, 0)), got.shape)
        at = tuple(int(i) for i in index)
        count, rounded = int(wrong.sum()), self.rounded
        return replace(within, kind=kind, mismatched=count, index=at, got=_text(got, at), want=_text(rounded, at))


def ulp_of(value: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """The unit in the last place, in float64, that a dtype has at each (finite, float64) value.

    With p the number of mantissa bits: 2^(floor(log2 |x|) - p), and no less than the smallest subnormal
    (Muller et al., Handbook of Floating-Point Arithmetic, section 2.3.1).
    """
    info = ml_dtypes.finfo(dtype)
    if value.dtype == dtype == np.float32:
        size = (value.view(np.uint32) & np.uint32(0x7F80_0000)).view(np.float32) * info.eps
        return np.maximum(size, info.smallest_subnormal, dtype=np.float64)
    power = np.asarray(value, np.float64).view(np.uint64) & _EXPONENT  # of two, below |x|; 0 for a subnormal
    return np.maximum(power.view(np.float64) * 2.0**-info.nmant, float(info.smallest_subnormal))


def _text(array: np.ndarray, index: tuple[int, ...]) -> str:
    return str(array[index])


def differences(
    got: np.ndarray, want: np.ndarray, dtype: np.dtype, *, budget: float = 0.0, bound: np.ndarray | None = None
) -> Differences:
    """Compares real arrays of equal shape; `got` is in `dtype`, `want` in that or a wider one."""
    rounded = want.astype(dtype)
    wide = np.longdouble if want.dtype == np.longdouble else np.float64
    g, w, exact = got.astype(np.float64), rounded.astype(np.float64), want.astype(wide)
    finite = np.isfinite(g) & np.isfinite(w)
    zero_g, zero_w = g == 0, w == 0
    normal = float(ml_dtypes.finfo(dtype).smallest_normal)
    difference = np.where(finite, np.abs(np.where(finite, g, 0) - np.where(finite, exact, 0)), 0.0)
    unit = ulp_of(np.where(finite, w, 0.0), dtype)
    ulps = difference / unit
    far, allowed = finite & (ulps > budget), None
    if bound is not None:
        far &= ~(difference <= bound)  # a bound that is NaN excuses nothing
        allowed = np.fmax(budget, bound / unit)
    flushed = far & zero_g & ~zero_w & (np.abs(w) < normal) & (np.signbit(g) == np.signbit(w))
    classes = {
        "nan": np.isnan(g) != np.isnan(w),
        "inf": ~np.isnan(g) & ~np.isnan(w) & (np.isinf(g) | np.isinf(w)) & (g != w),
        "signed_zero": zero_g & zero_w & (np.signbit(g) != np.signbit(w)),
        "subnormal": flushed,
        "value": far & ~flushed,
    }
    return Differences(classes, ulps, difference, rounded, allowed)


def _floats(got: np.ndarray, want: np.ndarray, dtype: np.dtype, budget: float, bound: np.ndarray | None) -> Comparison:
    return differences(got, want, dtype, budget=budget, bound=bound).comparison(got, budget)


def _exact(got: np.ndarray, want: np.ndarray) -> Comparison:
    """Compares integers, booleans or byte strings of equal shape."""
    wrong = got != want
    if not wrong.any():
        return Comparison(size=got.size, budget=0.0)
    at = tuple(int(i) for i in np.unravel_index(np.argmax(wrong), got.shape))
    apart = math.nan
    if got.dtype.kind in "iub":
        apart = max(abs(int(a) - int(b)) for a, b in zip(got[wrong].tolist(), want[wrong].tolist(), strict=True))
    return Comparison(
        kind="value",
        size=got.size,
        mismatched=int(wrong.sum()),
        max_abs=float(apart),
        budget=0.0,
        index=at,
        got=_text(got, at),
        want=_text(want, at),
    )


def compare_arrays(
    got: np.ndarray, want: np.ndarray, dtype: np.dtype, *, budget: float = 0.0, bound: np.ndarray | None = None
) -> Comparison:
    """Compares arrays.

    Args:
      got: what was observed.
      want: what was promised, of the same shape (nothing is broadcast), in `dtype` or wider.
      dtype: the dtype in which `got` must come.
      budget: allowed distance in ULPs of `dtype`.
      bound: allowed absolute error, of `want`'s shape or a scalar; an element has to break both to differ.
    """
    if got.shape != want.shape:
        return Comparison(kind="shape", size=got.size, mismatched=got.size, got=str(got.shape), want=str(want.shape))
    if got.dtype != dtype:
        return Comparison(kind="dtype", size=got.size, mismatched=got.size, got=got.dtype.name, want=dtype.name)
    if dtype.kind == "c":
        bounds = None if bound is None else np.broadcast_to(bound, want.shape)
        part = np.dtype(f"f{dtype.itemsize // 2}")
        parts = [_floats(f(got), f(want), part, budget, bounds) for f in (np.real, np.imag)]
        nearest = max(parts, key=lambda p: p.max_ulp / p.budget if p.budget else p.max_ulp)
        worst = next((p for p in parts if p.kind), nearest)
        return replace(
            worst,
            mismatched=max(p.mismatched for p in parts),
            max_abs=max(p.max_abs for p in parts),
            got="" if worst.index is None else _text(got, worst.index),
            want="" if worst.index is None else _text(want, worst.index),
        )
    if is_float(dtype):
        return _floats(got, want, dtype, budget, bound)
    return _exact(got, want)


def _error(got: Result, want: Want) -> Comparison:
    raises = want.raises
    assert raises is not None
    if got.status != "error":
        return Comparison(kind="status", got=summary(got), want=f"error {raises.code}")
    if got.code != raises.code:
        return Comparison(kind="error_code", got=got.code, want=raises.code, detail=got.message)
    if raises.says not in got.message:
        return Comparison(
            kind="error_code", got=got.code, want=raises.code, detail=f"{raises.says!r} not in: {got.message}"
        )
    return Comparison()


def summary(result: Result) -> str:
    """A result in a few words."""
    if result.value is None:
        return " ".join(filter(None, [result.status, result.code]))
    return f"{result.status} {result.value.dtype.name}{list(result.value.shape)}"


def _vanished(got: Result, want: Want) -> bool:
    """Whether a gradient came back as nothing but zeros where it should not be."""
    assert got.value is not None and want.value is not None
    return got.value.size > 0 and got.value.dtype.kind in "fcV" and not got.value.any() and bool(want.value.any())


def compare(got: Result, want: Want, quantity: str, *, budget: float = 0.0) -> Comparison:
    """Compares one quantity; see `compare_arrays` for the budget."""
    gradient = not quantity.startswith("output")
    if got.status in ("crash", "hang"):
        if want.status == got.status and want.raises is not None and want.raises.code == got.code:
            return Comparison()
        return Comparison(kind=got.status, got=summary(got), want=want.status, detail=got.message)
    if want.raises is not None:
        return _error(got, want)
    if got.status == "error":
        return Comparison(kind="status", got=summary(got), want=want.status, detail=got.message)
    if got.status != want.status:
        kind = "gradient_status" if gradient else "status"
        return Comparison(kind=kind, got=summary(got), want=want.status, detail=got.message)
    if got.status == "unconnected":
        return Comparison()
    assert got.value is not None and want.value is not None and want.dtype is not None
    if got.status == "sparse":
        assert got.indices is not None and want.indices is not None
        if got.shape is not None and tuple(got.shape) != want.shape:
            return Comparison(kind="shape", got=str(got.shape), want=str(want.shape))
        found = compare_arrays(got.indices.astype(np.int64), want.indices.astype(np.int64), np.dtype(np.int64))
        if found.kind:
            return replace(found, detail="indices of the IndexedSlices")
    with np.errstate(all="ignore"):
        found = compare_arrays(got.value, want.value, want.dtype, budget=budget, bound=want.bound)
    if gradient and found.kind in ("value", "subnormal", "nan", "inf") and _vanished(got, want):
        return replace(found, kind="gradient_status", detail="the gradient is zeros")
    return found
