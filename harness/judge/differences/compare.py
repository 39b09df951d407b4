"""Compare: compares an observed result with its promise: status, shape and dtype first, then each element."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import ml_dtypes
import numpy as np

from tf_opdiff.harness.device.observation import FAILED, Result
from tf_opdiff.harness.device.repeat import differing
from tf_opdiff.harness.judge.differences import allowed_differences, wording
from tf_opdiff.harness.judge.differences.comparison import Comparison, Distances, Element, Elements
from tf_opdiff.harness.judge.differences.difference import differences, position, simplest
from tf_opdiff.harness.judge.promises.alternatives import limits, nearest
from tf_opdiff.harness.judge.promises.want import ANY_VALUE, UNDOCUMENTED, Want, positive_zeros
from tf_opdiff.harness.spec.inputs.recipes import is_float
from tf_opdiff.harness.spec.kinds import NO_ANSWER
from tf_opdiff.harness.spec.quantity import family_of


def illustrated(comparison: Comparison, got: Result, want: Want, inputs: Sequence[np.ndarray]) -> Comparison:
    """Adds an example element to a comparison without a difference.

    The example is the element with the simplest input among those whose promise differs from the reference
    (`Want.plain`), else among those whose promise is a special number.
    """
    if got.value is None or want.value is None or want.dtype is None or not got.value.size:
        return replace(comparison, got=summary(got), want=f"error {want.raises.code}" if want.raises else want.status)
    with np.errstate(all="ignore"):
        rounded = want.value.astype(want.dtype)
        at = simplest(_telling(rounded, want.plain), inputs, rounded)
    return replace(comparison, index=at, got=str(got.value[at]), want=str(rounded[at]))


def _telling(promise: np.ndarray, plain: np.ndarray | None) -> np.ndarray:
    if plain is not None and plain.shape == promise.shape:
        other = differing(plain.astype(promise.dtype), promise)
        if other.any():
            return other
    parts = [promise.real, promise.imag] if promise.dtype.kind == "c" else [promise] if is_float(promise.dtype) else []
    special = [~np.isfinite(x) | (np.abs(x) < ml_dtypes.finfo(x.dtype).smallest_normal) for x in parts]
    chosen = np.logical_or.reduce(special) if special else np.zeros(promise.shape, bool)
    return np.asarray(chosen if chosen.any() else np.ones(promise.shape, bool))


def _exact(got: np.ndarray, want: np.ndarray, inputs: Sequence[np.ndarray]) -> Comparison:
    """Compares integers, booleans or byte strings of equal shape."""
    wrong = got != want
    elements = Elements.exact(got, want, wrong)
    if not wrong.any():
        return Comparison(size=got.size, budget=0.0, elements=elements)
    at, easy = position(np.argmax(wrong), got.shape), simplest(wrong, inputs, want)
    apart = math.nan
    if got.dtype.kind in "iub":
        apart = max(abs(int(a) - int(b)) for a, b in zip(got[wrong].tolist(), want[wrong].tolist(), strict=True))
    return Comparison(
        kind="value",
        count=int(wrong.sum()),
        size=got.size,
        mismatched=int(wrong.sum()),
        max_abs=float(apart),
        budget=0.0,
        index=at,
        got=str(got[at]),
        want=str(want[at]),
        simplest=Element(easy, str(got[easy]), str(want[easy])),
        elements=elements,
    )


def compare_arrays(
    got: np.ndarray,
    want: np.ndarray,
    dtype: np.dtype,
    *,
    budget: float | np.ndarray = 0.0,
    bound: np.ndarray | None = None,
    inputs: Sequence[np.ndarray] = (),
) -> Comparison:
    """Compares arrays.

    Args:
      got: the observed array.
      want: the promised array, of the same shape (nothing is broadcast), in `dtype` or wider.
      dtype: the required dtype of `got`.
      budget: the allowed distance in ULPs of `dtype`; for real floats also an array, with that of each element.
      bound: the allowed absolute error, of `want`'s shape or a scalar; an element differs if it exceeds both.
      inputs: the op's inputs; those of `want`'s shape determine the simplest differing element.
    """
    if got.shape != want.shape:
        return Comparison(kind="shape", size=got.size, mismatched=got.size, got=str(got.shape), want=str(want.shape))
    if got.dtype != dtype:
        return Comparison(kind="dtype", size=got.size, mismatched=got.size, got=got.dtype.name, want=dtype.name)
    largest = float(np.max(budget, initial=0.0))
    if dtype.kind == "c":
        bounds = None if bound is None else np.broadcast_to(bound, want.shape)
        return _complex(got, want, largest, bounds, inputs)
    if is_float(dtype):
        return differences(got, want, dtype, budget=budget, bound=bound).comparison(got, largest, inputs)
    return _exact(got, want, inputs)


_PARTS = (np.real, np.imag)


def _complex(
    got: np.ndarray, want: np.ndarray, budget: float, bound: np.ndarray | None, inputs: Sequence[np.ndarray]
) -> Comparison:
    """Compares complex arrays of equal shape: the real parts, and separately the imaginary parts.

    An element of a kind is one whose real or imaginary part is of that kind.
    """
    dtype = np.dtype(f"f{got.dtype.itemsize // 2}")
    of = [(part(got), differences(part(got), part(want), dtype, budget=budget, bound=bound)) for part in _PARTS]
    parts = [found.comparison(numbers, budget, inputs) for numbers, found in of]
    real, imaginary = (found for _, found in of)
    nearest = max(parts, key=lambda p: p.max_ulp / p.budget if p.budget else p.max_ulp)
    within = replace(
        nearest,
        elements=Elements.of_parts(got, want.astype(got.dtype), *(found.elements(numbers) for numbers, found in of)),
        mismatched=int((real.wrong | imaginary.wrong).sum()),
        max_abs=max(p.max_abs for p in parts),
        distances=Distances.of_parts(*(p.distances for p in parts if p.distances)),
    )
    each, rounded = [], want.astype(got.dtype)
    for kind in real.classes:
        count = int((real.classes[kind] | imaginary.classes[kind]).sum())
        if count:
            shown_parts = [p.showing(kind) for p in parts if kind in p.kinds]
            one = min(shown_parts, key=lambda part: part.at_edge)
            assert one.index is not None and one.simplest is not None
            worst, easy = (
                Element(at, *wording.pair(got[at], rounded[at], want[at])) for at in (one.index, one.simplest.index)
            )
            counted = {name: getattr(one, name) for name in ("distance", "detail", "counted_ulp", "at_edge")}
            shown = replace(within, kind=kind, count=count, simplest=easy, others=(), **counted)
            each.append(replace(shown, **vars(worst)))
    return Comparison.joined(each) if each else within


def _error(got: Result, want: Want) -> Comparison:
    raises = want.raises
    assert raises is not None
    code, without_kernel = f"error {raises.code}", raises.without_kernel
    if got.status != "error":
        return Comparison(kind="status", got=summary(got), want=code, without_kernel=without_kernel)
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


def code_in(text: str) -> str:
    """The code of an error, a crash or a hang in a text that `summary` made; empty for any other text."""
    status, _, code = text.partition(" ")
    return code if status in FAILED and code.split() == [code] else ""


def _vanished(got: Result, want: Want) -> bool:
    """Whether all elements of a gradient are zero although the promise has others."""
    assert got.value is not None and want.value is not None
    return got.value.size > 0 and got.value.dtype.kind in "fcV" and not got.value.any() and bool(want.value.any())


def _undocumented(got: Result, want: Want, quantity: str, inputs: Sequence[np.ndarray]) -> Comparison:
    """The comparison of a result that has no promise, alone or with the result of another plan.

    It has no kind. The errors of two plans are alike, whatever their codes: a graph may refuse when it is built what an
    eager op refuses in its kernel.
    """
    alike = Comparison(got=summary(got), want=want.status, undocumented=want.undocumented)
    if got.status == "unconnected" or (want.status == ANY_VALUE and got.status == "error"):
        return Comparison(kind="status", got=summary(got), want=want.status, detail=got.message)
    if want.status in (UNDOCUMENTED, ANY_VALUE) or got.status == want.status == "error":
        return alike
    return allowed_differences.free(compare(got, replace(want, undocumented=""), quantity, inputs=inputs), want)


def _of_plans(got: Result, want: Want, exactly: Want, quantity: str, inputs: Sequence[np.ndarray]) -> Comparison:
    """The comparison of two plans whose promise leaves something open; it tells a difference that the promise allows.

    `exactly` is the other result without what is open. Only where the results differ is the rest computed.
    """
    strict = compare(got, exactly, quantity, inputs=inputs)
    if not strict.kind:
        return strict
    comparison = compare(got, replace(want, of_plan=False), quantity, inputs=inputs)
    return comparison if comparison.kind else allowed_differences.open_in_promises(strict)


def compare(got: Result, want: Want, quantity: str, *, inputs: Sequence[np.ndarray] = ()) -> Comparison:
    """Compares one quantity; see `compare_arrays` for the inputs."""
    gradient = family_of(quantity) != "output"
    if got.status in NO_ANSWER:
        if want.status == got.status and want.raises is not None and want.raises.code == got.code:
            return Comparison()
        return Comparison(kind=got.status, got=summary(got), want=want.status, detail=got.message)
    if want.undocumented:
        return _undocumented(got, want, quantity, inputs)
    if want.raises is not None:
        return _error(got, want)
    if exactly := want.exactly:
        return _of_plans(got, want, exactly, quantity, inputs)
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
        comparison = compare_arrays(got.indices.astype(np.int64), want.indices.astype(np.int64), np.dtype(np.int64))
        if comparison.kind:
            return replace(comparison, detail="indices of the IndexedSlices")
    with np.errstate(all="ignore"):
        chosen = nearest(got.value, want)
        value, wanted = (positive_zeros(a) if want.unsigned_zeros else a for a in (got.value, chosen))
        ulps, bound = limits(want)
        comparison = compare_arrays(value, wanted, want.dtype, budget=ulps, bound=bound, inputs=inputs)
    if gradient and {"value", "subnormal", "nan", "inf"} & {*comparison.kinds} and _vanished(got, want):
        return comparison.as_kind("gradient_status", detail="the gradient is zeros", distance="")
    return comparison
