"""Error bins: the error profiles of results, from the distances of their elements and the sizes of their arguments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import ml_dtypes
import numpy as np

from tf_opdiff.harness.judge.differences.comparison import Comparison, Distances
from tf_opdiff.harness.judge.promises.want import Want
from tf_opdiff.harness.judge.verdicts.trial import Trial
from tf_opdiff.harness.spec.inputs.recipes import is_float
from tf_opdiff.harness.store.records.error_profile import (
    EDGES,
    EXPONENTS,
    INF,
    NAN,
    NORMAL,
    SUBNORMAL,
    ZERO,
    ErrorProfile,
)


@dataclass(frozen=True, eq=False)
class Bins:
    """The bins of arguments: the class, sign and binary exponent of each bin, and the bin of each element.

    `order` sorts the elements by bin; `starts` are the places in that order at which the bins begin. `place` has the
    first three rows of `BIN` and a column for each bin. No bin is empty.
    """

    order: np.ndarray
    starts: np.ndarray
    place: np.ndarray

    @classmethod
    def of(cls, x: np.ndarray) -> Self:
        """The bins of arguments in a float or complex dtype; for complex numbers, those of the moduli."""
        with np.errstate(all="ignore"):  # a cast of a signalling NaN warns
            keys = _keys(x.ravel())
        order = np.argsort(keys, kind="stable")
        ascending = keys[order]
        starts = np.flatnonzero(np.diff(ascending, prepend=ascending[:1] - 1))
        rest, exponent = np.divmod(ascending[starts], 2 * EXPONENTS)
        group, sign = np.divmod(rest, 3)
        return cls(order, starts, np.stack([group, sign - 1, exponent - EXPONENTS]))

    def profile(self, distances: Distances, *, argument: str, budget: float) -> ErrorProfile:
        """The error profile of a result whose elements, at least one, are in these bins.

        `argument` is the name of the arguments, `budget` that of the spec in ULPs.
        """
        ulps = np.asarray(distances.ulps, np.float64).ravel()  # a longdouble promise has longdouble distances
        wrong, mismatched = distances.wrong_class.ravel(), distances.mismatched.ravel()
        elements = np.diff(self.starts, append=ulps.size)
        counts = [np.add.reduceat(flags[self.order].astype(np.int64), self.starts) for flags in (wrong, mismatched)]
        largest = np.maximum.reduceat(np.where(wrong, -1.0, ulps)[self.order], self.starts)
        size = np.where(wrong, len(EDGES), np.searchsorted(EDGES, ulps))
        return ErrorProfile(
            argument,
            budget,
            np.concatenate([self.place, [elements, *counts]]),
            np.where(largest < 0, np.nan, largest),
            np.bincount(size, minlength=len(EDGES) + 1),
        )


def _keys(x: np.ndarray) -> np.ndarray:
    """A number for each argument that stands for its class, sign and binary exponent."""
    if x.dtype.kind == "c":
        part = np.dtype(f"f{x.dtype.itemsize // 2}")
        size, sign = np.hypot(x.real.astype(np.longdouble), x.imag.astype(np.longdouble)), np.ones(x.shape, np.int64)
    else:
        part, wide = x.dtype, x.astype(np.float64)
        size, sign = np.abs(wide), np.where(np.signbit(wide), -1, 1)
    regular = np.isfinite(size) & (size > 0)
    exponent = np.frexp(np.where(regular, size, 1))[1].astype(np.int64) - 1
    group = np.where(size < float(ml_dtypes.finfo(part).smallest_normal), SUBNORMAL, NORMAL)
    for special, where in ((ZERO, size == 0), (INF, np.isinf(size)), (NAN, np.isnan(size))):
        group[where], exponent[where] = special, 0
    sign[group == NAN] = 0
    return (group * 3 + sign + 1) * (2 * EXPONENTS) + exponent + EXPONENTS


def argument_of(inputs: Sequence[np.ndarray], promise: np.ndarray, *, sparse: bool = False) -> tuple[str, np.ndarray]:
    """The number whose size the bins of a result are about, at each element, and its name.

    It is the first float or complex input with the shape of the promised result (`input[0]`), or that result itself
    (`promise`) if no input has that shape or the result is the values of an `IndexedSlices`. A complex number counts by
    its modulus (`|input[0]|`).

    Args:
      inputs: the inputs of the op.
      promise: the promised result in its dtype, a float or complex one.
      sparse: whether the result is the values of an `IndexedSlices`.
    """
    named = {} if sparse else {f"input[{i}]": x for i, x in enumerate(inputs) if x.shape == promise.shape}
    numbers = {name: x for name, x in named.items() if x.dtype.kind == "c" or is_float(x.dtype)}
    name, x = next(iter(numbers.items()), ("promise", promise))
    return f"|{name}|" if x.dtype.kind == "c" else name, x


def profiles(trial: Trial, wants: Mapping[str, Want], comparisons: Mapping[str, Comparison]) -> dict[str, ErrorProfile]:
    """The profile of each quantity of a trial whose elements were compared and have distances.

    Integers, empty results, errors and results of another shape or dtype have none.
    """
    profiles = {}
    for quantity, comparison in comparisons.items():
        distances, want = comparison.distances, wants.get(quantity)
        if distances is None or not distances.ulps.size or want is None or want.value is None:
            continue
        with np.errstate(all="ignore"):
            promise = want.value.astype(want.dtype)
            name, x = argument_of(trial.inputs, promise, sparse=want.status == "sparse")
            profiles[quantity] = Bins.of(x).profile(distances, argument=name, budget=want.budget)
    return profiles
