"""Program: one run of a spec's program, from its arguments to its outcome. Imported in device servers only."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.python.framework.indexed_slices import IndexedSlicesValue

from tf_opdiff.harness.device.observation import Result
from tf_opdiff.harness.device.repeat import same
from tf_opdiff.harness.device.request import ALIGNMENT, Arguments
from tf_opdiff.harness.spec.quantity import Quantity
from tf_opdiff.harness.spec.spec import Spec

#: Bytes: arrays of this size and larger cross to and from TensorFlow without a copy.
SHARED = 1 << 16


@dataclass
class Outcome:
    """The values of one run.

    Attributes:
      quantities: `output`, `grad`, `jvp`, `hvp` → one array, None or IndexedSlices (of arrays) each.
      state: the final values of the program's variables and lists.
      inputs: the inputs as they were after the run.
      changed: the names in `state` whose values the run changed.
    """

    quantities: dict[str, list[Any]]
    state: dict[str, np.ndarray]
    inputs: list[Any]
    changed: tuple[str, ...] = ()


#: Runs a spec's program in one mode on one device.
Program = Callable[[Arguments], Outcome]
#: A program's variables and lists by name; None for a program without state.
State = dict[str, Any] | None


def as_list(outputs: Any) -> list[Any]:
    """A program's outputs as a list: a single output is a list of one."""
    return list(outputs) if isinstance(outputs, (tuple, list)) else [outputs]


def new_state(spec: Spec, inputs: Sequence[Any]) -> State:
    """Fresh state for a run of the program with these inputs."""
    return spec.execution.state(tf, *inputs) if spec.execution.state else None


def call(spec: Spec, state: State, inputs: Sequence[Any]) -> list[Any]:
    """Runs or traces the program once; its outputs are tensors and IndexedSlices.

    Raises:
      TypeError: an output is a handle, which has no value.
    """
    outputs = spec.program(tf, *inputs) if state is None else spec.program(tf, state, *inputs)
    tensors = [y if isinstance(y, tf.IndexedSlices) else tf.convert_to_tensor(y) for y in as_list(outputs)]
    for i, y in enumerate(tensors):
        if y.dtype in (tf.resource, tf.variant):
            raise TypeError(no_value(str(Quantity("output", i)), y.dtype.name))
    return tensors


def no_value(quantity: str, dtype: str) -> str:
    """Why a handle cannot be compared. The same words in every mode: a v1 graph would return it as raw memory."""
    return f"{quantity} is a handle of dtype {dtype}, which has no value: the program must return the handle's contents"


def public(state: State) -> dict[str, Any]:
    """The variables and lists of a state whose values are compared: names that begin with `_` are private."""
    return {name: v for name, v in (state or {}).items() if not name.startswith("_")}


def variables(state: State) -> list[Any]:
    """The public variables of a state, in order."""
    return [v for v in public(state).values() if not isinstance(v, list)]


def final_values(state: State, read: Callable[[Any], Any] = lambda v: v.numpy()) -> dict[str, np.ndarray]:
    """The values of a state's variables, read by `read`; of a list, the number of its entries (side effects)."""
    values = {k: np.int64(len(v)) if isinstance(v, list) else read(v) for k, v in public(state).items()}
    return {k: as_whole(value) for k, value in values.items()}


def changed_names(before: Mapping[str, np.ndarray], after: Mapping[str, np.ndarray]) -> tuple[str, ...]:
    """The names in `after` whose bits differ from those in `before`."""
    return tuple(name for name in after if not same(Result("value", before.get(name)), Result("value", after[name])))


def as_tensor(array: np.ndarray, device: str) -> tf.Tensor:
    """An array as a tensor; a large, aligned one (those of a sweep are) is not copied, on the CPU.

    TensorFlow does not check the alignment of borrowed memory: with the wrong alignment, the process dies.
    """
    borrow = array.nbytes >= SHARED and array.ctypes.data % ALIGNMENT == 0 and device == "CPU:0"
    if not borrow or array.dtype.kind not in "fiub":
        return tf.constant(array)
    return tf.experimental.dlpack.from_dlpack(array.__dlpack__())


def as_array(value: Any) -> Any:
    """A tensor's array; None stays None, IndexedSlices become IndexedSlices of arrays. Large arrays share memory."""
    if isinstance(value, tf.IndexedSlices):
        shape = None if value.dense_shape is None else value.dense_shape.numpy()
        return IndexedSlicesValue(value.values.numpy(), value.indices.numpy(), shape)
    if value is not None and value.dtype in (tf.float32, tf.float16) and value.shape.num_elements() * 4 >= SHARED:
        return np.asarray(memoryview(value))
    return None if value is None else as_whole(value.numpy())  # not asarray(value): fails for a bfloat16 scalar


def as_whole(value: Any) -> np.ndarray:
    """A value as an array. A scalar text comes as bytes, and keeps the zeros at its end, which NumPy would cut."""
    return np.array(value, object) if isinstance(value, bytes) else np.asarray(value)


def as_arrays(quantities: Mapping[str, Sequence[Any]]) -> dict[str, list[Any]]:
    """Every quantity as arrays; see `as_array`."""
    return {quantity: [as_array(v) for v in values] for quantity, values in quantities.items()}


def stack_steps(steps: list[dict[str, list[Any]]]) -> dict[str, list[Any]]:
    """The quantities of a program with one step; with several steps, its outputs stacked along a new first axis."""
    if len(steps) == 1:
        return steps[0]
    return {"output": [np.stack(ys) for ys in zip(*(s["output"] for s in steps), strict=True)]}
