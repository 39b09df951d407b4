"""Repeat: self-checks of a run: a rerun gives the same bits, position does not matter, inputs are not modified."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tf_opdiff.harness.device.observation import Result
from tf_opdiff.harness.device.request import Arguments
from tf_opdiff.harness.spec.inputs.recipes import is_float
from tf_opdiff.harness.spec.quantity import Quantity, family_of
from tf_opdiff.harness.spec.spec import Spec

#: The self-checks of a run, and those of the rows of a batch: see `harness.device.rows`. Each has the name of the kind
#: of record that it gives.
RUN_CHECKS = ("input_mutated", "nondeterministic", "position")
ROW_CHECKS = ("batch", "leak")
SELF_CHECKS = (*RUN_CHECKS, *ROW_CHECKS)
#: The shapes in which an elementwise op receives the values again: one alone, widths of vector registers, a batch.
PIECES = (*((n,) for n in (1, 3, 7, 8, 9, 15, 16, 17, 31, 33)), (5, 7))
_ENDS = np.cumsum([math.prod(shape) for shape in PIECES])


def self_checks_of(spec: Spec, inputs: Sequence[np.ndarray]) -> tuple[str, ...]:
    """The self-checks of a case; the second run of a program with state may differ from its first."""
    if spec.execution.state:
        return RUN_CHECKS[:1]
    alike = len({x.shape for x in inputs}) == 1 and all(x.size for x in inputs)
    of_run = RUN_CHECKS if spec.elementwise and alike else RUN_CHECKS[:2]
    return of_run if spec.batch is None else (*of_run, *ROW_CHECKS)


def same(one: Result, other: Result) -> bool:
    """Whether two results have the same bits; all NaNs count as the same."""
    if (one.status, one.code, one.shape) != (other.status, other.code, other.shape):
        return False
    return _alike(one.value, other.value) and _alike(one.indices, other.indices)


def _alike(a: np.ndarray | None, b: np.ndarray | None) -> bool:
    if a is None or b is None:
        return a is b
    return (a.shape, a.dtype) == (b.shape, b.dtype) and not differing(a, b).any()


def differing(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Where two arrays of one shape and dtype differ in a bit (all NaNs are the same); a bool array of that shape."""
    if a.dtype.kind == "c":
        return differing(a.real, b.real) | differing(a.imag, b.imag)
    if not is_float(a.dtype):
        return np.asarray(a != b)
    with np.errstate(invalid="ignore"):
        return (a != b) & ~(np.isnan(a) & np.isnan(b)) | (np.signbit(a) != np.signbit(b)) & (a == 0) & (b == 0)


def in_pieces(spec: Spec) -> Spec:
    """The spec with the program of all pieces: its inputs are those of the first piece, then of the second, …"""

    def program(tf: Any, *parts: Any) -> list[Any]:
        count = len(parts) // len(PIECES)
        pieces = (spec.program(tf, *parts[i : i + count]) for i in range(0, len(parts), count))
        return [y for ys in pieces for y in (ys if isinstance(ys, (tuple, list)) else [ys])]

    return spec.but(program=program, recipes={}, upstreams={})


def cut(arrays: Sequence[np.ndarray | None]) -> tuple[np.ndarray | None, ...]:
    """The pieces of each array, whose values repeat until all pieces are full; in the order of `in_pieces`."""
    whole = [None if a is None else np.split(np.resize(a, _ENDS[-1]), _ENDS[:-1]) for a in arrays]
    return tuple(None if w is None else w[i].reshape(shape) for i, shape in enumerate(PIECES) for w in whole)


def cut_arguments(arguments: Arguments) -> Arguments:
    """The arguments of the program of all pieces, without tangents."""
    upstreams = None if arguments.upstreams is None else cut(arguments.upstreams)
    return Arguments(cut(arguments.inputs), upstreams)


def sizes(place: int, size: int) -> list[int]:
    """The sizes of the pieces that hold the value at a place in the flat order of `size` values."""
    ends = zip(PIECES, _ENDS.tolist(), strict=True)
    begins = ((math.prod(shape), end - math.prod(shape)) for shape, end in ends)
    return [count for count, begin in begins if (place - begin) % size < count]


#: Reruns with these arguments, the program of all pieces or the program itself: results by quantity, or an error.
Rerun = Callable[[Arguments, bool], tuple[Mapping[str, Result], Result | None]]


def run_self_checks(
    kinds: Sequence[str],
    arguments: Arguments,
    before: Sequence[np.ndarray],
    after: Sequence[Result],
    results: Mapping[str, Result],
    rerun: Rerun,
) -> dict[str, dict[str, Result]]:
    """The results that differ from those of the run, by self-check and quantity; a sound op has none.

    Args:
      kinds: out of `RUN_CHECKS`.
      arguments: those of the run.
      before: copies of the inputs, made before the run; their results are called `input[i]`.
      after: the inputs after the run.
      results: those of the run.
      rerun: see `Rerun`.
    """
    differences = {}
    for kind in kinds:
        expected = dict(results)
        if kind == "input_mutated":
            expected = {f"input[{i}]": Result("value", x) for i, x in enumerate(before)}
            repeats = dict(zip(expected, after, strict=True))
        elif kind == "nondeterministic":
            second, error = rerun(arguments, False)
            repeats = dict.fromkeys(expected, error) if error else dict(second)
        else:
            expected = {q: r for q, r in results.items() if family_of(q) in ("output", "grad")}
            pieces, error = rerun(cut_arguments(arguments), True)
            repeats = {q: error or _joined(q, pieces, results) for q in expected}
        differences[kind] = {q: repeats[q] for q in expected if not same(repeats[q], expected[q])}
    return differences


def _joined(quantity: str, pieces: Mapping[str, Result], results: Mapping[str, Result]) -> Result:
    """A quantity put together from its pieces; where copies of a value differ, one that differs from `results`."""
    family = family_of(quantity)
    names = [q for q in results if family_of(q) == family]
    numbers = range(names.index(quantity), len(PIECES) * len(names), len(names))
    return _join([pieces[str(Quantity(family, k))] for k in numbers], results[quantity])


def _join(parts: Sequence[Result], base: Result) -> Result:
    odd = next((p for p in parts if (p.status, p.code) != (base.status, base.code)), None)
    if odd is not None or base.value is None or not base.value.size:
        return odd or base
    values = [p.value for p in parts if p.value is not None]
    wrong = next((p for p, v, s in zip(parts, values, PIECES, strict=True) if v.shape != s), None)
    if wrong is not None or any(v.dtype != base.value.dtype for v in values):
        return wrong or parts[0]
    flat = np.concatenate([v.ravel() for v in values])
    at = np.arange(flat.size) % base.value.size
    off = differing(flat, base.value.ravel()[at])
    joined = base.value.copy()
    joined.reshape(-1)[at[off]] = flat[off]
    return replace(base, value=joined)
