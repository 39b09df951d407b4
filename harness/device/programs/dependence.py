"""Dependence: the outputs of a program that are constants, because no input leads to them.

A stateful op (a variable that is read, a random number, a Python function) counts as an input: its result is known only
when it runs. An eager program may pass an input to Python and use the result, without an op between them; so an eager
output that changes with the inputs is no constant either. This module does not import TensorFlow: the caller passes
tensors and ops.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import is_float

#: Whether an op of this type is stateful.
Stateful = Callable[[str], bool]
_VARIABLES = ("resource", "variant")
#: The words of a fault that follow the names of constant outputs.
_IGNORES = " depends on no input: "


def fault_of(quantities: Sequence[str]) -> str:
    """The fault of a run whose outputs of these names are constants, and whose spec does not say so."""
    why = "the program ignores its inputs, or TensorFlow computed the output when it built the graph"
    return f"{', '.join(quantities)}{_IGNORES}{why}; a spec that means it says so by `constant`"


def ignoring(fault: str) -> tuple[str, ...]:
    """The outputs that `fault_of` names in a fault; none in another fault."""
    names, ignores, _ = fault.partition(_IGNORES)
    return tuple(names.split(", ")) if ignores else ()


def _tensors(values: Iterable[Any]) -> list[Any]:
    """The tensors that hold the values: a tensor itself, and the `values` of an `IndexedSlices`."""
    return [getattr(value, "values", value) for value in values]


def constants(outputs: Sequence[Any], inputs: Sequence[Any], stateful: Stateful) -> set[int]:
    """Indices of outputs, tensors of a graph, that depend on no input. Empty if the program has no inputs."""
    sources = {tensor.op.name for tensor in inputs}
    independent = set()
    for number, tensor in enumerate(_tensors(outputs)):
        pending, seen = [tensor.op], set()
        while pending:
            op = pending.pop()
            if op.name in sources or stateful(op.type) or (op.type == "Placeholder" and _holds_state(op)):
                break
            if op.name not in seen:
                seen.add(op.name)
                pending += [*(t.op for t in op.inputs), *op.control_inputs]
        else:
            independent.add(number)
    return independent if sources else set()


def _holds_state(op: Any) -> bool:
    return op.outputs[0].dtype.name in _VARIABLES


def altered(array: np.ndarray) -> np.ndarray:
    """Other values of the same shape and dtype: in reverse order, each one changed, floats also in sign.

    A program may branch on the sign of an input.
    """
    reverse = np.asarray(np.flip(array), array.dtype)
    if array.dtype.kind == "b":
        return ~reverse
    if array.dtype.kind == "O":
        return np.array([b"%s?" % x for x in reverse.flat], object).reshape(array.shape)
    if array.dtype.kind == "c":
        return np.asarray(reverse * array.dtype.type(-1.5) - array.dtype.type(0.75))
    if is_float(array.dtype):
        farther = reverse * array.dtype.type(-1.5) - np.copysign(array.dtype.type(0.75), reverse)
        return np.asarray(farther).astype(array.dtype)
    return np.asarray(reverse.astype(np.int64) + 1).astype(array.dtype)


class Trail:
    """The tensors of an eager run to which an input leads, op by op."""

    def __init__(self, inputs: Iterable[Any], stateful: Stateful) -> None:
        #: By id, because tensors have no hash; the reference keeps the id from being used again.
        self._dependent = {id(tensor): tensor for tensor in inputs}
        self._has_inputs, self._stateful = bool(self._dependent), stateful

    def note(self, op_type: str, inputs: Iterable[Any], outputs: Iterable[Any]) -> None:
        """Notes an op that ran."""
        leads = any(id(t) in self._dependent or t.dtype.name in _VARIABLES for t in inputs)
        if leads or self._stateful(op_type):
            self._dependent.update((id(t), t) for t in outputs)

    def constants(self, outputs: Sequence[Any]) -> set[int]:
        """Indices of outputs that depend on no input. Empty if the program has no inputs."""
        return {i for i, t in enumerate(_tensors(outputs)) if self._has_inputs and id(t) not in self._dependent}
