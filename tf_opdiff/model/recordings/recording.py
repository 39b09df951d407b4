"""Recorder: notes every op that a program runs in eager mode. Imported in device servers only."""

from __future__ import annotations

import contextlib
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.python import pywrap_tfe
from tensorflow.python.eager import backprop, forwardprop_util, record
from tensorflow.python.framework import op_callbacks, op_def_registry
from tensorflow.python.ops import gen_resource_variable_ops

from tf_opdiff.model.recordings.interpreter import body_of, place_in_graph, run_graph
from tf_opdiff.model.recordings.layer_stack import LayerStack
from tf_opdiff.model.recordings.recorded import MOVES, Place, RecordedOp, Recording, Update
from tf_opdiff.model.recordings.values import Stored, ValueWriter


class Recorder:
    """Notes ops in execution order, with their values, their layers of Keras and the user's lines."""

    def __init__(self, inputs: Sequence[tf.Tensor], variables: Sequence[tf.Variable]) -> None:
        """`inputs` are those of the run, and `variables` those that exist before it."""
        self._reading = False
        self._ops: list[RecordedOp] = []
        self._by_type: dict[str, list[RecordedOp]] = defaultdict(list)
        self._tensors: list[tf.Tensor] = []
        self._numbers: dict[int, int] = {}
        self._contents = {v.handle._id: self._number(v.read_value()) for v in variables}
        self._from_outside = {*map(self._number, inputs), *self._contents.values()}
        self.layers = LayerStack()
        self._forward: list[int | None] = []
        self._differentiated: set[int] = set()
        self._results: dict[str, int] = {}
        self._failure = "", Place()
        self._body_at: Place | None = None

    @contextlib.contextmanager
    def recording(self) -> Iterator[None]:
        """Notes the ops that run in its `with` block."""
        with self._gradients_noted(), self.layers.noted():
            op_callbacks.add_op_callback(self._note)
            try:
                yield
            finally:
                op_callbacks.remove_op_callback(self._note)

    def write(self, file: Path, seconds: float, plain_seconds: float) -> Recording:
        """Writes the values to a file; returns the recording."""
        writer = ValueWriter(file)
        values = tuple(_stored(tensor, writer) for tensor in self._tensors)
        writer.close()
        produced = {v for op in self._ops for v in op.results}
        known = produced | self._from_outside
        constants = frozenset(v for v, stored in enumerate(values) if stored and v not in known)
        results = {name: v for name, v in self._results.items() if values[v]}
        ops = tuple(self._ops)
        return Recording(ops, values, file, constants, seconds, plain_seconds, results, *self._failure)

    def name_results(self, tensors: Mapping[str, tf.Tensor], variables: Mapping[str, tf.Variable]) -> None:
        """Notes the names of the program's results, and of the variables after it."""
        self._results = {name: self._number(tensor) for name, tensor in tensors.items()}
        for name, variable in variables.items():
            if (value := self._contents.get(variable.handle._id)) is not None:
                self._results[name] = value

    def note_failure(self, error: BaseException, last: str = "") -> None:
        """Notes the op that failed, as the last one; where no op did, the error follows the last one.

        `last` is the type of the last op of a trace.
        """
        place, text = self.layers.place_of(error), str(error)
        if not last and (named := re.search(r"\[Op:(\w+)\]|__wrapped__(\w+?)_device_", text)):
            kind = next(filter(None, named.groups()))
            nothing: dict[str, Any] = {"attrs": (), "inputs": (), "outputs": (), "unplayable": "it fails in eager mode"}
            self._ops.append(RecordedOp(number=len(self._ops), type=kind, place=place, **nothing))
        self._failure = f"{type(error).__name__}: {text}{f' (after {last})' if last else ''}", place

    def _number(self, tensor: tf.Tensor) -> int:
        number = self._numbers.setdefault(tensor._id, len(self._tensors))
        if number == len(self._tensors):
            self._tensors.append(tensor)
        return number

    def _note(self, kind: Any, inputs: Any, attrs: Any, outputs: Any, op_name: Any = None, graph: Any = None) -> None:
        if graph is not None or self._reading:
            return
        kind = tf.compat.as_str(kind)
        if self._note_body(kind, inputs, outputs):
            return
        pairs = tuple(zip(map(tf.compat.as_str, attrs[::2]), map(_plain, attrs[1::2]), strict=True))
        forward = self._forward[-1] if self._forward else None
        op = RecordedOp(
            number=len(self._ops),
            type=kind,
            attrs=pairs,
            updates=tuple(self._updates(kind, inputs, outputs)),
            inputs=tuple(map(self._number, inputs)),
            outputs=tuple(map(self._number, outputs)),
            place=self._place(forward),
            gradient_of=forward,
            unplayable=unplayable(kind, pairs, [*inputs, *outputs]),
        )
        self._ops.append(op)
        self._by_type[kind].append(op)

    def _place(self, forward: int | None) -> Place:
        """Where the program asked for an op: that of the forward op, of a graph, or of the user's code."""
        if self._body_at is not None or forward is not None:
            return self._body_at or self._ops[forward or 0].place
        return place_in_graph() or self.layers.place(3)

    def _note_body(self, kind: str, inputs: Sequence[tf.Tensor], outputs: Sequence[tf.Tensor]) -> bool:
        """Notes the ops of a traced function that eager mode called, such as a JVP; false if there is none to note.

        The body runs again, op by op. A body with a state would change it twice.
        """
        if op_def_registry.get(kind) is not None or (graph := body_of(kind)) is None:
            return False
        self._body_at = self._place(None)
        with record.stop_recording(), forwardprop_util.push_forwardprop_state():
            results = run_graph(graph, inputs)
        self._body_at = None
        for output, result in zip(outputs, results, strict=True):
            self._numbers[output._id] = self._number(result)
        return True

    def _updates(self, kind: str, inputs: Sequence[tf.Tensor], outputs: Sequence[tf.Tensor]) -> Iterator[Update]:
        for position, handle in enumerate(inputs):
            if handle.dtype != tf.resource or not (data := getattr(handle, "_handle_data", None)):
                continue
            if not data.shape_and_type:
                continue
            before = self._contents.get(handle._id)
            if kind == "ReadVariableOp":  # the value has the number of the value that was assigned
                number = self._numbers.setdefault(outputs[0]._id, before) if before is not None else None
                self._contents[handle._id] = self._number(outputs[0]) if number is None else number
            elif kind not in ("VarIsInitializedOp", "DestroyResourceOp"):
                after = self._contents[handle._id] = self._number(self._read(handle, inputs, kind))
                yield Update(position, before, after)

    def _read(self, handle: tf.Tensor, inputs: Sequence[tf.Tensor], kind: str) -> tf.Tensor:
        """The value that a variable has after an op; an assigned tensor is the value itself."""
        if kind == "AssignVariableOp":
            return inputs[1]
        self._reading = True  # TensorFlow calls back for ops of a callback too
        value = gen_resource_variable_ops.read_variable_op(handle, handle._handle_data.shape_and_type[0].dtype)
        self._reading = False
        return value

    @contextlib.contextmanager
    def _gradients_noted(self) -> Iterator[None]:
        """Notes, while a registered gradient runs, the forward op that it belongs to."""

        def gradient(name: Any, attrs: Any, count: int, inputs: Any, outputs: Any, *more: Any) -> Any:
            self._forward.append(self._forward_op(tf.compat.as_str(name), inputs, outputs))
            try:
                return backprop._gradient_function(name, attrs, count, inputs, outputs, *more)
            finally:
                self._forward.pop()

        pywrap_tfe.TFE_Py_RegisterGradientFunction(gradient)
        try:
            yield
        finally:
            pywrap_tfe.TFE_Py_RegisterGradientFunction(backprop._gradient_function)

    def _forward_op(self, kind: str, inputs: Any, outputs: Any) -> int | None:
        """The last op of this type with these inputs and outputs whose gradient did not run yet.

        The tape keeps None in place of a tensor that the gradient does not need.
        """

        def same(tensors: Any, numbers: tuple[int, ...]) -> bool:
            known = [self._numbers.get(t._id) for t in tensors or () if isinstance(t, tf.Tensor)]
            return all(number in numbers for number in known if number is not None)

        for op in reversed(self._by_type[kind]):
            if op.number not in self._differentiated and same(inputs, op.inputs) and same(outputs, op.outputs):
                self._differentiated.add(op.number)
                return op.number
        return None


def unplayable(kind: str, attrs: Sequence[tuple[str, Any]], tensors: Sequence[tf.Tensor]) -> str:
    """Why an op can't be replayed alone; empty if it can."""
    op_def = op_def_registry.get(kind)
    if kind in MOVES:
        return "it moves the value of a variable"
    if op_def is None:
        return "it calls a traced function"
    if "PyFunc" in kind:
        return "it runs Python"
    if any(attr.type in ("func", "list(func)") for attr in op_def.attr):
        return "it calls a traced function"
    if any(t.dtype == tf.variant or (t.dtype == tf.resource and not _variable(t)) for t in tensors):
        return "it takes or gives a handle, which has no value"
    if op_def.is_stateful and not any(t.dtype == tf.resource for t in tensors):
        return "it has a state, such as that of random numbers"
    return ""


def _plain(attr: Any) -> Any:
    """An attribute as plain data, for processes without TensorFlow: dtypes are enum numbers, shapes lists or None."""
    if isinstance(attr, tf.DType):
        return attr.as_datatype_enum
    if isinstance(attr, tf.TensorShape):
        return None if attr.rank is None else [-1 if size is None else size for size in attr.as_list()]
    if isinstance(attr, (list, tuple)):
        return [_plain(entry) for entry in attr]
    plain = attr is None or isinstance(attr, (bool, int, float, str, bytes))
    return attr if plain else str(attr)


def _variable(handle: tf.Tensor) -> bool:
    """Whether a handle is that of a variable."""
    data = getattr(handle, "_handle_data", None)
    return bool(data and data.shape_and_type)


def _stored(tensor: tf.Tensor, writer: ValueWriter) -> Stored | None:
    if tensor.dtype in (tf.resource, tf.variant):
        return None
    array = np.asarray(tensor.numpy())
    return writer.add(array.astype(object) if array.dtype.kind == "S" else array)
