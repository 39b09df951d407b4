"""Oracle: a spec's promises for a block of bit patterns, computed once for all plans on a side of its contract."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import ml_dtypes
import numpy as np

from tf_opdiff.harness.device.observation import Result
from tf_opdiff.harness.device.request import Bits
from tf_opdiff.harness.judge.differences.compare import compare
from tf_opdiff.harness.judge.differences.difference import Differences, differences
from tf_opdiff.harness.judge.differences.error_bins import Bins
from tf_opdiff.harness.judge.promises.expectation import widened
from tf_opdiff.harness.judge.promises.reference import ReferenceFault
from tf_opdiff.harness.judge.promises.want import NOTHING, Want
from tf_opdiff.harness.spec.inputs.recipes import is_float
from tf_opdiff.harness.spec.modes import MODE_FAMILIES
from tf_opdiff.harness.spec.quantity import family_of
from tf_opdiff.harness.spec.spec import Case, Side
from tf_opdiff.harness.spec.tolerances.by_mode import in_mode, mode_family
from tf_opdiff.harness.spec.tolerances.precision import quick
from tf_opdiff.harness.sweep.measurements.block_promises import expected, upstream_at
from tf_opdiff.harness.sweep.measurements.errors import Errors, accuracy_of
from tf_opdiff.harness.sweep.measurements.pieces import SUBNORMAL, Piece, pieces
from tf_opdiff.harness.sweep.measurements.promise import Bound, Promise
from tf_opdiff.harness.sweep.measurements.segments import Segments
from tf_opdiff.harness.sweep.measurements.tally import of_comparison, of_difference

#: The largest constant with which a kernel may multiply a subnormal number to get a derivative.
FACTOR = 4.0
#: Bytes of the largest dtype whose sweeps have an error profile: it takes longer than a comparison in float32.
PROFILED = 2
#: Bytes of a dtype → elements of a block for which the wide reference is computed too, which takes up to 1 ms each.
SAMPLE = {2: 64, 4: 8}
#: Bounds are computed for all elements of a block if more than one in so many needs its bound.
WORTH = 16


@dataclass(frozen=True)
class Part:
    """A piece of a block, and its promises by quantity and family of modes.

    The families share a promise unless they have different budgets or bounds.
    """

    piece: Piece
    case: Case
    side: Side | None
    wants: Mapping[str, Want]
    promises: Mapping[tuple[str, str], Promise]

    @classmethod
    def of(cls, swept: Case, side: Side | None, piece: Piece, sample: int) -> Part:
        """Computes the promises for a piece of a sweep; `swept` is a case of that sweep.

        If the reference computes in float64, it is compared with the wide reference on `sample` elements.

        Raises:
          ReferenceFault: the two differ, or one of them fails.
        """
        case = replace(swept, recipe=piece.recipe)
        spec, dtype = case.spec, case.dtype
        inputs = piece.bits(dtype)
        x = inputs.array()
        with quick() as taken:
            found = expected(case, inputs, side, x)
        if taken and sample:
            _agree(case, inputs, side, found.wants, sample)
        unit = float(ml_dtypes.finfo(dtype).eps) / 2
        (g,) = found.upstreams or (None,)

        def bound(largest: Callable[..., Any] | None) -> Bound | None:
            if largest is None:
                return None

            def at(places: np.ndarray) -> np.ndarray:
                every = places.size > x.size // WORTH  # the reference has computed functions of all of them
                chosen = slice(None) if every else places
                with quick():
                    upstream = None if g is None else widened(g[chosen])
                    allowed = largest(unit, upstream, widened(x[chosen]), **case.keywords)
                return np.broadcast_to(allowed, x.shape)[places] if every else allowed

            return at

        promises: dict[tuple[str, str], Promise] = {}
        for q, w in found.wants.items():
            if w.status != "value" or w.value is None or w.dtype is None:
                continue
            by_terms: dict[Any, Promise] = {}
            for family in MODE_FAMILIES:
                terms = spec.tolerance.ulps(q, dtype, family), in_mode(spec.tolerance.bound_of(q), family)
                if terms not in by_terms:
                    budget, largest = terms
                    by_terms[terms] = Promise(w.value, w.dtype, budget, bound(largest), unsigned_zeros=w.unsigned_zeros)
                promises[q, family] = by_terms[terms]
        return cls(piece, case, side, found.wants, promises)

    @property
    def inputs(self) -> Bits:
        """The inputs of the piece."""
        return self.piece.bits(self.case.dtype)

    @cached_property
    def _bins(self) -> Bins:
        """The bins of the inputs."""
        return Bins.of(self.inputs.array())

    @cached_property
    def _segments(self) -> Segments:
        """The segments of the inputs."""
        return Segments.of(self.inputs)

    def errors(self, quantity: str, mode: str, result: Result, start: int, size: int) -> Errors:
        """The errors of this piece.

        The result is of a run in `mode` and has `size` elements; its first one has the bit pattern `start`.
        """
        want, inputs = self.wants.get(quantity, NOTHING), self.inputs
        promise = self.promises.get((quantity, mode_family(mode)))
        value = result.value if result.status == "value" else None
        if promise is None or value is None or value.shape != (size,) or value.dtype != promise.dtype:
            line = compare(result, want.in_mode(mode), quantity)
            tally = of_comparison(line, inputs.size, inputs.lo, self.case.dtype)
            tally.status, tally.code = result.status, result.code
            return Errors(tally)
        first = (inputs.lo - start) // inputs.step
        got = value[first : first + inputs.size]
        with np.errstate(all="ignore"):
            excuse = partial(self._flushed, quantity, mode) if is_float(promise.dtype) else None
            difference = promise.compare(got, excuse, self._segments.starts)
            profiled = np.dtype(self.case.dtype).itemsize <= PROFILED
            distances = promise.distances(got, difference) if profiled else None
            tally = of_difference(difference, inputs.lo, self.case.dtype, inputs.step)
        errors = Errors(tally, accuracy=accuracy_of(difference, self._segments, inputs))
        if distances is None:
            return errors
        return replace(errors, profile=self._bins.profile(distances, argument="input[0]", budget=promise.budget))

    def _flushed(self, quantity: str, mode: str, at: np.ndarray, got: np.ndarray, found: Differences) -> np.ndarray:
        """The elements that would be right if subnormal numbers may be flushed, as a bool array.

        A result may be ±0 if a subnormal number is promised. If the input is subnormal, the result may be that of ±0
        or of ± the smallest normal number. XLA's exhaustive tests use the same rule
        (`GetTestValuesWithSubnormalSubstitutions`):
        https://github.com/openxla/xla/blob/main/xla/tests/exhaustive/exhaustive_op_test_utils.h
        A gradient is a derivative times an upstream. A subnormal derivative may be 0; else it has only the few digits
        of a subnormal number, and the upstream multiplies its rounding error. The same holds for a derivative that is
        a little larger, if it is `FACTOR` times a subnormal number at most: 2/√π exp(-x²) is normal where exp(-x²) is
        not.
        """
        promise, info = self.promises[quantity, mode_family(mode)], ml_dtypes.finfo(self.case.dtype)
        flushed = found.classes["subnormal"].copy()
        least, normal = float(info.smallest_subnormal), float(info.smallest_normal)
        if family_of(quantity) == "grad":
            g = np.abs(upstream_at(self.inputs, at))
            wide = found.rounded.astype(np.float64)
            off = (found.absolute <= (1 + promise.budget) * least * g) | (got == 0)
            small = np.abs(wide) <= FACTOR * normal * g
            flushed |= np.isfinite(got) & small & off & (np.signbit(got) == np.signbit(wide))
        if self.piece.recipe == SUBNORMAL:
            _, first, phase = np.unique(upstream_at(self.inputs, at), return_index=True, return_inverse=True)
            for substitute in (0.0, -0.0, normal, -normal):
                with quick():
                    x = np.full(first.size, substitute, self.case.dtype)  # the promise depends on the upstream only
                    promises = expected(self.case, self.inputs, self.side, x, at[first], bounds=True)
                want = promises.wants[quantity].in_mode(mode)
                if want.value is not None:
                    bound = None if want.bound is None else np.broadcast_to(want.bound, x.shape)[phase]
                    near = differences(got, want.value[phase], promise.dtype, budget=promise.budget, bound=bound)
                    flushed |= ~near.wrong
        return flushed


def _agree(case: Case, inputs: Bits, side: Side | None, wants: Mapping[str, Want], sample: int) -> None:
    """Compares the promises `wants`, computed in float64 for the inputs, with those of wide references, on a sample.

    They may differ by 1/16 ULP of the dtype, and beyond twice its largest number, where all round to infinity.

    Raises:
      ReferenceFault: they differ by more.
    """
    dtype, lo, x = np.dtype(case.dtype), inputs.lo, inputs.array()
    count = min(x.size, sample)
    at = np.unique((lo * 0x9E3779B1 % x.size + np.arange(count) * (x.size // count)) % x.size)
    budget = 2.0 ** (np.finfo(np.float64).nmant - ml_dtypes.finfo(dtype).nmant - 4)
    beyond = 2 * float(ml_dtypes.finfo(dtype).max)
    for quantity, wide in expected(case, inputs, side, x[at], at).wants.items():
        one = wants[quantity].value
        if one is None or wide.value is None or wide.value.dtype not in (np.float64, np.longdouble):
            continue
        with np.errstate(all="ignore"):
            near, promised = (np.clip(v, -beyond, beyond) for v in (one[at].astype(np.float64), wide.value))
            found = differences(near, promised, np.dtype(np.float64), budget=budget)
        if found.wrong.any():
            i = int(np.flatnonzero(found.wrong)[0])
            raise ReferenceFault(
                f"reference suspect: {quantity} of {case.id} at {x[at[i]]} ({lo + int(at[i]) * inputs.step:#x}) is"
                f" {one[at[i]]!r}"
                f" in float64, {wide.value[i]!r} in wider numbers"
            )


class Oracle:
    """The parts of blocks; with several plans, it stores the parts of the last block for each side of the contract."""

    def __init__(self, case: Case, plans: int) -> None:
        """`case` is a case of the sweep, `plans` the number of its plans."""
        self.case, self._store = case, plans > 1
        self._stored: dict[str, tuple[int, list[Part]]] = {}

    def parts(self, block: Bits, promise: str) -> Iterator[Part]:
        """The parts of a block, in order; `promise` is the name of a plan's promise, see `Spec.promise`."""
        lo, hi, step = block.lo, block.hi, block.step
        stored, side = self._stored.get(promise), self.case.spec.contract.get(promise)
        if stored is not None and stored[0] == lo:
            yield from stored[1]
            return
        self._stored.pop(promise, None)  # first free the old block, so that only one takes memory
        dtype, parts = self.case.dtype, []
        for piece in pieces(dtype, lo, hi, step):
            part = Part.of(self.case, side, piece, SAMPLE[np.dtype(dtype).itemsize])
            yield part
            if self._store:
                parts.append(part)
        if self._store:
            self._stored[promise] = lo, parts
