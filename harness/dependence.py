"""Dependence: which outputs of a program are constants, to which none of its inputs leads.

A stateful op (a variable that is read, a random number, a Python function) counts as an input: what it gives is known
only when it runs. Nothing here imports TensorFlow: tensors and ops are those of the caller.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

#: Whether an op of this type is stateful.
Stateful = Callable[[str], bool]
_VARIABLES = ("resource", "variant")


def _tensors(values: Iterable[Any]) -> list[Any]:
    """The tensors of which values are made; of `IndexedSlices`, those that hold values."""
    return [getattr(value, "values", value) for value in values]


def constants(outputs: Sequence[Any], inputs: Sequence[Any], stateful: Stateful) -> set[int]:
    """The numbers of the outputs, tensors of a graph, to which no input leads; without inputs, none."""
    sources = {tensor.op.name for tensor in inputs}
    ignoring = set()
    for number, tensor in enumerate(_tensors(outputs)):
        todo, seen = [tensor.op], set()
        while todo:
            op = todo.pop()
            if op.name in sources or stateful(op.type) or (op.type == "Placeholder" and _holds_state(op)):
                break
            if op.name not in seen:
                seen.add(op.name)
                todo += [*(t.op for t in op.inputs), *op.control_inputs]
        else:
            ignoring.add(number)
    return ignoring if sources else set()


def _holds_state(op: Any) -> bool:
    return op.outputs[0].dtype.name in _VARIABLES


class Trail:
    """The tensors of an eager run to which an input leads, op by op."""

    def __init__(self, inputs: Iterable[Any], stateful: Stateful) -> None:
        self._held = {id(tensor): tensor for tensor in inputs}  # held, so that no other object gets its id
        self._any, self._stateful = bool(self._held), stateful

    def note(self, op_type: str, inputs: Iterable[Any], outputs: Iterable[Any]) -> None:
        """Notes an op that ran."""
        leads = any(id(t) in self._held or t.dtype.name in _VARIABLES for t in inputs)
        if leads or self._stateful(op_type):
            self._held.update((id(t), t) for t in outputs)

    def constants(self, outputs: Sequence[Any]) -> set[int]:
        """The numbers of the outputs to which no input leads; without inputs, none."""
        return {i for i, t in enumerate(_tensors(outputs)) if self._any and id(t) not in self._held}
