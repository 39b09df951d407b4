"""Mode: the ways in which TensorFlow can be made to run a program. Imported in device servers only."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
import tensorflow as tf
from tensorflow.python.eager import context
from tensorflow.python.framework import config, op_callbacks, op_def_registry
from tensorflow.python.framework.indexed_slices import IndexedSlicesValue

from tf_opdiff.harness.device.dependence import Trail, altered, constants
from tf_opdiff.harness.device.observation import Result
from tf_opdiff.harness.device.repeat import same
from tf_opdiff.harness.device.request import ALIGNMENT, Asked
from tf_opdiff.harness.spec.spec import Spec

v1 = tf.compat.v1
#: What carries tensors between devices, and into and out of a graph; and a Switch, which goes where its data is.
TRANSPORT = {"_Arg", "_Retval", "_Send", "_Recv", "_HostSend", "_HostRecv", "Switch"}
#: Bytes from which on arrays are handed over without a copy.
SHARED = 1 << 16
_PLUMBING = {"Const", "Placeholder", "NoOp", "Identity", "ReadVariableOp"} | TRANSPORT - {"Switch"}


@dataclass
class Evidence:
    """What a run left behind: the ops of its graph, where each op ran, and which outputs, by number, are constants.

    `replaced` names ops whose gradient a map replaced, as `OP` and as `OP=GRADIENT`. `calls` is how often the program
    called what `watch` counts; `graphs` and `sessions` are how many of them a program ran that opens sessions itself.
    """

    ops: dict[str, None] = field(default_factory=dict)
    ran: dict[str, set[str]] = field(default_factory=dict)
    outputs: int = 0
    constant: set[int] = field(default_factory=set)
    replaced: set[str] = field(default_factory=set)
    calls: Counter[str] = field(default_factory=Counter)
    graphs: int = 0
    sessions: int = 0

    def lacks(self, kind: str, name: str) -> str:
        """Why an entry of a spec's `evidence` does not stand; empty where it does."""
        if kind in ("graphs", "sessions"):
            count = getattr(self, kind)
            return "" if count == int(name) else f"the program ran {count} {kind}, expected {name}"
        present, why = {
            "ran": (bool(self.ran.get(name)), f"no {name} in the executed graph"),
            "built": (name in self.ops, f"no {name} in the graph that was built"),
            "replaced": (name in self.replaced, f"no map replaced the gradient of an op: expected {name}"),
            "called": (self.calls[name] > 0, f"the program did not call tf.{name}"),
        }[kind]
        return "" if present else why

    def note_graph(self, graph: tf.Graph, outputs: int) -> None:
        """Notes the op types of a graph that was built, nested functions included, and how many outputs it has."""
        self.outputs = outputs
        built = graph.as_graph_def()
        for nodes in (built.node, *(f.node_def for f in built.library.function)):
            self.ops.update(dict.fromkeys(n.op for n in nodes))
        self.note_replaced(built)

    def note_replaced(self, built: Any) -> None:
        """Notes which ops of a graph that was built have another gradient than their own."""
        for nodes in (built.node, *(f.node_def for f in built.library.function)):
            marked = {n.op: n.attr["_gradient_op_type"].s.decode() for n in nodes if "_gradient_op_type" in n.attr}
            self.replaced.update(marked, (f"{op}={gradient}" for op, gradient in marked.items()))

    def note_outputs(self, outputs: Sequence[Any], inputs: Sequence[Any]) -> None:
        """Notes the outputs of the graph that is being built to which none of these inputs leads."""
        self.constant |= constants(outputs, inputs, _stateful)

    def note_partitions(self, graphs: Sequence[Any]) -> None:
        """Notes where the ops of the optimised, placed graphs are, and which outputs depend on no input."""
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
                if not any(nodes[n].op in fed or nodes[n].op.startswith("Stateful") for n in seen):
                    self.constant.add(node.attr["index"].i)


def _stateful(op_type: str) -> bool:
    known = op_def_registry.get(op_type)
    return known is not None and known.is_stateful


@dataclass
class Ran:
    """The raw outcome of a run: for each quantity an array, None or IndexedSlices; final state; the inputs then.

    `changed` names what of the state the run changed.
    """

    quantities: dict[str, list[Any]]
    state: dict[str, np.ndarray]
    inputs: list[Any]
    changed: tuple[str, ...] = ()


Program = Callable[[Asked], Ran]


def short_device(name: str) -> str:
    """`GPU:0` out of `/job:localhost/replica:0/task:0/device:GPU:0`."""
    return name.rpartition("device:")[2]


def listed(outputs: Any) -> list[Any]:
    """The program's outputs as a list."""
    return list(outputs) if isinstance(outputs, (tuple, list)) else [outputs]


def call(spec: Spec, state: dict[str, Any] | None, xs: Sequence[Any]) -> list[Any]:
    """Runs or traces the program once.

    Raises:
      TypeError: an output is a handle, which has no value.
    """
    outputs = spec.program(tf, *xs) if state is None else spec.program(tf, state, *xs)
    tensors = [y if isinstance(y, tf.IndexedSlices) else tf.convert_to_tensor(y) for y in listed(outputs)]
    for i, y in enumerate(tensors):
        if y.dtype in (tf.resource, tf.variant):
            raise TypeError(no_value(f"output[{i}]", y.dtype.name))
    return tensors


def no_value(quantity: str, dtype: str) -> str:
    """Says that a quantity can't be compared, in every mode alike; in a v1 graph it would come back as raw memory."""
    return f"{quantity} is a handle, of dtype {dtype}, which has no value: expected the program to return what it holds"


def shown(state: dict[str, Any] | None) -> dict[str, Any]:
    """What of a state is looked at: variables and lists."""
    return {name: v for name, v in (state or {}).items() if not name.startswith("_")}


def variables(state: dict[str, Any] | None) -> list[Any]:
    """The variables of a state, in order."""
    return [v for v in shown(state).values() if not isinstance(v, list)]


def changed(before: Mapping[str, np.ndarray], after: Mapping[str, np.ndarray]) -> tuple[str, ...]:
    """The names under which other bits are now than before."""
    return tuple(name for name in after if not same(Result("value", before.get(name)), Result("value", after[name])))


def taken(spec: Spec, state: Any, asked: Asked, note: Callable[[list[Any]], None]) -> dict[str, list]:
    """Outputs; gradients by `tf.GradientTape`, where upstreams are given; what `derived` gives, where tangents are."""
    if asked.gs is None:
        outputs = call(spec, state, asked.xs)
        note(outputs)
        return {"output": outputs} | derived(spec, asked)
    with tf.GradientTape() as tape:
        for x in asked.xs:
            tape.watch(x)
        outputs = call(spec, state, asked.xs)
    note(outputs)
    sources = [*asked.xs, *variables(state)]
    return {"output": outputs, "grad": tape.gradient(*upstream(outputs, asked, sources))} | derived(spec, asked)


def upstream(outputs: Sequence[Any], asked: Asked, sources: Sequence[Any]) -> tuple[list, list, list]:
    """The outputs that have an upstream, the sources, and the upstreams."""
    pairs = [(y, g) for y, g in zip(outputs, asked.gs or (), strict=True) if g is not None]
    return [y for y, _ in pairs], list(sources), [g for _, g in pairs]


def derived(spec: Spec, asked: Asked) -> dict[str, list]:
    """Forward mode by `tf.autodiff.ForwardAccumulator`, second order by a tape around a tape, as far as promised."""
    found: dict[str, list] = {}
    if asked.ts is None:
        return found
    if spec.jvp:
        with tf.autodiff.ForwardAccumulator(list(asked.xs), list(asked.ts)) as forward:
            outputs = call(spec, None, asked.xs)
        found["jvp"] = [forward.jvp(y) for y in outputs]
    if spec.hvp:
        with tf.GradientTape() as outer:
            outer.watch(asked.xs)
            with tf.GradientTape() as inner:
                inner.watch(asked.xs)
                outputs = call(spec, None, asked.xs)
            grads = inner.gradient(*upstream(outputs, asked, asked.xs))
        found["hvp"] = outer.gradient(*along(grads, asked))
    return found


def along(grads: Sequence[Any], asked: Asked) -> tuple[list, list, list]:
    """The gradients that there are, the inputs, and the tangents to the inputs whose gradients they are."""
    pairs = [(g, t) for g, t in zip(grads, asked.ts or (), strict=True) if g is not None]
    return [g for g, _ in pairs], list(asked.xs), [t for _, t in pairs]


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
    return {k: np.asarray(len(v), np.int64) if isinstance(v, list) else read(v) for k, v in shown(state).items()}


def eager(spec: Spec, device: str, evidence: Evidence) -> Program:
    """Op by op. The ops are then seen by a second, forward-only run under a callback, on a state of its own."""

    trail = Trail((), _stateful)
    traced: set[tf.Graph] = set()

    def seen(op_type: str, inputs: Any, _attrs: Any, outputs: Any, op_name: Any = None, graph: Any = None) -> None:
        traced.update([graph] if graph is not None else [])
        op_type = tf.compat.as_str(op_type)  # TensorFlow's fast path for eager ops gives bytes
        evidence.ops[op_type] = None
        if graph is None:
            trail.note(op_type, inputs, outputs)
        where = evidence.ran.setdefault(op_type, set())
        where.update(short_device(o.device) for o in outputs if graph is None)

    def run(asked: Asked) -> Ran:
        nonlocal trail
        with tf.device(device):
            state = spec.state(tf, *asked.xs) if spec.state else None
            before = final(state)
            given = asked.map(lambda x: fed(x, device))
            steps = [plains(taken(spec, state, given, lambda _: None)) for _ in range(spec.steps)]
            after = final(state)
            ran = Ran(stacked(steps), after, [plain(x) for x in given.xs], changed(before, after))
            if not evidence.ops:
                again = spec.state(tf, *asked.xs) if spec.state else None
                trail = Trail(given.xs, _stateful)
                op_callbacks.add_op_callback(seen)
                try:
                    outputs = call(spec, again, given.xs)
                    evidence.constant = trail.constants(outputs)
                finally:
                    op_callbacks.remove_op_callback(seen)
                    trail = Trail((), _stateful)  # it holds every tensor of that run
                if evidence.constant:
                    evidence.constant -= _moved(spec, device, asked, outputs)
                for graph in traced:
                    evidence.note_replaced(graph.as_graph_def())
        return ran

    return run


def _moved(spec: Spec, device: str, asked: Asked, outputs: Sequence[Any]) -> set[int]:
    """The numbers of the outputs that are empty, or change with the inputs; all, where other inputs make it fail."""
    xs = [altered(x) for x in asked.xs]
    try:
        state = spec.state(tf, *xs) if spec.state else None
        others = call(spec, state, [fed(x, device) for x in xs])
    except Exception:  # noqa: BLE001  an error is another outcome too
        return set(range(len(outputs)))
    arrays = ([plain(getattr(y, "values", y)) for y in ys] for ys in (outputs, others))  # of IndexedSlices, the values
    pairs = enumerate(zip(*arrays, strict=False))
    return {i for i, (one, other) in pairs if not one.size or not same(Result("value", one), Result("value", other))}


def function(spec: Spec, device: str, evidence: Evidence, *, jit: bool = False) -> Program:
    """Under `tf.function`, compiled by XLA where `jit` says so.

    The device scope is entered outside, which is all that XLA honours, and inside, for the ops of the trace.
    """
    state: dict[str, Any] | None = None
    names: tuple[str, ...] = ()

    def built(outputs: list[Any], xs: Any) -> None:
        evidence.note_graph(v1.get_default_graph(), len(outputs))
        evidence.note_outputs(outputs, xs)

    def step(xs: Any, gs: Any, ts: Any) -> Any:
        nonlocal names
        with tf.device(device):
            found = taken(spec, state, Asked(xs, gs, ts), lambda outputs: built(outputs, xs))
        names = tuple(found)
        return tuple(found.values())  # no dict, whose names TensorFlow sorts: the outputs come first

    compiled = tf.function(step, autograph=False, jit_compile=jit or None)

    def run(asked: Asked) -> Ran:
        nonlocal state
        with tf.device(device):
            state = spec.state(tf, *asked.xs) if spec.state else None
            before = final(state)
            given = asked.map(lambda x: fed(x, device))
            arguments = given.xs, given.gs, given.ts
            if evidence.ran:
                steps = [compiled(*arguments) for _ in range(spec.steps)]
            else:
                context.context().enable_graph_collection()
                context.context().export_run_metadata()  # a run that failed may have left its graph: it is no evidence
                try:
                    steps = [compiled(*arguments) for _ in range(spec.steps)]
                finally:
                    collected = context.context().export_run_metadata()
                    context.context().disable_graph_collection()
                    evidence.note_partitions([p for g in collected.function_graphs for p in g.partition_graphs])
                if jit:
                    ran = {short_device(y.device) for y in steps[0][0] if isinstance(y, tf.Tensor)}
                    evidence.ran = dict.fromkeys(evidence.ops, ran)
        found = [plains(dict(zip(names, s, strict=True))) for s in steps]
        after = final(state)
        return Ran(stacked(found), after, [plain(x) for x in given.xs], changed(before, after))

    return run


def xla(spec: Spec, device: str, evidence: Evidence) -> Program:
    """Under `tf.function(jit_compile=True)`."""
    return function(spec, device, evidence, jit=True)


def session_config() -> Any:
    """How every session runs: where the plan says, on as many threads, with the devices that this process is to see."""
    own = context.context().config
    return v1.ConfigProto(
        allow_soft_placement=False,
        intra_op_parallelism_threads=tf.config.threading.get_intra_op_parallelism_threads(),
        inter_op_parallelism_threads=tf.config.threading.get_inter_op_parallelism_threads(),
        device_count={**own.device_count, "CPU": len(tf.config.list_logical_devices("CPU"))},
        gpu_options=own.gpu_options,
        pluggable_device_options=own.pluggable_device_options,
    )


def _seed() -> None:
    """Gives the graph a seed where ops have to be deterministic: one that draws numbers without is then an error."""
    if config.is_op_determinism_enabled():
        v1.set_random_seed(1)


def sessions(spec: Spec, device: str, evidence: Evidence) -> Program:
    """A program that opens v1 sessions itself; every run of each is looked at."""

    ran: list[tf.compat.v1.Session] = []

    class Session(v1.Session):  # type: ignore[name-defined]
        """A session on a graph, a new one unless given; entered, it puts what is built on the plan's device."""

        def __init__(self, graph: tf.Graph | None = None) -> None:
            settings = session_config()
            settings.device_count["CPU"] = max(2, settings.device_count["CPU"])
            super().__init__(graph=graph or tf.Graph(), config=settings)

        def __enter__(self) -> Self:
            super().__enter__()
            self._scope = self.graph.device(device)
            self._scope.__enter__()
            _seed()
            return self

        def __exit__(self, *error: object) -> Any:
            self._scope.__exit__(*error)
            return super().__exit__(*error)

        def run(self, fetches: Any, feed_dict: Any = None, options: Any = None, run_metadata: Any = None) -> Any:
            options, metadata = v1.RunOptions(output_partition_graphs=True), v1.RunMetadata()
            found = super().run(fetches, feed_dict, options, metadata)
            evidence.note_graph(self.graph, 0)
            evidence.note_partitions(metadata.partition_graphs)
            ran.append(self)
            if run_metadata is not None:
                run_metadata.CopyFrom(metadata)
            return found

    def run(asked: Asked) -> Ran:
        ran.clear()
        outputs = listed(spec.program(tf, Session, *asked.xs))
        evidence.sessions, evidence.graphs = len(set(ran)), len({session.graph for session in ran})
        return Ran({"output": [np.asarray(y) for y in outputs]}, {}, list(asked.xs))

    return run


def graph(spec: Spec, device: str, evidence: Evidence) -> Program:
    """In a v1 graph and `Session`; the inputs are fed, so that nothing can be folded away."""
    if spec.sessions:
        return sessions(spec, device, evidence)
    built: _Graph | None = None

    def run(asked: Asked) -> Ran:
        nonlocal built
        built = built or _Graph.of(spec, device, asked, evidence)
        feed = dict(zip(built.fed.arrays, asked.arrays, strict=True))
        built.session.run(built.init)
        before = final(built.state, built.session.run)
        options, metadata = None, None
        if not evidence.ran:
            options, metadata = v1.RunOptions(output_partition_graphs=True), v1.RunMetadata()
        steps = [built.fetched(feed, options=options, run_metadata=metadata) for _ in range(spec.steps)]
        if metadata:
            evidence.note_partitions(metadata.partition_graphs)
        after = final(built.state, built.session.run)
        return Ran(stacked(steps), after, list(asked.xs), changed(before, after))

    return run


@dataclass(frozen=True)
class _Graph:
    """A program's v1 graph in a session: its state, its placeholders, what is fetched of each quantity, its start."""

    session: Any
    state: dict[str, Any] | None
    fed: Asked
    wanted: dict[str, list[Any]]
    init: Any

    @classmethod
    def of(cls, spec: Spec, device: str, asked: Asked, evidence: Evidence) -> Self:
        """Builds the graph for arrays of the dtypes and shapes that are asked, and opens the session."""
        with tf.Graph().as_default() as graph, tf.device(device):
            _seed()
            state = spec.state(tf, *asked.xs) if spec.state else None
            given = asked.map(lambda a: v1.placeholder(a.dtype if a.dtype != object else tf.string, a.shape))
            outputs = call(spec, state, given.xs)
            evidence.note_graph(graph, 0)  # fetches are fed by placeholders: nothing to fold
            evidence.note_outputs(outputs, given.xs)
            wanted = {"output": outputs}
            if given.gs is not None:
                targets, sources, upstreams = upstream(outputs, given, [*given.xs, *variables(state)])
                wanted["grad"] = v1.gradients(targets, sources, grad_ys=upstreams)
            if given.ts is not None and spec.jvp:
                wanted["jvp"] = _forward(outputs, given)
            if given.ts is not None and spec.hvp:
                grads, sources, tangents = along(wanted["grad"], given)
                wanted["hvp"] = v1.gradients(grads, sources, grad_ys=tangents)
            init = v1.global_variables_initializer()
        return cls(v1.Session(graph=graph, config=session_config()), state, given, wanted, init)

    def fetched(self, feed: Mapping[Any, Any], **how: Any) -> dict[str, list[Any]]:
        """Every quantity of one run; None where it has no tensor, as a gradient that is not connected."""
        present = {quantity: [v for v in values if v is not None] for quantity, values in self.wanted.items()}
        arrays = {quantity: iter(values) for quantity, values in self.session.run(present, feed, **how).items()}
        return {q: [None if v is None else next(arrays[q]) for v in values] for q, values in self.wanted.items()}


def _forward(outputs: Sequence[Any], asked: Asked) -> list[Any]:
    """The Jacobian times the tangents by two reverse passes: the VJP is linear in its upstreams, whatever they are.

    J. Townsend, A new trick for calculating Jacobian vector products:
    https://j-towns.github.io/2017/06/12/A-new-trick.html
    """
    dummies = [tf.ones_like(y) for y in outputs]
    grads, _, tangents = along(v1.gradients(list(outputs), list(asked.xs), grad_ys=dummies), asked)
    return v1.gradients(grads, dummies, grad_ys=tangents)


def plains(found: Mapping[str, Sequence[Any]]) -> dict[str, list[Any]]:
    """Every quantity as arrays; see `plain`."""
    return {quantity: [plain(v) for v in values] for quantity, values in found.items()}


def stacked(steps: list[dict[str, list[Any]]]) -> dict[str, list[Any]]:
    """The quantities of the only step; of several, each output along a new first axis."""
    if len(steps) == 1:
        return steps[0]
    return {"output": [np.stack(ys) for ys in zip(*(s["output"] for s in steps), strict=True)]}


MODES: dict[str, Callable[[Spec, str, Evidence], Program]] = {
    "eager": eager,
    "function": function,
    "xla": xla,
    "graph": graph,
}


def op_names(ops: Sequence[str], wanted: Sequence[str]) -> str:
    """The OpDef names of a graph, `;`-joined, less calls of traced functions and the plumbing that every graph has."""
    return ";".join(op for op in ops if op in wanted or not (op in _PLUMBING or op.startswith("__")))
