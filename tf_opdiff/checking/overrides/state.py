"""Override state: whether a run applied the override, by the promise of the override and a run without it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tf_opdiff.checking.overrides.request import OTHER, UNAVAILABLE
from tf_opdiff.harness.device.observation import FAILED, Observation, Result
from tf_opdiff.harness.judge.differences.compare import compare, summary
from tf_opdiff.harness.judge.promises.want import Want
from tf_opdiff.harness.spec.lists.override_cell import APPLIED, IGNORED, REFUSED

#: The part of its largest number by which a second derivative made of differences may be off.
DIFFERENCES = 1e-3
#: The longest error message that is shown.
_LONGEST = 160
#: The words of the error that Keras raises if no weight has a gradient.
_NO_GRADIENT = "No gradients provided"
_NOTHING = Result("unconnected")


@dataclass(frozen=True)
class Run:
    """The results of a program in a place and mode, and the promise of the override.

    Attributes:
      promised: quantity → the array that it has if the override is applied.
      results: quantity → what came.
      ulp: the allowed distance.
      differences: whether promised gradients are made of differences, with their error.
    """

    promised: Mapping[str, np.ndarray]
    results: Mapping[str, Result]
    ulp: float
    differences: bool

    def keeps(self, quantity: str) -> bool:
        """Whether a quantity is the override's; None is an array of zeros."""
        result, value = self.results[quantity], self.promised[quantity]
        if result.status == "unconnected":
            return not value.any()
        if result.status != "value" or result.value is None:
            return False
        near = self.differences and quantity.startswith("grad")
        bound = np.full(value.shape, DIFFERENCES * np.max(np.abs(value), initial=0) + 1e-6) if near else None
        want = Want("value", value, result.value.dtype, budget=self.ulp, bound=bound, unsigned_zeros=True)
        return not compare(result, want, quantity).kind

    def equals(self, quantity: str, other: Result) -> bool:
        """Whether a quantity is another program's result; None is an array of zeros."""
        result = self.results[quantity]
        if "unconnected" in (result.status, other.status):
            return _vanishes(result) and _vanishes(other)
        want = replace(Want.of(other), budget=self.ulp, unsigned_zeros=True)
        return not compare(result, want, quantity).kind

    def difference(self, quantity: str) -> str:
        """What came and what the override says, at the element that is farthest off."""
        result, value = self.results[quantity], self.promised[quantity]
        dense = np.zeros(value.shape) if result.status == "unconnected" else result.value
        if result.status == "sparse" or dense is None or dense.shape != value.shape:
            return f"{quantity}: {summary(result)}, where the override gives an array of shape {value.shape}"
        with np.errstate(all="ignore"):
            far = np.nan_to_num(np.abs(dense.astype(float) - value), nan=np.inf)
        at = np.unravel_index(int(np.argmax(far)), far.shape)
        came = "None" if result.status == "unconnected" else f"{dense[at]:.6g}"
        return f"{quantity}{list(map(int, at))}: {came}, where the override gives {value[at]:.6g}"

    def proof(self, without: Mapping[str, Result]) -> str:
        """How many elements are the override's, and one of them that the program without the override has not."""
        count = sum(result.value.size for result in self.results.values() if result.value is not None)
        text = f"all {count} elements of {', '.join(self.results)} are those of the override"
        for quantity, result in self.results.items():
            other = without.get(quantity, Result("error"))
            dense = np.zeros(self.promised[quantity].shape) if other.status == "unconnected" else other.value
            if result.value is None or other.status not in ("value", "unconnected") or dense is None:
                continue
            if dense.shape == result.value.shape and (dense != result.value).any():
                at = tuple(np.argwhere(dense != result.value)[0])
                word = "None" if other.status == "unconnected" else f"{dense[at]:.6g}"
                return f"{text}: {quantity}{list(map(int, at))} is {result.value[at]:.6g}, and {word} without it"
        return text


def state(
    observed: Observation, promised: Mapping[str, Any], without: Observation | None, ulp: float, differences: bool
) -> tuple[str, str]:
    """The state of a run, and its proof in one line; `without` is the run of the program without the override."""
    arrays = {quantity: np.asarray(value, float) for quantity, value in promised.items()}
    results = {quantity: observed.quantities.get(quantity, _NOTHING) for quantity in promised}
    if observed.lacking:
        return UNAVAILABLE, observed.lacking
    if broken := next((r for r in results.values() if r.status in FAILED), None):
        return (IGNORED if _NO_GRADIENT in broken.message else REFUSED), error_line(broken)
    if observed.fault:
        return OTHER, observed.fault
    run = Run(arrays, results, ulp, differences)
    wrong = next((quantity for quantity in results if not run.keeps(quantity)), None)
    if wrong is None:
        return APPLIED, run.proof(without.quantities if without else {})
    came = run.difference(wrong)
    if without is None:
        nothing = all(map(_vanishes, results.values()))
        return (IGNORED, f"{came}; there is no gradient") if nothing else (OTHER, came)
    if all(run.equals(quantity, without.quantities.get(quantity, _NOTHING)) for quantity in results):
        return IGNORED, f"{came}; it is the same without the override"
    return OTHER, f"{came}; it is another one without the override"


def error_line(result: Result) -> str:
    """An error, a crash or a hang in one line."""
    plain = re.sub(r"\x1b\[[0-9;]*m", "", f"{result.code or result.status}: {result.message}")
    text = " ".join(plain.split()).rstrip(".")
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _vanishes(result: Result) -> bool:
    return result.status == "unconnected" or (result.value is not None and not result.value.any())
