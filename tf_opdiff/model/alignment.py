"""Alignment: the recorded ops of eager mode and those of the trace; the first that has no equal partner."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

import numpy as np

from tf_opdiff.harness.spec.recipes import is_float
from tf_opdiff.model.recorded import RecordedOp, Recording
from tf_opdiff.model.traced_op import FILLS, TracedOp, computes, plain_attr
from tf_opdiff.model.values import ValueReader


@dataclass(frozen=True)
class Misfit:
    """The first recorded op that has no equal in the trace: its number, and the difference in words.

    `value` says whether an attribute or an operand has another value; otherwise the ops themselves are others.
    """

    number: int
    sentence: str
    value: bool = False


def first_misfit(recording: Recording, traced: Sequence[TracedOp]) -> Misfit | None:
    """The first difference between a recording and a trace; None if each recorded op has an equal.

    Only ops that compute floats or complex numbers count: a trace knows its shapes, and needs no ops for them.
    """
    ops = [op for op in recording.ops if _counts(op, recording)]
    matcher = SequenceMatcher(None, [op.type for op in ops], [op.type for op in traced], autojunk=False)
    for kind, begin, end, other, other_end in matcher.get_opcodes():
        if kind != "equal":
            number = ops[min(begin, len(ops) - 1)].number
            return Misfit(
                number, f"eager mode runs {_types(ops[begin:end])}; the trace has {_traced(traced[other:other_end])}"
            )
        for op, partner in zip(ops[begin:end], traced[other:other_end], strict=True):
            if difference := _difference(op, partner, recording):
                return Misfit(op.number, difference, value=True)
    return None


def _difference(op: RecordedOp, partner: TracedOp, recording: Recording) -> str:
    """The first attribute or constant operand that differs, in words; empty if there is none."""
    for name, value in op.attrs:
        own, other = plain_attr(value), partner.attrs.get(name)
        if own is not None and type(own) is type(other) and own != other:
            return f"its attribute {name} is {own} in eager mode and {other} in the trace"
    read = ValueReader(recording.file)
    for position, other in partner.constants.items():
        stored = recording.values[op.inputs[position]]
        producer = recording.producers.get(op.inputs[position])
        if stored is None or (producer is not None and recording.ops[producer].type not in FILLS):
            continue
        value = read(stored)
        if value.shape == other.shape and value.dtype == other.dtype and not np.array_equal(value, other, _nan(value)):
            at = np.unravel_index(np.argmax(value != other), value.shape)
            return f"its operand {position} is {value[at]} in eager mode and {other[at]} in the trace"
    return ""


def _nan(value: np.ndarray) -> bool:
    return value.dtype.kind in "fc"


def _counts(op: RecordedOp, recording: Recording) -> bool:
    """Whether an op computes floats or complex numbers."""
    taken, given = ([one for v in vs if (one := recording.values[v])] for vs in (op.inputs, op.outputs))
    dtypes = [np.dtype(one.dtype) for one in given if one.dtype != "bytes"]
    sizes = [math.prod(stored[0].shape) if stored else None for stored in (taken, given)]
    return any(is_float(dtype) or dtype.kind == "c" for dtype in dtypes) and computes(op.type, *sizes)


def _types(ops: Sequence[RecordedOp]) -> str:
    return ", ".join(op.type for op in ops[:5]) or "no op"


def _traced(ops: Sequence[TracedOp]) -> str:
    each = [f"{op.type} ({op.place})" if str(op.place) else op.type for op in ops[:5]]
    return ", ".join(each) or "no op"
