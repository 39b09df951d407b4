"""Again: a run held against itself: the same the second time, the same wherever a value stands, its inputs whole."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tf_opdiff.harness.device.observation import Result
from tf_opdiff.harness.device.request import Arguments
from tf_opdiff.harness.spec.recipes import is_float
from tf_opdiff.harness.spec.spec import Spec

#: What a run can be asked for beyond its values, by the kind of what may be found.
AGAIN = ("input_mutated", "nondeterministic", "position")
#: The shapes in which an elementwise op gets the values anew: alone, around the widths of vector registers, in a batch.
PIECES = (*((n,) for n in (1, 3, 7, 8, 9, 15, 16, 17, 31, 33)), (5, 7))
_ENDS = np.cumsum([math.prod(shape) for shape in PIECES])


def kinds(spec: Spec, inputs: Sequence[np.ndarray]) -> tuple[str, ...]:
    """What a case's runs are held against: nothing for a program with state, for whose second run is another one."""
    if spec.state:
        return ()
    alike = len({x.shape for x in inputs}) == 1 and all(x.size for x in inputs)
    return AGAIN if spec.elementwise and alike else AGAIN[:2]


def same(one: Result, other: Result) -> bool:
    """Whether two results are the same bit for bit; every NaN is like any other."""
    if (one.status, one.code, one.shape) != (other.status, other.code, other.shape):
        return False
    return _alike(one.value, other.value) and _alike(one.indices, other.indices)


def _alike(a: np.ndarray | None, b: np.ndarray | None) -> bool:
    if a is None or b is None:
        return a is b
    return (a.shape, a.dtype) == (b.shape, b.dtype) and not differing(a, b).any()


def differing(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Where arrays of one shape and dtype differ in a bit; a bool array of that shape."""
    if a.dtype.kind == "c":
        return differing(a.real, b.real) | differing(a.imag, b.imag)
    if not is_float(a.dtype):
        return np.asarray(a != b)
    with np.errstate(invalid="ignore"):
        return (a != b) & ~(np.isnan(a) & np.isnan(b)) | (np.signbit(a) != np.signbit(b)) & (a == 0) & (b == 0)


def in_pieces(spec: Spec) -> Spec:
    """The spec with a program of all pieces: its inputs are those of the first piece, of the second, and so on."""

    def program(tf: Any, *parts: Any) -> list[Any]:
        count = len(parts) // len(PIECES)
        made = (spec.program(tf, *parts[i : i + count]) for i in range(0, len(parts), count))
        return [y for ys in made for y in (ys if isinstance(ys, (tuple, list)) else [ys])]

    return replace(spec, program=program, recipes={})


def cut(arrays: Sequence[np.ndarray | None]) -> tuple[np.ndarray | None, ...]:
    """The pieces of each array's values, taken over and over till all pieces are full, in the program's order."""
    whole = [None if a is None else np.split(np.resize(a, _ENDS[-1]), _ENDS[:-1]) for a in arrays]
    return tuple(None if w is None else w[i].reshape(shape) for i, shape in enumerate(PIECES) for w in whole)


def cut_arguments(arguments: Arguments) -> Arguments:
    """The arguments of the program of all pieces, without tangents."""
    upstreams = None if arguments.upstreams is None else cut(arguments.upstreams)
    return Arguments(cut(arguments.inputs), upstreams)


def sizes(place: int, size: int) -> list[int]:
    """The numbers of elements of the pieces that hold the value at a place in the flat order of `size` values."""
    ends = zip(PIECES, _ENDS.tolist(), strict=True)
    begins = ((math.prod(shape), end - math.prod(shape)) for shape, end in ends)
    return [count for count, begin in begins if (place - begin) % size < count]


#: Reruns with these arguments, the program of all pieces or the program itself: results by quantity, or an error.
Rerun = Callable[[Arguments, bool], tuple[Mapping[str, Result], Result | None]]


def repeated(
    kinds: Sequence[str],
    arguments: Arguments,
    before: Sequence[np.ndarray],
    after: Sequence[Result],
    found: Mapping[str, Result],
    rerun: Rerun,
) -> dict[str, dict[str, Result]]:
    """What a run gives again, by kind and quantity, as far as it differs from what it gave: of a sound op, nothing.

    Args:
      kinds: out of `AGAIN`.
      arguments: those of the run.
      before: copies of its inputs, made before it; they go under `input[i]`.
      after: its inputs as they are now.
      found: what it gave.
      rerun: see `Rerun`.
    """
    again = {}
    for kind in kinds:
        was = dict(found)
        if kind == "input_mutated":
            was = {f"input[{i}]": Result("value", x) for i, x in enumerate(before)}
            now = dict(zip(was, after, strict=True))
        elif kind == "nondeterministic":
            results, error = rerun(arguments, False)
            now = dict.fromkeys(was, error) if error else dict(results)
        else:
            was = {q: r for q, r in found.items() if q.startswith(("output", "grad"))}
            results, error = rerun(cut_arguments(arguments), True)
            now = {q: error or _joined(q, results, found) for q in was}
        again[kind] = {q: now[q] for q in was if not same(now[q], was[q])}
    return again


def _joined(quantity: str, parts: Mapping[str, Result], base: Mapping[str, Result]) -> Result:
    """What the pieces gave for a quantity, in its own shape: where copies of a value differ from it, one of them."""
    name = quantity.partition("[")[0]
    names = [q for q in base if q.startswith(f"{name}[")]
    mine = range(names.index(quantity), len(PIECES) * len(names), len(names))
    return _join([parts[f"{name}[{k}]"] for k in mine], base[quantity])


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
    found = base.value.copy()
    found.reshape(-1)[at[off]] = flat[off]
    return replace(base, value=found)
