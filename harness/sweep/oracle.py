"""Oracle: what a spec promises on a block of bit patterns, worked out once for all plans on a side of its contract."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import ml_dtypes
import numpy as np

from harness.compare import compare, differences
from harness.expect import Expectation, Want, expectation, result_dtype
from harness.inputs import bit_patterns, is_float
from harness.observation import Result
from harness.request import Bits, Cycle
from harness.spec import Case, Raises, Side, Spec
from harness.sweep.pieces import DTYPES, SUBNORMAL, Piece, pieces
from harness.sweep.promise import Difference, Promise
from harness.sweep.tally import Tally, of_difference

#: The upstream gradient: non-zero, of both signs, exact in every float dtype; 7 is no divisor of a vector's width.
UPSTREAM = (1.0, -0.5, 2.5, -3.0, 0.75, -1.25, 1.75)


def refusal(spec: Spec, dtype: str) -> str:
    """Why a spec can't be swept in a dtype, or nothing."""
    if dtype not in spec.dtypes or dtype not in DTYPES:
        return f"{spec.name} promises nothing for {dtype} that a sweep could try; sweeps take {', '.join(DTYPES)}"
    if spec.state or bit_patterns not in spec.recipes.values():
        return f"{spec.name} has no recipe of random bit patterns, so it does not promise something for every input"
    case = next(c for c in spec.cases(dtype) if spec.recipes[c.recipe] is bit_patterns)
    inputs = case.inputs()
    for side in (None, *spec.contract.values()):
        want = expectation(case, inputs, side).wants["output[0]"]
        back = expectation(case, tuple(x[::-1] for x in inputs), side).wants["output[0]"]
        if isinstance(want.raises, Raises):
            continue
        if len(inputs) != 1 or want.value is None or want.value.shape != inputs[0].shape:
            return f"{spec.name} is not unary and elementwise"
        assert back.value is not None
        if not np.array_equal(want.value, back.value[::-1], equal_nan=True):
            return f"{spec.name} is not elementwise: its reference gives other values for the inputs reversed"
    return ""


def upstreams(lo: int, size: int, case: Case, outputs: list[np.ndarray]) -> tuple[Cycle | None, ...] | None:
    """The upstream of each floating-point output, which goes with the bit pattern and not with the block."""
    dtypes = [result_dtype(y, np.dtype(case.dtype)) for y in outputs]
    made = tuple(Cycle(d.name, UPSTREAM, lo, size) if is_float(d) else None for d in dtypes)
    return made if any(made) else None


def expected(case: Case, lo: int, x: np.ndarray, side: Side | None, at: np.ndarray | None = None) -> Expectation:
    """What is promised for `x`, where its upstreams are those of the bit patterns from `lo` on, or of those at `at`."""
    last = x.size if at is None else int(at.max(initial=-1)) + 1

    def made(outputs: list[np.ndarray], _: Case) -> tuple[np.ndarray | None, ...] | None:
        told = upstreams(lo, last, case, outputs)
        arrays = None if told is None else tuple(None if g is None else g.array() for g in told)
        if arrays is None or at is None:
            return arrays
        return tuple(None if g is None else g[at] for g in arrays)

    return expectation(case, (x,), side, upstreams_of=made)


@dataclass(frozen=True)
class Part:
    """A piece of a block with its promises by quantity."""

    piece: Piece
    case: Case
    side: Side | None
    wants: Mapping[str, Want]
    promises: Mapping[str, Promise]

    @classmethod
    def of(cls, spec: Spec, dtype: str, side: Side | None, piece: Piece) -> Part:
        """Asks the reference."""
        case = Case(spec, dtype, piece.recipe)
        wants = expected(case, piece.lo, Bits(dtype, piece.lo, piece.hi).array(), side).wants
        promises = {
            q: Promise(w.value, w.dtype, spec.budget(q, dtype), w.bound)
            for q, w in wants.items()
            if w.status == "value" and w.value is not None and w.dtype is not None
        }
        return cls(piece, case, side, wants, promises)

    def tally(self, quantity: str, result: Result, start: int, size: int) -> Tally:
        """The tally of a result of `size` elements from the bit pattern `start` on, as far as this piece goes."""
        want = self.wants[quantity]
        promise = self.promises.get(quantity)
        if promise is None or result.status != "value" or result.value is None or result.value.shape != (size,):
            line = compare(result, want, quantity, budget=self.case.spec.budget(quantity, self.case.dtype))
            tally = of_difference(Difference(line), self.piece.lo)
            tally.status, tally.code, tally.message = result.status, result.code, line.detail
            tally.size = self.piece.hi - self.piece.lo
            tally.mismatched = tally.size if line.kind else 0
            return tally
        with np.errstate(all="ignore"):
            found = promise.compare(result.value[self.piece.lo - start : self.piece.hi - start])
        accepted = None
        if self.piece.recipe == SUBNORMAL and found.found is not None and found.comparison.kind:
            accepted = self._accepted(quantity, found)
        return of_difference(found, self.piece.lo, accepted)

    def _accepted(self, quantity: str, found: Difference) -> np.ndarray:
        """Which of the elements are right for ±0 or for ± the smallest normal number in place of a subnormal.

        So XLA's exhaustive tests have it, in `GetTestValuesWithSubnormalSubstitutions`:
        https://github.com/openxla/xla/blob/main/xla/tests/exhaustive/exhaustive_op_test_utils.h
        """
        assert found.at is not None and found.got is not None
        promise, dtype = self.promises[quantity], np.dtype(self.case.dtype)
        normal = float(ml_dtypes.finfo(dtype).smallest_normal)
        accepted = np.zeros(found.at.size, bool)
        for substitute in (0.0, -0.0, normal, -normal):
            x = np.full(found.at.size, substitute, dtype)
            want = expected(self.case, self.piece.lo, x, self.side, found.at).wants[quantity]
            if want.value is not None:
                near = differences(found.got, want.value, promise.dtype, budget=promise.budget, bound=want.bound)
                accepted |= ~near.wrong
        return accepted


class Oracle:
    """The parts of the last blocks; a block's are kept until another one is asked for on the same side."""

    def __init__(self, spec: Spec, dtype: str) -> None:
        self.spec, self.dtype = spec, dtype
        self._kept: dict[int, tuple[int, list[Part]]] = {}

    def parts(self, lo: int, hi: int, side: Side | None) -> list[Part]:
        """The parts of a block."""
        kept = self._kept.get(id(side))
        if kept is None or kept[0] != lo:
            self._kept.pop(id(side), None)  # before the next is made: only one takes memory
            kept = lo, [Part.of(self.spec, self.dtype, side, p) for p in pieces(self.dtype, lo, hi)]
            self._kept[id(side)] = kept
        return kept[1]
