"""Op script: a program of TensorFlow and NumPy alone that runs recorded ops in two modes. In device servers only."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.python.framework import op_def_registry

from tf_opdiff.model.recordings.recorded import RecordedOp

#: The elements of the largest array that stands in the program; larger ones stand in a file next to it.
_LARGEST = 32
_PROGRAM = '''"""{title}"""

import numpy as np
import tensorflow as tf
from numpy import inf, nan

{values}


def program({parameters}):
{lines}
    return {results}


compiled = tf.function(program, jit_compile={jit})
for name, function in {{"eager": program, "{mode}": compiled}}.items():
    with tf.device("{device}"):
        print(name, *(result.numpy() for result in function({arguments})), sep="\\n")
'''


class NoScript(Exception):
    """The ops have no program; the message says why."""


def write_script(
    file: Path,
    ops: Sequence[RecordedOp],
    values: Mapping[int, np.ndarray],
    results: Sequence[int],
    plan: tuple[str, str],
) -> None:
    """Writes a program of ops, and next to it a file of its large arrays if it has some.

    Args:
      file: where the program is written.
      ops: in execution order.
      values: those that come from outside of the ops.
      results: the values that the program prints.
      plan: TensorFlow's name of the device, and the mode.

    Raises:
      NoScript: an op changes a variable.
    """
    if changing := next((op for op in ops if op.updates), None):
        raise NoScript(f"{changing.type} changes a variable")
    inside = {v for op in ops for v in op.outputs}
    outside = list(dict.fromkeys(v for op in ops for v in op.inputs if v not in inside))
    device, mode = plan
    named = [f"v{v}" for v in outside]
    written = _written(file, {v: values[v] for v in outside})
    text = _PROGRAM.format(
        title=f"{', '.join(op.type for op in ops)}: eager mode and {mode}.",
        values="\n".join(written),
        parameters=", ".join(named),
        arguments=", ".join(named),
        lines="\n".join(f"    {_outputs(op)} = {_call(op)}" for op in ops),
        results=_tuple([f"v{v}" for v in results]),
        jit=True if mode == "xla" else None,
        mode=mode,
        device=device,
    )
    file.write_text(text, "utf-8")


def _written(file: Path, values: Mapping[int, np.ndarray]) -> Iterator[str]:
    """The lines that make the values; writes the large ones to a file next to the program."""
    large = {f"v{v}": array for v, array in values.items() if array.size > _LARGEST}
    if large:
        plain: dict[str, Any] = {n: a.astype(np.float32) if a.dtype.kind == "V" else a for n, a in large.items()}
        np.savez(file.with_suffix(".npz"), **plain)
        yield f'arrays = np.load("{file.with_suffix(".npz").name}")'
    for v, array in values.items():
        dtype = "string" if array.dtype.kind == "O" else array.dtype.name
        if f"v{v}" in large:
            yield f'v{v} = tf.cast(arrays["v{v}"], tf.{dtype})'
        else:
            yield f"v{v} = tf.constant({array.tolist()!r}, tf.{dtype}, shape={list(array.shape)})"


def _outputs(op: RecordedOp) -> str:
    return ", ".join(f"v{v}" for v in op.outputs) or "_"


def _tuple(names: Sequence[str]) -> str:
    return f"({', '.join(names)},)"


def _call(op: RecordedOp) -> str:
    """The call of an op in `tf.raw_ops`, whose names for arguments may differ from those of the OpDef."""
    op_def, attrs = op_def_registry.get(op.type), dict(op.attrs)
    function = getattr(tf.raw_ops, op.type)
    names = [name for name in inspect.signature(function).parameters if name != "name"]
    known = {arg.name for arg in op_def.input_arg} | {attr.name for attr in op_def.attr}
    others = iter([name for name in names if name not in known])
    arguments, values = [], [f"v{v}" for v in op.inputs]
    inferred = set()
    for arg in op_def.input_arg:
        inferred |= {arg.type_attr, arg.number_attr, arg.type_list_attr}
        count = _count(arg, attrs)
        operands, values = values[: count or 1], values[count or 1 :]
        operand = f"[{', '.join(operands)}]" if count is not None else operands[0]
        arguments.append(f"{arg.name if arg.name in names else next(others)}={operand}")
    given = [(attr, attrs[attr.name]) for attr in op_def.attr if attr.name in attrs and attr.name not in inferred]
    arguments += [f"{a.name if a.name in names else next(others)}={_attr(a.type, value)}" for a, value in given]
    return f"tf.raw_ops.{op.type}({', '.join(arguments)})"


def _count(arg: Any, attrs: Mapping[str, Any]) -> int | None:
    """How many values an argument takes if it takes a list."""
    if arg.number_attr:
        return int(attrs[arg.number_attr])
    return len(attrs[arg.type_list_attr]) if arg.type_list_attr else None


def _attr(kind: str, value: Any) -> str:
    if kind == "type":
        return f"tf.{tf.as_dtype(value).name}"
    if kind == "list(type)":
        return f"[{', '.join(f'tf.{tf.as_dtype(one).name}' for one in value)}]"
    return repr(value.decode("utf-8", "replace") if isinstance(value, bytes) else value)
