"""Search oracle: which specs a search can run, its inputs, and the distances of results from their promises."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import ml_dtypes
import numpy as np

from tf_opdiff.harness.judge.differences.difference import differences
from tf_opdiff.harness.judge.promises.expectation import Expectation, expectation
from tf_opdiff.harness.judge.promises.want import Want, positive_zeros, result_dtype
from tf_opdiff.harness.spec.inputs.recipes import is_float
from tf_opdiff.harness.spec.quantity import family_of
from tf_opdiff.harness.spec.spec import Case, Side, Spec
from tf_opdiff.harness.spec.tolerances.precision import quick, wider
from tf_opdiff.harness.sweep.measurements.block_promises import UPSTREAM
from tf_opdiff.harness.sweep.searches.boxes import Boxes, floats_at, places_of
from tf_opdiff.harness.sweep.sweepable import elementwise_fault

#: Promises below this times the smallest normal number have no distance.
_NEAR = 4
#: The dtypes of searches: sweeps try all inputs of 16 bits.
DTYPES = ("float32", "float64")


def refusal(spec: Spec, dtype: str) -> str:
    """The reason why a search can't run a spec in a dtype; empty if it can."""
    if dtype not in spec.dtypes or dtype not in DTYPES:
        return f"{spec.name} promises nothing for {dtype} that a search could try; searches take {', '.join(DTYPES)}"
    run, curved = spec.execution, spec.derivatives.jvp or spec.derivatives.hvp
    if run.state or run.sessions or run.only_gradients or run.steps > 1 or curved or spec.claims:
        return f"{spec.name} does more than one elementwise op"
    if not (spec.every_input or "domain" in spec.recipes):
        return f"{spec.name} says neither `every_input` nor a recipe `domain`"
    sample = Case(spec, dtype, _recipe_of_space(spec), spec.labels[0])
    return elementwise_fault(sample, floats_only=True)


def _recipe_of_space(spec: Spec) -> str:
    """The recipe whose inputs show the space of a search: `domain`, unless the spec takes all floats."""
    return next(iter(spec.recipes)) if spec.every_input else "domain"


@dataclass(frozen=True, eq=False)
class Space:
    """The inputs of a search: a box of places, and the arguments that are whole numbers.

    A spec that says `every_input` promises something for all floats. Any other promises it between the smallest and the
    largest numbers of its recipe `domain`, and for whole numbers where that recipe has no others.
    """

    dtype: np.dtype
    box: Boxes
    whole: tuple[int, ...] = ()

    @classmethod
    def of(cls, case: Case) -> Space:
        """The space of a spec, dtype and label of `attrs`."""
        dtype = np.dtype(case.dtype)
        inputs = Case(case.spec, case.dtype, _recipe_of_space(case.spec), case.attrs).inputs()
        if case.spec.every_input:
            ends = np.array([[-np.inf] * len(inputs), [np.inf] * len(inputs)]).astype(dtype)
            return cls(dtype, _box(ends))
        ends = np.array([[x.min() for x in inputs], [x.max() for x in inputs]])
        return cls(dtype, _box(ends), tuple(i for i, x in enumerate(inputs) if (x == np.round(x)).all()))

    def inputs(self, points: np.ndarray) -> tuple[np.ndarray, ...]:
        """The inputs at points of shape (n, arguments), with the smallest normal number for each subnormal one."""
        normal = ml_dtypes.finfo(self.dtype).smallest_normal
        arrays = [floats_at(column, self.dtype) for column in points.T]
        arrays = [np.where((x != 0) & (np.abs(x) < normal), np.copysign(normal, x), x) for x in arrays]
        return tuple(np.round(x) if i in self.whole else x for i, x in enumerate(arrays))


def _box(ends: np.ndarray) -> Boxes:
    """One box between two rows of floats."""
    return Boxes(places_of(ends[:1]), places_of(ends[1:]))


def patterns(inputs: tuple[np.ndarray, ...]) -> np.ndarray:
    """The bit patterns of inputs, as uint64 of shape (n, arguments)."""
    return np.stack([x.view(f"u{x.dtype.itemsize}").astype(np.uint64) for x in inputs], axis=1)


def promises(
    case: Case, inputs: tuple[np.ndarray, ...], side: Side | None, *, estimates: bool = False, bounds: bool = False
) -> tuple[Expectation, bool]:
    """The promises for inputs, computed in wide numbers, and whether they are certain.

    The upstream of an element depends on its bit patterns. With `estimates`, references compute in long double, and for
    float32 in float64, where they can. With `bounds`, the promises are those of any case, with bounds and alternatives.
    """
    numbers = np.array(UPSTREAM)[(patterns(inputs) % np.uint64(len(UPSTREAM))).sum(axis=1) % np.uint64(len(UPSTREAM))]

    def upstreams(outputs: list[np.ndarray], _: Case) -> tuple[np.ndarray | None, ...] | None:
        dtypes = [result_dtype(y, np.dtype(case.dtype)) for y in outputs]
        arrays = tuple(numbers.astype(d) if is_float(d) else None for d in dtypes)
        return arrays if any(g is not None for g in arrays) else None

    if bounds:
        return expectation(case, inputs, side, upstreams_of=upstreams), True
    if not estimates:
        with wider():
            return expectation(case, inputs, side, upstreams_of=upstreams, bounds=False), True
    with quick(long_double=case.dtype == "float64") as taken:
        return expectation(case, inputs, side, upstreams_of=upstreams, bounds=False), not taken


def distances(quantity: str, got: np.ndarray, want: Want) -> tuple[np.ndarray, Mapping[str, np.ndarray]]:
    """The distance of each element from its promise in ULPs, and the elements of a wrong class by kind.

    The distance is 0 where the class is wrong, and where the promise is next to the subnormal numbers: a processor that
    flushes these loses all digits there. A gradient is next to them if its derivative may be.
    """
    assert want.value is not None and want.dtype is not None
    if want.unsigned_zeros:
        got = positive_zeros(got)
    with np.errstate(all="ignore"):
        found = differences(got, want.value, want.dtype, budget=np.inf)
        least = _NEAR * float(ml_dtypes.finfo(want.dtype).smallest_normal)
        least *= max(map(abs, UPSTREAM)) if family_of(quantity) == "grad" else 1
        measured = ~found.wrong_class & ~(np.abs(found.rounded) < least)
        ulps = np.where(measured, found.ulps, 0.0).astype(np.float64)
    return ulps, {kind: where for kind, where in found.classes.items() if kind != "value"}
