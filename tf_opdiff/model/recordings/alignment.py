"""Alignment: the recorded values of eager mode and those of the trace; the first op whose value the trace lacks.

Both programs ran op by op in eager mode. A value of one that the other has as well, whatever op gave it, is harmless;
an op is to blame if the trace has the values that it takes, and lacks the one that it gives.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest

import ml_dtypes
import numpy as np

from tf_opdiff.model.answers import tolerance
from tf_opdiff.model.recordings.plain_attr import plain_attr
from tf_opdiff.model.recordings.recorded import Place, RecordedOp, Recording
from tf_opdiff.model.recordings.values import ValueReader

#: How near two values are that count as one, in units of the dtype's precision, and at most.
_NEAR, _MOST = 128, 0.01


@dataclass(frozen=True)
class Misfit:
    """A recorded op whose value the trace lacks: its number, and the difference in words."""

    number: int
    sentence: str


class Values:
    """The values of a recording; finds one that is near a given array."""

    def __init__(self, recording: Recording) -> None:
        self.recording, self._read = recording, ValueReader(recording.file)
        self._buckets: dict[tuple[str, tuple[int, ...]], list[int]] = defaultdict(list)
        for number, stored in enumerate(recording.values):
            if stored is not None:
                self._buckets[stored.dtype, stored.shape].append(number)

    def array(self, number: int) -> np.ndarray:
        """A value, read-only."""
        stored = self.recording.values[number]
        assert stored is not None
        return self._read(stored)

    def has(self, array: np.ndarray) -> bool:
        """Whether a value of the recording is near an array of the same dtype and shape."""
        name = "bytes" if array.dtype.kind == "O" else array.dtype.name
        return any(near(self.array(n), array) for n in self._buckets[name, array.shape])


def near(one: np.ndarray, other: np.ndarray) -> bool:
    """Whether two arrays are equal but for a few roundings of their largest element."""
    if one.dtype != other.dtype or one.shape != other.shape:
        return False
    if tolerance.same_bits(one, other):
        return True
    if not tolerance.is_real(one.dtype):
        return bool(np.array_equal(one, other))
    return tolerance.relative_error(one, other) <= min(_MOST, _NEAR * float(ml_dtypes.finfo(one.real.dtype).eps))


def first_misfit(recording: Recording, trace: Recording, results: Collection[str]) -> Misfit | None:
    """The first op to blame for the results, by name, that differ between a recording and that of the trace."""
    eager, traced = Values(recording), Values(trace)
    origins = sorted(_origins(eager, traced, {recording.results[name] for name in results}))
    if not origins:
        return None
    op = recording.ops[origins[0]]
    values = [v for v in op.results if recording.values[v]]
    if all(_present(v, eager, traced) for v in values) and (decision := _decision(eager, traced)):
        return decision
    return Misfit(op.number, _sentence(op, eager, traced) or _without_partner(op, eager, traced))


def _decision(eager: Values, traced: Values) -> Misfit | None:
    """The first truth value that is another one in the trace, such as that of the condition of a loop, by its line."""
    others = {place: [value for _, value in each] for place, each in _truths(traced).items()}
    firsts = list[tuple[int, bool]]()
    for place, each in _truths(eager).items():
        pairs = zip_longest(each, others.get(place, [value for _, value in each]))
        firsts += [own for own, other in pairs if own and own[1] != other][:1]
    if not firsts:
        return None
    number, value = min(firsts)
    return Misfit(number, f"it is {value} in eager mode, and {not value} in the trace, which runs other ops after it")


def _truths(values: Values) -> dict[Place, list[tuple[int, bool]]]:
    """Line of the program → the ops that give one truth value, and these values."""
    truths: dict[Place, list[tuple[int, bool]]] = defaultdict(list)
    for op in values.recording.ops:
        stored = values.recording.values[op.outputs[0]] if op.outputs else None
        if stored and (stored.dtype, stored.shape) == ("bool", ()) and op.place.line:
            place = Place(file=op.place.file, line=op.place.line)
            truths[place].append((op.number, bool(values.array(op.outputs[0]))))
    return truths


def _origins(eager: Values, traced: Values, results: Collection[int]) -> Iterator[int]:
    """The ops whose values the trace lacks, and whose operands it has, on the ways to the results."""
    recording, seen, present = eager.recording, set[int](), dict[int, bool]()
    waiting = [n for v in results if (n := recording.producers.get(v)) is not None]

    def lacking(value: int) -> bool:
        if value not in present:
            present[value] = recording.values[value] is None or _present(value, eager, traced)
        return not present[value]

    while waiting:
        number = waiting.pop()
        if number in seen:
            continue
        seen.add(number)
        op = recording.ops[number]
        missing = [v for v in op.operands if v in recording.producers and lacking(v)]
        # A trace knows sizes, and needs no ops for them: numbers with rounding count first.
        real = [v for v in missing if tolerance.is_real(eager.array(v).dtype)]
        if not missing:
            yield number
        waiting += [recording.producers[v] for v in real or missing]


def _present(value: int, eager: Values, traced: Values) -> bool:
    """Whether the trace has a value. An op that gives one of its operands, such as a product with 1, must be there."""
    array = eager.array(value)
    if not traced.has(array):
        return False
    op = eager.recording.ops[eager.recording.producers[value]]
    own = _operands(op, eager)
    if (
        len(own) < 2
        or not tolerance.is_real(array.dtype)
        or not any(a is not None and tolerance.same_bits(a, array) for a in own)
    ):
        return True
    others = [o for o in traced.recording.ops if o.type == op.type and len(o.inputs) == len(op.inputs)]
    return any(not _apart(own, _operands(other, traced)) for other in others)


def _apart(own: Sequence[np.ndarray | None], others: Sequence[np.ndarray | None]) -> list[int]:
    """The positions of operands that are not near; one without a value is near to any."""
    pairs = enumerate(zip(own, others, strict=True))
    return [n for n, (a, b) in pairs if a is not None and b is not None and not near(b, a)]


def _sentence(op: RecordedOp, eager: Values, traced: Values) -> str:
    """How an op of the trace differs from a recorded one, where it is clear which one stands for it."""
    nearest = sorted(traced.recording.ops, key=lambda other: other.place.line != op.place.line)
    return next(filter(None, (_compared(op, other, eager, traced) for other in nearest)), "")


def _compared(op: RecordedOp, other: RecordedOp, eager: Values, traced: Values) -> str:
    """The one attribute or operand that differs, in words; empty if more than one does, or none."""
    if other.type != op.type or len(other.inputs) != len(op.inputs):
        return ""
    own, taken = _operands(op, eager), _operands(other, traced)
    apart, attribute = _apart(own, taken), _attribute(op, other)
    if not apart or attribute or len(apart) > 1 or len(own) == 1:
        return attribute if not apart else ""
    return _operand(apart[0], own[apart[0]], taken[apart[0]])


def _operands(op: RecordedOp, values: Values) -> list[np.ndarray | None]:
    return [values.array(v) if values.recording.values[v] else None for v in op.inputs]


def _without_partner(op: RecordedOp, eager: Values, traced: Values) -> str:
    """What the trace does with the operands of an op for which it has none, in words."""
    own = [a for a in _operands(op, eager) if a is not None and a.size > 1]
    kinds = dict[str, None]()
    for other in traced.recording.ops:
        taken = [a for a in _operands(other, traced) if a is not None]
        if other.type != op.type and any(near(a, b) for a in own for b in taken):
            kinds[other.type] = None
    to = f"; what it takes goes to {', '.join(kinds)}" if kinds else ""
    return f"eager mode runs {op.type}, and no op of the trace gives its result{to}"


def _attribute(op: RecordedOp, partner: RecordedOp) -> str:
    """The first attribute that differs, in words."""
    others = dict(partner.attrs)
    for name, value in op.attrs:
        own, other = plain_attr(value), plain_attr(others.get(name))
        if own is not None and type(own) is type(other) and own != other:
            return f"its attribute {name} is {own} in eager mode and {other} in the trace"
    return ""


def _operand(position: int, own: np.ndarray | None, other: np.ndarray | None) -> str:
    if own is None or other is None or own.shape != other.shape or own.dtype != other.dtype:
        return ""
    at = np.unravel_index(np.argmax(own != other), own.shape)
    return f"its operand {position} is {own[at]} in eager mode and {other[at]} in the trace"
