"""Mode: the ways in which TensorFlow can be made to run a program. Imported in device servers only."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.python.eager import context
from tensorflow.python.framework import op_callbacks
from tensorflow.python.framework.indexed_slices import IndexedSlicesValue

from harness.request import ALIGNMENT
from harness.spec import Spec

v1 = tf.compat.v1
#: What carries tensors between devices, and into and out of a graph; and a Switch, which goes where its data is.
TRANSPORT = {"_Arg", "_Retval", "_Send", "_Recv", "_HostSend", "_HostRecv", "Switch"}
#: Bytes from which on arrays are handed over without a copy.
SHARED = 1 << 16
_PLUMBING = {"Const", "Placeholder", "NoOp", "Identity", "ReadVariableOp"} | TRANSPORT - {"Switch"}


@dataclass
class Evidence:
    """What a run left behind: the ops of its graph, where each op ran, and whether its outputs were computed at all."""

    ops: dict[str, None] = field(default_factory=dict)
    ran: dict[str, set[str]] = field(default_factory=dict)
    outputs: int = 0
    folded: bool = False

    def note_graph(self, graph: tf.Graph, outputs: int) -> None:
        """Notes the op types of a graph that was built, nested functions included, and how many outputs it has."""
        self.outputs = outputs
        built = graph.as_graph_def()
        for nodes in (built.node, *(f.node_def for f in built.library.function)):
            self.ops.update(dict.fromkeys(n.op for n in nodes))

    def note_partitions(self, graphs: Sequence[Any]) -> None:
        """Notes where the ops of the optimised, placed graphs are, and whether an output depends on no input."""
        for graph in graphs:
            nodes = {n.name: n for n in graph.node}
            fed = {"_Arg", "_Recv", "_HostRecv", "Placeholder", "VarHandleOp", "VariableV2"}
            for node in graph.node:
                self.ran.setdefault(node.op, set()).add(short_device(node.device))
                if node.op != "_Retval" or node.attr["index"].i >= self.outputs:
                    continue
                todo, seen = [node.name], set()
                while todo:
                    name = todo.pop().lstrip("^").split(":")[0]
                    if name in nodes and name not in seen:
                        seen.add(name)
                        todo.extend(nodes[name].input)
                self.folded |= not any(nodes[n].op in fed or nodes[n].op.startswith("Stateful") for n in seen)


@dataclass
class Ran:
    """The raw outcome of a run: arrays, None or IndexedSlices for each output and source, and final state values."""

    outputs: list[Any]
    grads: list[Any] | None
    state: dict[str, np.ndarray]


def short_device(name: str) -> str:
    """`GPU:0` out of `/job:localhost/replica:0/task:0/device:GPU:0`."""
    return name.rpartition("device:")[2]


def listed(outputs: Any) -> list[Any]:
    """The program's outputs as a list."""
    return list(outputs) if isinstance(outputs, (tuple, list)) else [outputs]


def call(spec: Spec, state: dict[str, Any] | None, xs: Sequence[Any]) -> list[Any]:
    """Runs or traces the program once."""
    outputs = spec.program(tf, *xs) if state is None else spec.program(tf, state, *xs)
    return [y if isinstance(y, tf.IndexedSlices) else tf.convert_to_tensor(y) for y in listed(outputs)]


def variables(state: dict[str, Any] | None) -> list[Any]:
    """The variables of a state, in order."""
    return [v for v in (state or {}).values() if not isinstance(v, list)]


def taped(spec: Spec, state: Any, xs: Sequence[Any], gs: Sequence[Any] | None, note: Callable) -> tuple[list, Any]:
    """Outputs and, where upstreams are given, gradients by `tf.GradientTape`."""
    if gs is None:
        outputs = call(spec, state, xs)
        note(len(outputs))
        return outputs, None
    with tf.GradientTape() as tape:
        for x in xs:
            tape.watch(x)
        outputs = call(spec, state, xs)
    note(len(outputs))
    targets = [y for y, g in zip(outputs, gs, strict=True) if g is not None]
    upstreams = [g for g in gs if g is not None]
    return outputs, tape.gradient(targets, [*xs, *variables(state)], output_gradients=upstreams)


def fed(array: np.ndarray, device: str) -> tf.Tensor:
    """An array as a tensor; a large one that is aligned, as those of a sweep are, without a copy where that can be.

    TensorFlow does not check the alignment of memory that it is handed, and ends the process if it is wrong.
    """
    shared = array.nbytes >= SHARED and array.ctypes.data % ALIGNMENT == 0 and device == "CPU:0"
    if not shared or array.dtype.kind not in "fiub":
        return tf.constant(array)
    return tf.experimental.dlpack.from_dlpack(array.__dlpack__())


def plain(value: Any) -> Any:
    """A tensor's array; None and IndexedSlices (of arrays) as they are. A large one shares the tensor's memory."""
    if isinstance(value, tf.IndexedSlices):
        shape = None if value.dense_shape is None else value.dense_shape.numpy()
        return IndexedSlicesValue(value.values.numpy(), value.indices.numpy(), shape)
    if value is not None and value.dtype in (tf.float32, tf.float16) and value.shape.num_elements() * 4 >= SHARED:
        return np.asarray(memoryview(value))
    return None if value is None else np.asarray(value.numpy())  # not asarray(value): fails for a bfloat16 scalar


def final(state: dict[str, Any] | None, read: Callable[[Any], Any] = lambda v: v.numpy()) -> dict[str, np.ndarray]:
    """Final values: a variable's own, and the number of side effects in a list."""
    return {k: np.asarray(len(v), np.int64) if isinstance(v, list) else read(v) for k, v in (state or {}).items()}


def eager(spec: Spec, device: str, evidence: Evidence) -> Callable[..., Ran]:
    """Op by op. The ops are then seen by a second, forward-only run under a callback, on a state of its own."""

    def seen(op_type: str, _inputs: Any, _attrs: Any, outputs: Any, op_name: Any = None, graph: Any = None) -> None:
        op_type = tf.compat.as_str(op_type)  # TensorFlow's fast path for eager ops gives bytes
        evidence.ops[op_type] = None
        where = evidence.ran.setdefault(op_type, set())
        where.update(short_device(o.device) for o in outputs if graph is None)

    def run(inputs: Sequence[np.ndarray], upstreams: Sequence[np.ndarray | None] | None) -> Ran:
        with tf.device(device):
            state = spec.state(tf, *inputs) if spec.state else None
            xs = [fed(x, device) for x in inputs]
            gs = None if upstreams is None else [None if g is None else fed(g, device) for g in upstreams]
            steps = [taped(spec, state, xs, gs, lambda _: None) for _ in range(spec.steps)]
            ran = Ran(stacked([[plain(y) for y in ys] for ys, _ in steps]), plains(steps[0][1]), final(state))
            if not evidence.ops:
                again = spec.state(tf, *inputs) if spec.state else None
                op_callbacks.add_op_callback(seen)
                try:
                    call(spec, again, xs)
                finally:
                    op_callbacks.remove_op_callback(seen)
        return ran

    return run


def function(spec: Spec, device: str, evidence: Evidence, *, jit: bool = False) -> Callable[..., Ran]:
    """Under `tf.function`, compiled by XLA where `jit` says so.

    The device scope is entered outside, which is all that XLA honours, and inside, for the ops of the trace.
    """
    state: dict[str, Any] | None = None

    def step(xs: Sequence[tf.Tensor], gs: Sequence[tf.Tensor] | None) -> Any:
        with tf.device(device):
            return taped(spec, state, xs, gs, lambda n: evidence.note_graph(v1.get_default_graph(), n))

    compiled = tf.function(step, autograph=False, jit_compile=jit or None)

    def run(inputs: Sequence[np.ndarray], upstreams: Sequence[np.ndarray | None] | None) -> Ran:
        nonlocal state
        with tf.device(device):
            state = spec.state(tf, *inputs) if spec.state else None
            xs = [fed(x, device) for x in inputs]
            gs = None if upstreams is None else [None if g is None else fed(g, device) for g in upstreams]
            if evidence.ran:
                steps = [compiled(xs, gs) for _ in range(spec.steps)]
            else:
                context.context().enable_graph_collection()
                try:
                    steps = [compiled(xs, gs) for _ in range(spec.steps)]
                finally:
                    collected = context.context().export_run_metadata()
                    context.context().disable_graph_collection()
                    evidence.note_partitions([p for g in collected.function_graphs for p in g.partition_graphs])
                if jit:
                    ran = {short_device(y.device) for y in steps[0][0] if isinstance(y, tf.Tensor)}
                    evidence.ran = dict.fromkeys(evidence.ops, ran)
        return Ran(stacked([[plain(y) for y in ys] for ys, _ in steps]), plains(steps[0][1]), final(state))

    return run


def xla(spec: Spec, device: str, evidence: Evidence) -> Callable[..., Ran]:
    """Under `tf.function(jit_compile=True)`."""
    return function(spec, device, evidence, jit=True)


def graph(spec: Spec, device: str, evidence: Evidence) -> Callable[..., Ran]:
    """In a v1 graph and `Session`; the inputs are fed, so that nothing can be folded away."""
    built: dict[str, Any] = {}

    def build(inputs: Sequence[np.ndarray], upstreams: Sequence[np.ndarray | None] | None) -> None:
        with tf.Graph().as_default() as graph, tf.device(device):
            built["state"] = spec.state(tf, *inputs) if spec.state else None
            built["xs"] = [v1.placeholder(x.dtype if x.dtype != object else tf.string, x.shape) for x in inputs]
            built["ys"] = call(spec, built["state"], built["xs"])
            evidence.note_graph(graph, 0)  # fetches are fed by placeholders: nothing to fold
            built["grads"] = built["gs"] = None
            if upstreams is not None:
                targets = [y for y, g in zip(built["ys"], upstreams, strict=True) if g is not None]
                built["gs"] = [v1.placeholder(g.dtype, g.shape) for g in upstreams if g is not None]
                sources = [*built["xs"], *variables(built["state"])]
                built["grads"] = v1.gradients(targets, sources, grad_ys=built["gs"])
            built["init"] = v1.global_variables_initializer()
        cpus = len(tf.config.list_logical_devices("CPU"))
        config = v1.ConfigProto(
            allow_soft_placement=False,
            intra_op_parallelism_threads=1,
            inter_op_parallelism_threads=1,
            device_count={"CPU": cpus},
            gpu_options=v1.GPUOptions(allow_growth=True),
        )
        built["session"] = v1.Session(graph=graph, config=config)

    def run(inputs: Sequence[np.ndarray], upstreams: Sequence[np.ndarray | None] | None) -> Ran:
        if "session" not in built:  # a build that raised, as for want of a gradient, left some of the rest
            build(inputs, upstreams)
        session, grads = built["session"], built["grads"]
        feed = dict(zip(built["xs"], inputs, strict=True))
        if upstreams is not None:
            feed.update(zip(built["gs"], (g for g in upstreams if g is not None), strict=True))
        session.run(built["init"])
        wanted = {"ys": built["ys"], "grads": [g for g in grads or () if g is not None]}
        options, metadata = None, None
        if not evidence.ran:
            options, metadata = v1.RunOptions(output_partition_graphs=True), v1.RunMetadata()
        steps = [session.run(wanted, feed, options=options, run_metadata=metadata) for _ in range(spec.steps)]
        if metadata:
            evidence.note_partitions(metadata.partition_graphs)
        found = iter(steps[0]["grads"])
        grads = None if grads is None else [None if g is None else next(found) for g in grads]
        return Ran(stacked([s["ys"] for s in steps]), grads, final(built["state"], session.run))

    return run


def plains(grads: Any) -> list[Any] | None:
    """Gradients as arrays."""
    return None if grads is None else [plain(g) for g in grads]


def stacked(steps: list[list[Any]]) -> list[Any]:
    """Each output of the only step, or of all steps along a new first axis."""
    return steps[0] if len(steps) == 1 else [np.stack(ys) for ys in zip(*steps, strict=True)]


MODES: dict[str, Callable[[Spec, str, Evidence], Callable[..., Ran]]] = {
    "eager": eager,
    "function": function,
    "xla": xla,
    "graph": graph,
}


def op_names(ops: Sequence[str], wanted: Sequence[str]) -> str:
    """The OpDef names of a graph, `;`-joined, less calls of traced functions and the plumbing that every graph has."""
    return ";".join(op for op in ops if op in wanted or not (op in _PLUMBING or op.startswith("__")))
