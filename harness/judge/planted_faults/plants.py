"""Plants: faults planted in results that have known failures, to see which faults the known failures would hide."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

import numpy as np

from tf_opdiff.harness.device.observation import FAILED, Result
from tf_opdiff.harness.device.repeat import differing
from tf_opdiff.harness.judge.differences.comparison import Elements
from tf_opdiff.harness.spec.inputs.recipes import is_float

#: (the observed elements, the only element to change or all) → the elements after the fault.
_Fault = Callable[[np.ndarray], np.ndarray]


def _times(factor: float) -> _Fault:
    def scaled(array: np.ndarray) -> np.ndarray:
        if array.dtype.kind == "b":
            return ~array
        return array + 1 if array.dtype.kind in "iu" else (array * factor).astype(array.dtype)

    return scaled


def _nan(array: np.ndarray) -> np.ndarray:
    return np.full_like(array, np.nan) if array.dtype.kind == "c" or is_float(array.dtype) else array


#: The faults: a kernel scales its result, and single elements are scaled, lost, or NaN. Integers are 1 too large.
EVERYWHERE: Mapping[str, _Fault] = {"all elements × 1.1": _times(1.1)}
OF_ONE: Mapping[str, _Fault] = {
    "one element × 3": _times(3.0),
    "one element is 0": np.zeros_like,
    "one element is NaN": _nan,
}
#: The fault of a result that is an error, a crash or a hang: another error.
OTHER_ERROR = "another error"
_CODE = "DATA_LOSS"


def planted(result: Result, elements: Elements | None) -> Iterator[tuple[str, Result, np.ndarray | None]]:
    """The faulty results that a right test notices.

    Args:
      result: the observed result.
      elements: its elements and those of the promise; None if it has no array of the promised shape.

    Yields:
      The name of a fault, the result with the fault, and a bool array with the elements that it changes (None if the
      result has no array). Single elements are changed where the result is right, if it is right anywhere.
    """
    if result.value is None:
        if result.status in FAILED and result.code != _CODE:
            yield OTHER_ERROR, replace(result, status="error", code=_CODE, message="a planted error"), None
        return
    value = result.value
    if elements is None or not value.size or value.dtype.kind not in "fciubV" or elements.got.shape != value.shape:
        return
    every = np.ones(value.shape, bool)
    for name, fault in EVERYWHERE.items():
        yield from _changed(name, fault, result, every)
    one = np.zeros(value.size, bool)
    one[_chosen(value, elements.every_wrong)] = True
    for name, fault in OF_ONE.items():
        yield from _changed(name, fault, result, one.reshape(value.shape))


def _chosen(value: np.ndarray, wrong: np.ndarray) -> int:
    """The flat index of the first right element that is finite and not 0; else of the first right element."""
    with np.errstate(all="ignore"):
        ordinary = np.isfinite(value.astype(np.clongdouble if value.dtype.kind == "c" else np.float64)) & (value != 0)
    for where in (~wrong & ordinary, ~wrong, ordinary):
        if where.any():
            return int(np.argmax(where))
    return 0


def _changed(
    name: str, fault: _Fault, result: Result, where: np.ndarray
) -> Iterator[tuple[str, Result, np.ndarray | None]]:
    """The result with a fault in some elements, if the fault changes any of them."""
    value = result.value
    assert value is not None
    with np.errstate(all="ignore"):
        after = np.where(where, fault(value), value).astype(value.dtype)
        changed = where & differing(after, value)
    if changed.any():
        yield name, replace(result, value=after), changed
