"""Tracing: the ops that a program has when it is traced. Imported in device servers only."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import tensorflow as tf
from tensorflow.python.framework import func_graph

from tf_opdiff.checking.own_files import is_own_file
from tf_opdiff.model.recorded import Place
from tf_opdiff.model.traced_op import TracedOp, computes, plain_attr


def traced_ops(step: Callable[..., Any], tensors: list[tf.Tensor]) -> tuple[TracedOp, ...]:
    """The ops of a step's graph, in the order of their making; a `tf.function` inside is part of the same graph."""
    autograph = tf.__internal__.autograph
    converted = autograph.tf_convert(step, autograph.control_status_ctx())
    tf.config.run_functions_eagerly(True)
    try:
        graph = func_graph.func_graph_from_py_func("step", converted, tuple(tensors), {})
    finally:
        tf.config.run_functions_eagerly(False)
    return tuple(_as_traced(op) for op in graph.get_operations() if _counts(op))


def _counts(op: Any) -> bool:
    """Whether an op computes floats or complex numbers: a trace computes shapes by other ops than eager mode."""
    sizes = [symbols[0].shape.num_elements() if symbols else None for symbols in (op.inputs, op.outputs)]
    gives_numbers = any(output.dtype.is_floating or output.dtype.is_complex for output in op.outputs)
    return gives_numbers and computes(op.type, *sizes)


def _as_traced(op: Any) -> TracedOp:
    attrs = {name: value for name in op.node_def.attr if (value := plain_attr(_attr(op, name))) is not None}
    constants = dict(_constants(op))
    lines = [
        frame for frame in op.traceback or () if is_own_file(frame.filename) and "/tf_opdiff/" not in frame.filename
    ]
    place = Place("", lines[-1].filename, lines[-1].lineno) if lines else Place()
    return TracedOp(op.type, attrs, constants, place)


def _attr(op: Any, name: str) -> Any:
    return None if name.startswith("_") else op.get_attr(name)


def _constants(op: Any) -> Iterator[tuple[int, Any]]:
    for position, operand in enumerate(op.inputs):
        value = tf.get_static_value(operand) if operand.op.type == "Const" else None
        if value is not None:
            yield position, value
