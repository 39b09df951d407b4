"""Recorded ops: the ops that a program ran, in execution order, with their values and places."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from tf_opdiff.model.recordings.values import Stored

#: Ops that move the value of a variable and compute nothing.
MOVES = frozenset({"ReadVariableOp", "AssignVariableOp", "VarHandleOp", "VarIsInitializedOp", "DestroyResourceOp"})


@dataclass(frozen=True)
class Place:
    """Where a program asked for an op: a layer of Keras and a line of the user's code; empty and 0 if there is none."""

    layer: str = ""
    file: str = ""
    line: int = 0

    def __str__(self) -> str:
        line = f"{Path(self.file).name}:{self.line}" if self.line else ""
        return ", ".join(filter(None, [self.layer and f"layer {self.layer}", line]))


@dataclass(frozen=True)
class Update:
    """A variable that an op takes: the position of its handle in the inputs, and its values before and after the op.

    The values are numbers of values; `before` is None for a variable without a value.
    """

    position: int
    before: int | None
    after: int


@dataclass(frozen=True, kw_only=True)
class RecordedOp:
    """An op that a program ran.

    Attributes:
      number: its place in the execution order, from 0.
      type: the name of its OpDef.
      attrs: pairs (name, value) as TensorFlow's callback gives them; types are enum numbers.
      inputs: the numbers of its input values.
      outputs: the numbers of its output values.
      updates: the variables among its inputs.
      place: where the program asked for it; for an op of a registered gradient, the place of the forward op.
      gradient_of: for an op of a registered gradient, the number of the forward op.
      unplayable: why it can't be replayed alone; empty if it can.
    """

    number: int
    type: str
    attrs: tuple[tuple[str, Any], ...]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    updates: tuple[Update, ...] = ()
    place: Place = Place()
    gradient_of: int | None = None
    unplayable: str = ""

    @property
    def operands(self) -> tuple[int, ...]:
        """The numbers of all that the op reads: its inputs, then the old values of variables."""
        return (*self.inputs, *(update.before for update in self.updates if update.before is not None))

    @property
    def results(self) -> tuple[int, ...]:
        """The numbers of all that the op gives: its outputs, then the new values of variables."""
        return (*self.outputs, *(update.after for update in self.updates))


@dataclass(frozen=True)
class Recording:
    """The ops of a run, and its values: by number, the place in the file; None for a handle.

    Attributes:
      ops: in execution order.
      values: by number.
      file: the file of the values.
      constants: the numbers of the values that are neither inputs nor variables nor results of an op.
      seconds: how long the run took while it was recorded.
      plain_seconds: how long the same run took without a recorder.
      results: the numbers of the values that the program gives, by name, and those of variables after it.
      failure: the error with which the program ended; empty if it gave its results.
      failed_at: where the error left the user's code.
    """

    ops: tuple[RecordedOp, ...]
    values: tuple[Stored | None, ...]
    file: Path
    constants: frozenset[int]
    seconds: float
    plain_seconds: float
    results: Mapping[str, int] = field(default_factory=dict)
    failure: str = ""
    failed_at: Place = Place()

    @cached_property
    def producers(self) -> dict[int, int]:
        """The number of the op that gave a value, by the number of the value."""
        return {value: op.number for op in self.ops if op.type not in MOVES for value in op.results}
