"""Interpreter: runs a traced function op by op in eager mode, so that its ops can be recorded.

Imported in device servers only.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import tensorflow as tf
from tensorflow.python.eager import context, execute
from tensorflow.python.framework import function_def_to_graph, tensor_util

from tf_opdiff.checking.own_files import is_own_file
from tf_opdiff.model.recordings.recorded import Place

#: Ops that call another function, a branch or a loop; the ops of these run in their place.
_CALLS = {"PartitionedCall", "StatefulPartitionedCall"}
_BRANCHES = {"If", "StatelessIf", "Case", "StatelessCase"}
_LOOPS = {"While", "StatelessWhile"}


def interpreted(function: Any, tensors: Sequence[tf.Tensor]) -> Any:
    """The outputs of a `ConcreteFunction` for these tensors, in the structure that it returns."""
    return packed(function.structured_outputs, run_graph(function.graph, [*tensors, *function.captured_inputs]))


def packed(structure: Any, outputs: Sequence[tf.Tensor]) -> Any:
    """Outputs in the structure that a function returns; None has no output."""
    left = iter(outputs)
    flat = tf.nest.flatten(structure, expand_composites=True)
    values = [None if one is None else next(left) for one in flat]
    return tf.nest.pack_sequence_as(structure, values, expand_composites=True)


#: The ops of graphs that run at the moment, the innermost last.
_RUNNING: list[Any] = []


def place_in_graph() -> Place | None:
    """The user's line of the op of a graph that runs; its scope, if it was traced elsewhere; None if none runs."""
    for op in reversed(_RUNNING):
        lines = [frame for frame in op.traceback or () if is_users(frame.filename)]
        if lines:
            return Place("", lines[-1].filename, lines[-1].lineno)
    scope = _RUNNING[-1].name.rpartition("/")[0] if _RUNNING else ""
    return Place(scope) if scope else None


def is_users(file: str) -> bool:
    """Whether a source file is the user's."""
    return is_own_file(file) and "/tf_opdiff/" not in file and "__autograph_generated_file" not in file


def body_of(name: str) -> Any:
    """The graph of a function of the eager context; None if there is none, or if it has a state."""
    if not context.context().has_function(name):
        return None
    graph = function_def_to_graph.function_def_to_graph(context.context().get_function_def(name))
    return None if any(op.op_def.is_stateful for op in graph.get_operations() if op.type not in _CALLS) else graph


def run_graph(graph: Any, arguments: Sequence[tf.Tensor]) -> list[tf.Tensor]:
    """The outputs of a graph for the values of its inputs; each op runs in eager mode."""
    values = {symbol.ref(): value for symbol, value in zip(graph.inputs, arguments, strict=True)}
    for op in _in_order(graph):
        if op.type == "Placeholder":
            continue
        _RUNNING.append(op)
        try:
            values.update(zip((symbol.ref() for symbol in op.outputs), _outputs(op, values), strict=True))
        finally:
            _RUNNING.pop()
    return [values[symbol.ref()] for symbol in graph.outputs]


def _in_order(graph: Any) -> Iterator[Any]:
    """The ops of a graph in the order of their making, but each after those whose outputs it takes.

    The gradient of a loop gives the loop further inputs, of ops that were made after it.
    """
    seen, done = set[Any](), set[Any]()
    for last in graph.get_operations():
        waiting = [last]
        while waiting:
            op = waiting[-1]
            missing = [] if op in seen else [symbol.op for symbol in op.inputs if symbol.op not in seen]
            seen.add(op)
            waiting += missing
            if not missing:
                waiting.pop()
                if op not in done:
                    done.add(op)
                    yield op


def _outputs(op: Any, values: Mapping[Any, tf.Tensor]) -> Sequence[tf.Tensor]:
    """The outputs of an op of a graph, run in eager mode."""
    if op.type == "Const":
        return [tf.constant(tensor_util.MakeNdarray(op.get_attr("value")))]
    inputs = [values[symbol.ref()] for symbol in op.inputs]
    if op.type in _CALLS:
        return _called(op, "f", inputs)
    if op.type in _BRANCHES:
        return _chosen(op, inputs)
    if op.type in _LOOPS:
        while bool(_called(op, "cond", inputs)[0]):
            inputs = list(_called(op, "body", inputs))
        return inputs
    attrs = [part for name in op.node_def.attr if not name.startswith("_") for part in (name, _attr(op, name))]
    return execute.execute(op.type, len(op.outputs), inputs, tuple(attrs), context.context()) or []


def _chosen(op: Any, inputs: Sequence[tf.Tensor]) -> list[tf.Tensor]:
    """The outputs of the branch that the first input chooses."""
    index, *others = inputs
    if "Case" not in op.type:
        return _called(op, "then_branch" if bool(index) else "else_branch", others)
    branches, number = op.get_attr("branches"), int(index)
    return _run_named(op, branches[number if 0 <= number < len(branches) else -1].name, others)


def _called(op: Any, attr: str, inputs: Sequence[tf.Tensor]) -> list[tf.Tensor]:
    return _run_named(op, op.get_attr(attr).name, inputs)


def _run_named(op: Any, name: str, inputs: Sequence[tf.Tensor]) -> list[tf.Tensor]:
    """The outputs of a function that an op calls."""
    if (known := op.graph._functions.get(name)) is not None and getattr(known, "graph", None) is not None:
        return run_graph(known.graph, inputs)
    definition = context.context().get_function_def(name)
    return run_graph(function_def_to_graph.function_def_to_graph(definition), inputs)


def _attr(op: Any, name: str) -> Any:
    """An attribute as eager mode takes it."""
    value = op.get_attr(name)
    return tf.TensorShape(value) if op.node_def.attr[name].WhichOneof("value") == "shape" else value
