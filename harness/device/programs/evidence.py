"""Evidence: which ops a run built and executed, where they ran, and which outputs depend on no input.

Imported in device servers only.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import tensorflow as tf
from tensorflow.python.framework import op_def_registry

from tf_opdiff.harness.device.programs.dependence import constants

#: Ops that carry tensors between devices, and into and out of a graph; and Switch, which runs where its data is.
TRANSPORT = {"_Arg", "_Retval", "_Send", "_Recv", "_HostSend", "_HostRecv", "Switch"}
_PLUMBING = {"Const", "Placeholder", "NoOp", "Identity", "ReadVariableOp"} | TRANSPORT - {"Switch"}
#: The dtypes of shapes, indices and predicates, for which many kernels of accelerators compute on the CPU.
INDICES = {"int32", "int64", "bool"}
#: Ops of an executed graph that bring in a value from outside.
_SOURCES = {"_Arg", "_Recv", "_HostRecv", "Placeholder", "VarHandleOp", "VariableV2"}
#: The label of a node in `StepStats`: `NAME = OP(INPUTS)`, and more after that.
_LABEL = re.compile(r"\S+ = (\w+)\(")


@dataclass
class Evidence:
    """Facts about the graph of a run.

    Attributes:
      ops: the op types that were built, in order.
      ran_on: op type → the devices on which such ops ran, as `CPU:0`.
      of_data: the same without ops of executed graphs that have to do with dtypes of `INDICES` alone.
      outputs: the number of outputs of the graph.
      constant: the numbers of the outputs that depend on no input.
      replaced: ops whose gradient a map replaced, as `OP` and as `OP=GRADIENT`.
      waiting: pairs of op types, as `OP=UPDATE`: an op that runs only after the other, by its control inputs.
      calls: how often the program called each function that `call_counts.watch` counts.
      graphs, sessions: how many graphs and sessions the program ran, if it opens sessions itself.
    """

    ops: dict[str, None] = field(default_factory=dict)
    ran_on: dict[str, set[str]] = field(default_factory=dict)
    of_data: dict[str, set[str]] = field(default_factory=dict)
    outputs: int = 0
    constant: set[int] = field(default_factory=set)
    replaced: set[str] = field(default_factory=set)
    waiting: set[str] = field(default_factory=set)
    calls: Counter[str] = field(default_factory=Counter)
    graphs: int = 0
    sessions: int = 0

    def lacks(self, kind: str, name: str) -> str:
        """Why this evidence does not satisfy one entry of a spec's `evidence`; empty if it does."""
        if kind in ("graphs", "sessions"):
            count = getattr(self, kind)
            return "" if count == int(name) else f"the program ran {count} {kind}, expected {name}"
        present, reason = {
            "also": (any(name in places for places in self.ran_on.values()), f"no op ran on {name}"),
            "ran": (bool(self.ran_on.get(name)), f"no {name} in the executed graph"),
            "built": (name in self.ops, f"no {name} in the graph that was built"),
            "replaced": (name in self.replaced, f"no map replaced the gradient of an op: expected {name}"),
            "waits": (name in self.waiting, f"no op waits for another by a control input: expected {name}"),
            "called": (self.calls[name] > 0, f"the program did not call tf.{name}"),
        }[kind]
        return "" if present else reason

    def note_graph(self, graph: tf.Graph, outputs: int) -> None:
        """Notes the op types of a graph that was built, nested functions included, and its number of outputs."""
        self.outputs = outputs
        graph_def = graph.as_graph_def()
        for nodes in (graph_def.node, *(f.node_def for f in graph_def.library.function)):
            self.ops.update(dict.fromkeys(n.op for n in nodes))
        self.note_replaced(graph_def)

    def note_replaced(self, graph_def: Any) -> None:
        """Notes the ops of a `GraphDef` whose gradient is not their own."""
        for nodes in (graph_def.node, *(f.node_def for f in graph_def.library.function)):
            marked = {n.op: n.attr["_gradient_op_type"].s.decode() for n in nodes if "_gradient_op_type" in n.attr}
            self.replaced.update(marked, (f"{op}={gradient}" for op, gradient in marked.items()))

    def note_waiting(self, graph: tf.Graph, subject: Sequence[tuple[str, str]]) -> None:
        """Notes which pairs `OP=UPDATE` hold, of those that `subject` names by (`waits`, name)."""
        for name in (name for kind, name in subject if kind == "waits"):
            waiting, _, update = name.partition("=")
            ops = (op for op in graph.get_operations() if op.type == waiting)
            if any(update in _needed(op.control_inputs) for op in ops):
                self.waiting.add(name)

    def note_outputs(self, outputs: Sequence[Any], inputs: Sequence[Any]) -> None:
        """Notes the outputs of the graph under construction that depend on none of these inputs."""
        self.constant |= constants(outputs, inputs, is_stateful)

    def note_partitions(self, graphs: Sequence[Any]) -> None:
        """Notes the devices of the ops in optimised, placed `GraphDef`s, and the outputs that depend on no input."""
        for graph in graphs:
            nodes = {n.name: n for n in graph.node}
            for node in graph.node:
                self.ran_on.setdefault(node.op, set()).add(short_device(node.device))
                if not _types(node) <= INDICES:
                    self.of_data.setdefault(node.op, set()).add(short_device(node.device))
                if node.op != "_Retval" or node.attr["index"].i >= self.outputs:
                    continue
                pending, ancestors = [node.name], set()
                while pending:
                    name = pending.pop().lstrip("^").split(":")[0]
                    if name in nodes and name not in ancestors:
                        ancestors.add(name)
                        pending.extend(nodes[name].input)
                if not any(nodes[n].op in _SOURCES or nodes[n].op.startswith("Stateful") for n in ancestors):
                    self.constant.add(node.attr["index"].i)

    def note_steps(self, stats: Any) -> None:
        """Notes the devices of the ops that ran in called functions only, from the `StepStats` of a session's run.

        No partition of the graph shows them, and TensorFlow places them softly, whatever the session asks for.
        """
        places: dict[str, set[str]] = {}
        for device in stats.dev_stats:
            for node in device.node_stats:
                if found := _LABEL.match(node.timeline_label):
                    places.setdefault(found[1], set()).add(short_device(device.device))
        for op in places.keys() - self.ran_on.keys() - _PLUMBING - TRANSPORT:
            self.ran_on[op] = self.of_data[op] = places[op]


def _types(node: Any) -> set[str]:
    """The names of the dtypes among the attributes of a node of a graph; one unknown name if it has none."""
    types = {t for attr in node.attr.values() for t in ([attr.type] if attr.type else attr.list.type)}
    return {tf.as_dtype(t).name for t in types} or {""}


def _needed(ops: Sequence[tf.Operation]) -> set[str]:
    """The types of these ops, and of all ops that they need."""
    pending, seen = list(ops), set()
    while pending:
        op = pending.pop()
        if op not in seen:
            seen.add(op)
            pending += [*op.control_inputs, *(tensor.op for tensor in op.inputs)]
    return {op.type for op in seen}


def is_stateful(op_type: str) -> bool:
    """Whether ops of this type are stateful, according to their OpDef."""
    op_def = op_def_registry.get(op_type)
    return op_def is not None and op_def.is_stateful


def short_device(name: str) -> str:
    """`GPU:0` out of `/job:localhost/replica:0/task:0/device:GPU:0`."""
    return name.rpartition("device:")[2]


def op_names(ops: Sequence[str], wanted: Sequence[str]) -> str:
    """The op types of a graph, joined by `;`, without calls of traced functions and without ops of every graph.

    An op in `wanted` is never left out. The order is that of the alphabet: a graph lists its functions in another order
    in each process.
    """
    return ";".join(op for op in sorted({*ops}) if op in wanted or not (op in _PLUMBING or op.startswith("__")))
