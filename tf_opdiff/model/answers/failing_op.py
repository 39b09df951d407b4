"""Failing op: the recorded op that an error of another mode is about, by the types and lines that its message names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from tf_opdiff.model.recordings.recorded import MOVES, Place, RecordedOp, Recording

#: Where messages name an op: a node of a graph, an op of eager mode, a kernel that is missing.
_NODE = re.compile(r"\{\{node ([^}]+)\}\}|\[Op:(\w+)\]|__wrapped__(\w+?)_device_|No registered '(\w+)'|\(after (\w+)\)")
_LINE = re.compile(r'File "([^"]+)", line (\d+)')


def failing_op(recording: Recording, message: str, place: Place | None = None) -> int | None:
    """The number of the recorded op that an error is about; None if the error points at none.

    Args:
      recording: the ops of the program, in a mode in which it does not fail.
      message: the message of the error.
      place: where the error left the user's code, if it did while TensorFlow traced the program.
    """
    types = [*op_types(message)]
    lines = [(place.file, place.line)] if place and place.line else [(f, int(n)) for f, n in _LINE.findall(message)]
    ops = [op for op in recording.ops if op.type not in MOVES]
    there = [op for op in ops if (op.place.file, op.place.line) in lines]
    if place and place.layer:
        there = [op for op in there if op.place.layer == place.layer] or _in_layer(ops, place)
    for kind in types:
        if named := [op for op in there or ops if op.type == kind] or [
            op for op in ops if op.type == kind and not place
        ]:
            return named[0].number
    if there:
        return there[-1].number
    before = _before(ops, place)
    return before.number if before else None


def _in_layer(ops: Sequence[RecordedOp], place: Place) -> list[RecordedOp]:
    """The ops of a layer, up to a line."""
    inside = [op for op in ops if op.place.layer == place.layer and op.gradient_of is None]
    return [op for op in inside if op.place.line <= place.line or op.place.file != place.file] or inside


def _before(ops: Sequence[RecordedOp], place: Place | None) -> RecordedOp | None:
    """The last op of the lines of a file before a line: what follows it in the file may depend on it."""
    if place is None or not place.line:
        return None
    above = [op for op in ops if op.place.file == place.file and op.place.line < place.line]
    return max(above, key=lambda op: op.place.line, default=None)


def op_types(message: str) -> Iterator[str]:
    """The types of ops that a message names; a node of a graph has the name of its type, and perhaps a number."""
    for groups in _NODE.findall(message):
        name = next(filter(None, groups))
        yield re.sub(r"_\d+$", "", Path(name.partition(" ")[0]).name)
        yield Path(name.partition(" ")[0]).name
