"""Op runner: runs recorded ops in a mode, alone or several as one program. Imported in device servers only."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.python.eager import context, execute
from tensorflow.python.framework import op_def_library, op_def_registry

from tf_opdiff.model.recordings.recorded import RecordedOp, Update

#: Arrays by the number of the value.
Values = Mapping[int, np.ndarray]


@dataclass(frozen=True)
class _Call:
    """An op in a program of ops, with numbers that are the same for equal programs."""

    type: str
    attrs: tuple[tuple[str, Any], ...] = field(compare=False)
    written_attrs: str
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    updates: tuple[Update, ...]

    @classmethod
    def of(cls, op: RecordedOp, numbers: dict[int, int]) -> _Call:
        """The op with each number of a value replaced by its order in `numbers`, which grows."""

        def renumbered(value: int) -> int:
            return numbers.setdefault(value, len(numbers))

        updates = [
            Update(u.position, None if u.before is None else renumbered(u.before), renumbered(u.after))
            for u in op.updates
        ]
        inputs, outputs = (tuple(map(renumbered, values)) for values in (op.inputs, op.outputs))
        return cls(op.type, op.attrs, repr(op.attrs), inputs, outputs, tuple(updates))


#: The elements of the largest constant that is part of a compiled program, as it is when TensorFlow traces the user's.
_LARGEST_CONSTANT = 64


class OpRunner:
    """Runs recorded ops in a mode; equal programs of equal constants, shapes and dtypes are compiled once."""

    def __init__(self, device: str, mode: str, constants: Collection[int]) -> None:
        """`device` is TensorFlow's name of the device; the mode is `eager`, `function` or `xla`.

        `constants` are the numbers of the values that are constants in the user's program.
        """
        self._device, self._mode, self._constants = device, mode, constants
        self._programs: dict[Any, _Program] = {}

    def run(self, op: RecordedOp, values: Values) -> list[np.ndarray]:
        """The results of an op, in the order of `RecordedOp.results`, on these values of its inputs.

        Raises:
          Exception: what TensorFlow raises.
        """
        return self.run_together((op,), values, op.results)

    def run_together(self, ops: Sequence[RecordedOp], values: Values, wanted: Sequence[int]) -> list[np.ndarray]:
        """The wanted results of several ops that run as one program.

        Args:
          ops: in execution order. Each variable that one of them changes has its recorded value before that op.
          values: the values that come from outside of the ops, and those of variables.
          wanted: the numbers of the values that the program returns; it computes all others for itself only.

        Raises:
          Exception: what TensorFlow raises.
        """
        numbers: dict[int, int] = {}
        calls = tuple(_Call.of(op, numbers) for op in ops)
        produced = {value for op in ops for value in op.outputs}
        arrays = {local: values[v] for v, local in numbers.items() if v in values and v not in produced}
        fetched = tuple(numbers[v] for v in wanted)
        small = {v for v in values if v in self._constants and values[v].size <= _LARGEST_CONSTANT}
        baked = {numbers[v]: values[v] for v in small if numbers.get(v) in arrays} if self._mode != "eager" else {}
        signature = tuple((n, a.shape, a.dtype.name, repr(a.tolist()) if n in baked else "") for n, a in arrays.items())
        key = calls, fetched, signature
        with tf.device(self._device):
            if key not in self._programs:
                self._programs[key] = _Program(calls, fetched, baked, self._mode)
            return self._programs[key](arrays)


class _Program:
    """Ops as a function of the values that come from outside."""

    def __init__(self, calls: Sequence[_Call], fetched: Sequence[int], constants: Values, mode: str) -> None:
        self._calls, self._constants = calls, constants
        self._produced = {value for call in calls for value in call.outputs}
        self._variables: dict[tuple[int, int], tf.Variable] = {}
        self._after = {u.after: (n, u.position) for n, call in enumerate(calls) for u in call.updates}
        self._fetched = fetched
        self._returned = [value for value in fetched if value not in self._after]
        self._taken: tuple[int, ...] = ()
        self._function: Any = self._body
        if mode != "eager":
            self._function = tf.function(self._body, jit_compile=True if mode == "xla" else None, autograph=False)

    def __call__(self, arrays: Values) -> list[np.ndarray]:
        """The fetched values, for these arrays by number."""
        for n, call in enumerate(self._calls):
            for update in call.updates:
                self._set(n, update, arrays)
        handles = {call.inputs[u.position] for call in self._calls for u in call.updates}
        used = dict.fromkeys(v for call in self._calls for v in call.inputs if v not in handles)
        self._taken = tuple(v for v in used if v not in self._produced and v not in self._constants)
        results = self._function(*(tf.constant(arrays[v]) for v in self._taken))
        by_number = dict(zip(self._returned, results, strict=True))
        by_number |= {v: self._variables[key].read_value() for v, key in self._after.items() if v in self._fetched}
        return [_array(by_number[v]) for v in self._fetched]

    def _set(self, n: int, update: Update, arrays: Values) -> None:
        """Gives the variable of an op the value that it had before the op."""
        if update.before is None:
            raise ValueError("the variable had no value before the op")
        if (n, update.position) in self._variables:
            self._variables[n, update.position].assign(arrays[update.before])
        else:
            self._variables[n, update.position] = tf.Variable(arrays[update.before])

    def _body(self, *tensors: tf.Tensor) -> list[tf.Tensor]:
        known = {v: tf.constant(array) for v, array in self._constants.items()}
        known |= zip(self._taken, tensors, strict=True)
        for n, call in enumerate(self._calls):
            handles = {u.position: self._variables[n, u.position].handle for u in call.updates}
            inputs = [handles[i] if i in handles else known[v] for i, v in enumerate(call.inputs)]
            known.update(zip(call.outputs, _executed(call, inputs), strict=True))
        return [known[v] for v in self._returned]


def _executed(call: _Call, inputs: list[tf.Tensor]) -> Sequence[tf.Tensor]:
    """The outputs of an op: run in eager mode, or added to the graph under construction."""
    if tf.executing_eagerly():
        flat = [part for pair in call.attrs for part in pair]
        return execute.execute(call.type, len(call.outputs), inputs, tuple(flat), context.context()) or []
    op_def = op_def_registry.get(call.type)
    kinds = {attr.name: attr.type for attr in op_def.attr}
    attrs = {attr.name: attr.default_value for attr in op_def.attr if attr.HasField("default_value")}
    attrs |= {
        name: op_def_library.value_to_attr_value(value, kinds[name], name)
        for name, value in call.attrs
        if name in kinds and value is not None
    }
    graph: Any = tf.compat.v1.get_default_graph()
    return list(graph._create_op_internal(call.type, inputs, attrs=attrs, op_def=op_def).outputs)


def _array(tensor: tf.Tensor) -> np.ndarray:
    """A tensor's array; texts are objects of bytes."""
    array = np.asarray(tensor.numpy())
    return array.astype(object) if array.dtype.kind == "S" else array
