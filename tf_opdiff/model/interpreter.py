"""Interpreter: runs a traced function op by op in eager mode, so that its ops can be recorded.

Imported in device servers only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import tensorflow as tf
from tensorflow.python.eager import context, execute
from tensorflow.python.framework import function_def_to_graph, tensor_util

#: Ops that call another function, whose ops run in their place.
_CALLS = {"PartitionedCall", "StatefulPartitionedCall"}


def interpreted(function: Any, tensors: Sequence[tf.Tensor]) -> Any:
    """The outputs of a `ConcreteFunction` for these tensors, in the structure that it returns."""
    return tf.nest.pack_sequence_as(
        function.structured_outputs, _run(function.graph, [*tensors, *function.captured_inputs])
    )


def _run(graph: Any, arguments: Sequence[tf.Tensor]) -> list[tf.Tensor]:
    values = {symbol.ref(): value for symbol, value in zip(graph.inputs, arguments, strict=True)}
    for op in graph.get_operations():
        if op.type == "Placeholder":
            continue
        values.update(zip((symbol.ref() for symbol in op.outputs), _outputs(op, values), strict=True))
    return [values[symbol.ref()] for symbol in graph.outputs]


def _outputs(op: Any, values: Mapping[Any, tf.Tensor]) -> Sequence[tf.Tensor]:
    """The outputs of an op of a graph, run in eager mode."""
    if op.type == "Const":
        return [tf.constant(tensor_util.MakeNdarray(op.get_attr("value")))]
    inputs = [values[symbol.ref()] for symbol in op.inputs]
    if op.type in _CALLS:
        definition = context.context().get_function_def(op.get_attr("f").name)
        return _run(function_def_to_graph.function_def_to_graph(definition), inputs)
    attrs = [part for name in op.node_def.attr if not name.startswith("_") for part in (name, _attr(op, name))]
    return execute.execute(op.type, len(op.outputs), inputs, tuple(attrs), context.context()) or []


def _attr(op: Any, name: str) -> Any:
    """An attribute as eager mode takes it."""
    value = op.get_attr(name)
    return tf.TensorShape(value) if op.node_def.attr[name].WhichOneof("value") == "shape" else value
