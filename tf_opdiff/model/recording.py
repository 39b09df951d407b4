"""Recording: notes every op that a program runs in eager mode. Imported in device servers only."""

from __future__ import annotations

import contextlib
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.python import pywrap_tfe
from tensorflow.python.eager import backprop
from tensorflow.python.framework import op_callbacks, op_def_registry
from tensorflow.python.ops import gen_resource_variable_ops

from tf_opdiff.checking.own_files import is_own_file
from tf_opdiff.model.recorded import MOVES, Place, RecordedOp, Recording, Update
from tf_opdiff.model.values import Stored, ValueWriter


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
        self._layers: list[Any] = []
        self._forward: list[int | None] = []
        self._differentiated: set[int] = set()
        self._users: dict[str, bool] = {}

    @contextlib.contextmanager
    def recording(self) -> Iterator[None]:
        """Notes the ops that run in its `with` block."""
        with self._gradients_noted(), self._layers_noted():
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
        return Recording(tuple(self._ops), values, file, constants, seconds, plain_seconds)

    def _number(self, tensor: tf.Tensor) -> int:
        number = self._numbers.setdefault(tensor._id, len(self._tensors))
        if number == len(self._tensors):
            self._tensors.append(tensor)
        return number

    def _note(self, kind: Any, inputs: Any, attrs: Any, outputs: Any, op_name: Any = None, graph: Any = None) -> None:
        if graph is not None or self._reading:
            return
        kind = tf.compat.as_str(kind)
        pairs = tuple(zip(map(tf.compat.as_str, attrs[::2]), map(_plain, attrs[1::2]), strict=True))
        forward = self._forward[-1] if self._forward else None
        op = RecordedOp(
            number=len(self._ops),
            type=kind,
            attrs=pairs,
            inputs=tuple(map(self._number, inputs)),
            outputs=tuple(map(self._number, outputs)),
            updates=tuple(self._updates(kind, inputs, outputs)),
            place=self._place() if forward is None else self._ops[forward].place,
            gradient_of=forward,
            unplayable=unplayable(kind, pairs, [*inputs, *outputs]),
        )
        self._ops.append(op)
        self._by_type[kind].append(op)

    def _updates(self, kind: str, inputs: Sequence[tf.Tensor], outputs: Sequence[tf.Tensor]) -> Iterator[Update]:
        for position, handle in enumerate(inputs):
            if handle.dtype != tf.resource or not (data := getattr(handle, "_handle_data", None)):
                continue
            if not data.shape_and_type:
                continue
            before = self._contents.get(handle._id)
            if kind == "ReadVariableOp":
                self._contents[handle._id] = self._number(outputs[0])
            elif kind not in ("VarIsInitializedOp", "DestroyResourceOp"):
                self._reading = True  # TensorFlow calls back for ops of a callback too
                value = gen_resource_variable_ops.read_variable_op(handle, data.shape_and_type[0].dtype)
                self._reading = False
                after = self._contents[handle._id] = self._number(value)
                yield Update(position, before, after)

    def _place(self) -> Place:
        """The innermost layer of Keras, and the innermost line of the user's code."""
        layer = "/".join(dict.fromkeys(layer.name for layer in self._layers))
        frame: Any = sys._getframe(2)
        while frame is not None:
            file = frame.f_code.co_filename
            if file not in self._users:
                module = str(frame.f_globals.get("__name__"))
                self._users[file] = is_own_file(file) and not module.startswith("tf_opdiff.")
            if self._users[file]:
                return Place(layer, file, frame.f_lineno)
            frame = frame.f_back
        return Place(layer)

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

    @contextlib.contextmanager
    def _layers_noted(self) -> Iterator[None]:
        """Notes which layers of Keras are at work."""
        if "keras" not in sys.modules:
            yield
            return
        import keras

        original = keras.Layer.__call__

        def call(layer: Any, *arguments: Any, **keywords: Any) -> Any:
            self._layers.append(layer)
            try:
                return original(layer, *arguments, **keywords)
            finally:
                self._layers.pop()

        keras.Layer.__call__ = call
        try:
            yield
        finally:
            keras.Layer.__call__ = original


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
