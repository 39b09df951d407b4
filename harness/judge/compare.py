"""Comparison: an observed result set against what was promised.

Classes before distances: status, shape, dtype, then the class of each element (NaN, infinite by sign, zero by sign,
subnormal), then the distance of finite numbers in units in the last place of the promised value.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import ml_dtypes
import numpy as np

from tf_opdiff.harness.device.observation import Result
from tf_opdiff.harness.device.repeat import differing
from tf_opdiff.harness.judge import wording
from tf_opdiff.harness.judge.expectation import Want, positive_zeros
from tf_opdiff.harness.judge.simplest import first
from tf_opdiff.harness.spec.recipes import is_float


@dataclass(frozen=True)
class Element:
    """One element of a result: its index in the result's shape, what came and what was promised there."""

    index: tuple[int, ...]
    got: str
    want: str


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """How an observed result differs from the promised one. `kind` is empty where it does not.

    `index` is that of the worst element in the result's shape, `distance` says in words how far off that one is, and
    `simplest` is the element of the same kind with the simplest input. `max_ulp` and `max_abs` are over all finite
    elements, those within the budget included. Where there is a bound, what is allowed differs between elements:
    `max_ulp` and `budget` are then those of the element which comes nearest to what is allowed, or exceeds it most.
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
    distance: str = ""
    simplest: Element | None = None


_EXPONENT = np.uint64(0x7FF0_0000_0000_0000)


@dataclass(frozen=True)
class Differences:
    """What became of each element of a result: its distance, and by kind which elements are wrong.

    `ulps` and `absolute` are 0 where either number is not finite. `want` is the promise as it was, `rounded` the
    promise in the result's dtype. `allowed` is the largest allowed distance in ULPs; None without a bound.
    """

    classes: Mapping[str, np.ndarray]
    ulps: np.ndarray
    absolute: np.ndarray
    want: np.ndarray
    rounded: np.ndarray
    allowed: np.ndarray | None = None

    @property
    def wrong(self) -> np.ndarray:
        return np.logical_or.reduce(list(self.classes.values()))

    def comparison(self, got: np.ndarray, budget: float, inputs: Sequence[np.ndarray] = ()) -> Comparison:
        """The difference in one line: the first kind that occurs, and of that kind the worst and the simplest element.

        `inputs` are those of the op.
        """
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
        at = position(np.argmax(np.where(self.classes[kind], badness, -1.0)), got.shape)
        return replace(
            within,
            kind=kind,
            mismatched=int(wrong.sum()),
            **vars(self.element(got, at)),
            distance=self.distance(got, at, budget) if kind == "value" else "",
            simplest=self.element(got, simplest(self.classes[kind], inputs, self.rounded)),
        )

    def element(self, got: np.ndarray, at: tuple[int, ...]) -> Element:
        """What came at an index, and what was promised, in texts that differ."""
        return Element(at, *wording.pair(got[at], self.rounded[at], self.want[at]))

    def distance(self, got: np.ndarray, at: tuple[int, ...], budget: float) -> str:
        """How far off an element is, in words; without a bound, `budget` ULPs are allowed."""
        allowed = budget if self.allowed is None else float(self.allowed[at])
        return wording.distance(got[at], self.want[at], float(self.ulps[at]), allowed)


def position(flat: np.integer | int, shape: tuple[int, ...]) -> tuple[int, ...]:
    """The index, in an array of this shape, of the element that has a place in its flat order."""
    return tuple(int(i) for i in np.unravel_index(flat, shape))


def simplest(where: np.ndarray, inputs: Sequence[np.ndarray], want: np.ndarray) -> tuple[int, ...]:
    """The index of the element with the simplest input, of those where `where` is true; there must be at least one.

    The inputs of an element are those at its index, of inputs of the result's shape. Where no input has it, the promise
    counts in place of an input.
    """
    flat = np.flatnonzero(where)
    columns = [x for x in inputs if x.shape == where.shape] or [want]
    return position(flat[first([x.ravel()[flat] for x in columns])], where.shape)


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
    return Differences(classes, ulps, difference, want, rounded, allowed)


def illustrated(found: Comparison, got: Result, want: Want, inputs: Sequence[np.ndarray]) -> Comparison:
    """A comparison that found no difference, with a telling element: the one with the simplest input among those where
    the promise is not what the reference gives (`Want.plain`), else among those where it is a special number.
    """
    if got.value is None or want.value is None or want.dtype is None or not got.value.size:
        return replace(found, got=summary(got), want=f"error {want.raises.code}" if want.raises else want.status)
    with np.errstate(all="ignore"):
        rounded = want.value.astype(want.dtype)
        at = simplest(_telling(rounded, want.plain), inputs, rounded)
    return replace(found, index=at, got=str(got.value[at]), want=str(rounded[at]))


def _telling(promise: np.ndarray, plain: np.ndarray | None) -> np.ndarray:
    if plain is not None and plain.shape == promise.shape:
        other = differing(plain.astype(promise.dtype), promise)
        if other.any():
            return other
    parts = [promise.real, promise.imag] if promise.dtype.kind == "c" else [promise] if is_float(promise.dtype) else []
    special = [~np.isfinite(x) | (np.abs(x) < ml_dtypes.finfo(x.dtype).smallest_normal) for x in parts]
    found = np.logical_or.reduce(special) if special else np.zeros(promise.shape, bool)
    return np.asarray(found if found.any() else np.ones(promise.shape, bool))


def _exact(got: np.ndarray, want: np.ndarray, inputs: Sequence[np.ndarray]) -> Comparison:
    """Compares integers, booleans or byte strings of equal shape."""
    wrong = got != want
    if not wrong.any():
        return Comparison(size=got.size, budget=0.0)
    at, easy = position(np.argmax(wrong), got.shape), simplest(wrong, inputs, want)
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
        got=str(got[at]),
        want=str(want[at]),
        simplest=Element(easy, str(got[easy]), str(want[easy])),
    )


def compare_arrays(
    got: np.ndarray,
    want: np.ndarray,
    dtype: np.dtype,
    *,
    budget: float = 0.0,
    bound: np.ndarray | None = None,
    inputs: Sequence[np.ndarray] = (),
) -> Comparison:
    """Compares arrays.

    Args:
      got: what was observed.
      want: what was promised, of the same shape (nothing is broadcast), in `dtype` or wider.
      dtype: the dtype in which `got` must come.
      budget: allowed distance in ULPs of `dtype`.
      bound: allowed absolute error, of `want`'s shape or a scalar; an element has to break both to differ.
      inputs: the op's inputs, by which the simplest element that differs is chosen; those of `want`'s shape count.
    """
    if got.shape != want.shape:
        return Comparison(kind="shape", size=got.size, mismatched=got.size, got=str(got.shape), want=str(want.shape))
    if got.dtype != dtype:
        return Comparison(kind="dtype", size=got.size, mismatched=got.size, got=got.dtype.name, want=dtype.name)
    if dtype.kind == "c":
        bounds = None if bound is None else np.broadcast_to(bound, want.shape)
        return _complex(got, want, budget, bounds, inputs)
    if is_float(dtype):
        return differences(got, want, dtype, budget=budget, bound=bound).comparison(got, budget, inputs)
    return _exact(got, want, inputs)


def _complex(
    got: np.ndarray, want: np.ndarray, budget: float, bound: np.ndarray | None, inputs: Sequence[np.ndarray]
) -> Comparison:
    """Compares complex numbers of equal shape, the real parts and the imaginary parts each on their own."""
    part = np.dtype(f"f{got.dtype.itemsize // 2}")
    parts = []
    for side in (np.real, np.imag):
        found = differences(side(got), side(want), part, budget=budget, bound=bound)
        parts.append(found.comparison(side(got), budget, inputs))
    nearest = max(parts, key=lambda p: p.max_ulp / p.budget if p.budget else p.max_ulp)
    worst = next((p for p in parts if p.kind), nearest)
    worst = replace(worst, mismatched=max(p.mismatched for p in parts), max_abs=max(p.max_abs for p in parts))
    if worst.index is None or worst.simplest is None:
        return worst
    rounded = want.astype(got.dtype)
    shown = [Element(at, *wording.pair(got[at], rounded[at], want[at])) for at in (worst.index, worst.simplest.index)]
    return replace(worst, **vars(shown[0]), simplest=shown[1])


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


def compare(
    got: Result, want: Want, quantity: str, *, budget: float = 0.0, inputs: Sequence[np.ndarray] = ()
) -> Comparison:
    """Compares one quantity; see `compare_arrays` for the budget and the inputs."""
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
        value, wanted = (positive_zeros(a) if want.unsigned_zeros else a for a in (got.value, want.value))
        found = compare_arrays(value, wanted, want.dtype, budget=budget, bound=want.bound, inputs=inputs)
    if gradient and found.kind in ("value", "subnormal", "nan", "inf") and _vanished(got, want):
        return replace(found, kind="gradient_status", detail="the gradient is zeros", distance="")
    return found
