"""Judging: whether results of a program differ by more than rounding, by a base and copies of it that are a little off.

The base is the program in eager mode. In a copy, the result of each op is off by up to its budget, and so is each
operand of an op that adds up many products. What such a change does to a result, rounding may do to it as well; so may
threads that flush subnormals. One more copy runs in float64: where only an overflow on the way makes an infinity or a
NaN, another order of the same steps gives a number.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import ml_dtypes
import numpy as np

from tf_opdiff.discover.budgets import WordBudgets
from tf_opdiff.discover.programs.program import Program
from tf_opdiff.harness.judge.differences.comparison import Comparison
from tf_opdiff.harness.spec.inputs.recipes import is_float
from tf_opdiff.model.answers import tolerance
from tf_opdiff.model.worker import Worker

#: The seeds of the copies; the negative ones flush subnormals.
SEEDS = (*range(12), -1, -2, -3, -4)
#: How many times the largest change of the copies is allowed: a dozen copies do not find the largest one there is.
_FACTOR = 4.0
#: A number within this factor of the largest float may be an infinity, and one of the smallest normal float a zero:
#: the steps inside of an op overflow and flush in another order.
_NEAR = 1024.0
#: The allowed distance in ULPs of any result.
_ULPS = 16.0
#: Parts of messages of ops that have no kernel for XLA: coverage of kernels is no difference.
_NO_KERNEL = ("Detected unsupported operations", "No registered", "UNIMPLEMENTED")

Arrays = Sequence[np.ndarray]


@dataclass(frozen=True)
class Difference:
    """How a program differs in a mode.

    Attributes:
      mode: the mode.
      kind: the kind of difference, as in records.
      output: the number of the result.
      draw: the inputs.
      got, want: the results that differ; an error or a short array in words.
    """

    mode: str
    kind: str
    output: int
    draw: tuple[np.ndarray, ...]
    got: str
    want: str


class Judge:
    """Judges programs on one device; it asks a `ProgramServer` for their results.

    Attributes:
      mode: the mode in which the last program ran last.
    """

    def __init__(self, worker: Worker, budgets: WordBudgets) -> None:
        self._worker, self._budgets = worker, budgets
        self.mode = ""

    def differences(
        self, program: Program, draws: Sequence[tuple[np.ndarray, ...]], modes: Sequence[str]
    ) -> dict[str, list[Difference]] | None:
        """The differences by mode; None for a program that eager mode refuses.

        Raises:
          WorkerEnded: the process ended in a mode.
        """
        self.mode = "eager"
        bases = self._worker.ask("run", program.base, "eager", draws)
        accepted = [(draw, base) for draw, base in zip(draws, bases, strict=True) if not isinstance(base, str)]
        if not accepted:
            return None
        return {mode: list(self._in_mode(program, accepted, mode)) for mode in modes}

    def value(self, program: Program, draw: Arrays) -> np.ndarray | None:
        """The result in eager mode; None if it is refused."""
        (result,) = self._worker.ask("run", program.text, "eager", [draw])
        return None if isinstance(result, str) else result[0]

    def _in_mode(
        self, program: Program, accepted: Sequence[tuple[tuple[np.ndarray, ...], Arrays]], mode: str
    ) -> Iterator[Difference]:
        """The differences in a mode, at most one for each draw."""
        self.mode = mode
        results = self._worker.ask("run", program.text, mode, [draw for draw, _ in accepted], program.unknown)
        for (draw, base), got in zip(accepted, results, strict=True):
            if isinstance(got, str):
                if not any(words in got for words in _NO_KERNEL):
                    yield Difference(mode, "status", 0, draw, got, _short(base[0]))
                return
            for number, (one, want) in enumerate(zip(got, base, strict=False)):
                if not tolerance.same_bits(one, want) and tolerance.serious(tolerance.compared(one, want, _ULPS)):
                    comparison = self._judged(program, draw, number, (one, want), mode)
                    if tolerance.serious(comparison):
                        kind = next(kind for kind in comparison.kinds if kind not in tolerance.MINOR)
                        yield Difference(mode, kind, number, draw, _short(one), _short(want))
                        break

    def _judged(
        self, program: Program, draw: Arrays, number: int, pair: tuple[np.ndarray, np.ndarray], mode: str
    ) -> Comparison:
        """The comparison of a result, without what the copies explain."""
        got, want = pair
        if got.shape != want.shape or got.dtype != want.dtype:
            return tolerance.compared(got, want, 0.0)
        text = program.hooked(self._budgets.conditioned(mode))
        every = self._worker.ask("shaken", text, draw, self._ulps(program, mode), SEEDS)
        every += self._worker.ask("run", program.base, "eager", [[_widened(x) for x in draw]])
        with np.errstate(all="ignore"):
            arrays = [copy[number] for copy in every if not isinstance(copy, str)]
            copies = [array.astype(want.dtype) for array in arrays if array.shape == want.shape]
        if len(copies) < len(SEEDS) // 2:  # an op refuses what is a little off: no condition is known
            return tolerance.compared(want, want, 0.0)
        return explained(got, want, copies)

    def _ulps(self, program: Program, mode: str) -> Mapping[int, float]:
        """The number of each op → its budget, in the order of the hooks."""
        return dict(enumerate(self._budgets(op.text, program.dtypes[0], mode) for op in program.ops))


def explained(got: np.ndarray, want: np.ndarray, copies: Sequence[np.ndarray]) -> Comparison:
    """The comparison of a result with its base; elements that the copies explain count as equal.

    An element may have the class (NaN, infinity, zero) of any copy. Where the copies disagree on the class, no number
    is promised. Elsewhere an element may be `_FACTOR` times as far off as the farthest copy.
    """
    if not tolerance.is_real(want.dtype):
        undecided = np.logical_or.reduce([copy != want for copy in copies])
        return tolerance.compared(np.where(undecided, want, got).astype(got.dtype), want, 0.0)
    with np.errstate(all="ignore"):
        classes = [np.where(np.isnan(copy), 2, np.where(np.isinf(copy), 1, 0)) for copy in copies]
        own = np.where(np.isnan(want), 2, np.where(np.isinf(want), 1, 0))
        wide = want.astype(np.float64)
        undecided = np.logical_or.reduce([c != own for c in classes])
        undecided |= np.logical_or.reduce([np.isinf(want) & (copy != want) & ~np.isnan(copy) for copy in copies])
        distances = [np.abs(copy.astype(np.float64) - wide) for copy in copies]
        spread = np.maximum.reduce([np.where(np.isfinite(d), d, 0.0) for d in distances])
        info = ml_dtypes.finfo(want.dtype)
        near = float(info.max) / _NEAR
        undecided |= np.isinf(want) & (np.abs(got.astype(np.float64)) > near)
        undecided |= np.isinf(got) & (np.abs(wide) > near)
    equal = np.where(undecided, want, got).astype(got.dtype)
    return tolerance.compared(equal, want, _ULPS, _FACTOR * spread + _NEAR * float(info.smallest_normal))


def _widened(x: np.ndarray) -> np.ndarray:
    return x.astype(np.float64) if is_float(x.dtype) else x


def _short(array: np.ndarray) -> str:
    """An array in at most 60 characters."""
    text = np.array2string(array.ravel()[:8], separator=", ", precision=6).replace("\n", "")
    return text if len(text) <= 60 else f"{text[:57]}…"
