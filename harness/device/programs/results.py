"""Results of a run: its values and errors as plain data. Imported in device servers only."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.core.protobuf import error_codes_pb2
from tensorflow.python.framework.indexed_slices import IndexedSlicesValue

from tf_opdiff.harness.device.observation import Result
from tf_opdiff.harness.device.programs.program import Outcome, as_whole, no_value
from tf_opdiff.harness.spec.quantity import Quantity, named

#: Parts of a message about this machine or about earlier runs, not about the op: the Python stack and folders; the
#: numbers by which TensorFlow tells functions and callbacks apart, counted up within a process; addresses.
_INCIDENTAL = (
    (
        re.compile(
            r"(Graph execution error:\s+)?Detected at node .*? defined at \(most recent call last\):\n"
            r"|^ *File \"[^\n]*\", line \d+, in [^\n]*\n?( {4}[^\n]*\n)?( +[\^~]+ *\n)?",
            re.MULTILINE,
        ),
        "",
    ),
    (re.compile(r"(__(?:inference|forward|backward)_[\w<>]*?)_\d+\b"), r"\1"),
    (re.compile(r"\b(pyfunc|lambda|_Anonymous[A-Za-z]+)_?\d+"), r"\1"),
    (re.compile(r"\b0x[0-9a-f]{6,}\b"), "0x…"),
    (re.compile(r"(?<![\w.])/(?:[^\s/:\"'()]+/)+(?=[^\s/:\"'()]+\.py\b)"), "…/"),  # the folder of a file of Python
)
#: Characters of an error's message that are recorded.
_LONGEST_MESSAGE = 2000


def error_result(error: BaseException) -> Result:
    """An exception as a result: its code is TensorFlow's error code, or the class name of a Python exception."""
    if isinstance(error, tf.errors.OpError):
        code, message = error_codes_pb2.Code.Name(error.error_code), str(error.message)
    else:
        code, message = type(error).__name__, str(error)
    for pattern, replacement in _INCIDENTAL:
        message = pattern.sub(replacement, message)
    return Result("error", code=code, message=message.strip()[:_LONGEST_MESSAGE])


def value_result(value: Any, quantity: str = "input") -> Result:
    """An array, None or IndexedSlices (of arrays) as a result; an error if the array holds raw handles."""
    if value is None:
        return Result("unconnected")
    if isinstance(value, IndexedSlicesValue):
        shape = None if value.dense_shape is None else tuple(int(n) for n in value.dense_shape)
        return Result("sparse", value.values, value.indices, shape)
    array = as_whole(value)
    if array.dtype.type is np.void:
        return error_result(TypeError(no_value(quantity, (array.dtype.names or [array.dtype.name])[0])))
    return Result("value", array.astype(object) if array.dtype.kind == "S" else array)


def results(outcome: Outcome, state: Sequence[str] = ()) -> dict[str, Result]:
    """The results of a run by quantity.

    After the outputs come the final values of the named `state`, then of other state that the run changed: a spec
    that promises nothing about a variable promises that the run leaves the variable alone.
    """
    outputs = [*outcome.quantities.get("output", ()), *(outcome.state[name] for name in state)]
    families = {**outcome.quantities, "output": outputs}
    values = [pair for family, vs in families.items() for pair in zip(named(family, len(vs)), vs, strict=True)]
    by_quantity = {quantity: value_result(value, quantity) for quantity, value in values}
    for i, name in enumerate((k for k in outcome.changed if k not in state), len(outputs)):
        message = f"the run changed the state {name!r}"
        by_quantity[str(Quantity("output", i))] = replace(value_result(outcome.state[name]), message=message)
    return by_quantity
