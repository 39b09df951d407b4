"""Mode: the ways in which TensorFlow can run a program. Imported in device servers only.

A mode is a function `(spec, device, evidence) -> Program`; `MODES` has them by name. To add one, add its function.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import tensorflow as tf
from tensorflow.python.eager import context
from tensorflow.python.framework import op_callbacks

from tf_opdiff.harness.device.observation import Result
from tf_opdiff.harness.device.programs.dependence import Trail, altered
from tf_opdiff.harness.device.programs.evidence import Evidence, is_stateful, short_device
from tf_opdiff.harness.device.programs.gradients import evaluate
from tf_opdiff.harness.device.programs.graph_mode import graph
from tf_opdiff.harness.device.programs.program import (
    Outcome,
    Program,
    State,
    as_array,
    as_arrays,
    as_tensor,
    call,
    changed_names,
    final_values,
    new_state,
    stack_steps,
)
from tf_opdiff.harness.device.repeat import same
from tf_opdiff.harness.device.request import Arguments
from tf_opdiff.harness.spec.spec import Spec

#: XLA's words about ops that have no kernel for its compiler.
_WITHOUT_KERNEL = "Detected unsupported operations when trying to compile graph"


def eager(spec: Spec, device: str, evidence: Evidence) -> Program:
    """Op by op. A second, forward-only run, on a state of its own, then records the ops by a callback."""

    def run(arguments: Arguments) -> Outcome:
        with tf.device(device):
            state = new_state(spec, arguments.inputs)
            before = final_values(state)
            tensors = arguments.map(lambda x: as_tensor(x, device))
            steps = [as_arrays(evaluate(spec, state, tensors)) for _ in range(spec.execution.steps)]
            after = final_values(state)
            inputs = [as_array(x) for x in tensors.inputs]
            outcome = Outcome(stack_steps(steps), after, inputs, changed_names(before, after))
            if not evidence.ops:
                _note_eager_ops(spec, device, arguments, tensors.inputs, evidence)
        return outcome

    return run


def _note_eager_ops(
    spec: Spec, device: str, arguments: Arguments, tensors: Sequence[tf.Tensor], evidence: Evidence
) -> None:
    """Runs the program forward on these tensors, and notes its ops, their devices and its constant outputs."""
    state = new_state(spec, arguments.inputs)
    trail = Trail(tensors, is_stateful)
    traced: set[tf.Graph] = set()

    def note(op_type: str, inputs: Any, _attrs: Any, outputs: Any, op_name: Any = None, graph: Any = None) -> None:
        op_type = tf.compat.as_str(op_type)  # TensorFlow's fast path for eager ops gives bytes
        evidence.ops[op_type] = None
        places = evidence.ran_on.setdefault(op_type, set())
        if graph is None:
            trail.note(op_type, inputs, outputs)
            places.update(short_device(o.device) for o in outputs)
        else:
            traced.add(graph)

    op_callbacks.add_op_callback(note)
    try:
        outputs = call(spec, state, tensors)
        evidence.constant = trail.constants(outputs)
    finally:
        op_callbacks.remove_op_callback(note)
        trail = Trail((), is_stateful)  # the trail holds every tensor of the run
    if evidence.constant:
        evidence.constant -= _not_constant(spec, device, arguments, outputs)
    for built in traced:
        evidence.note_replaced(built.as_graph_def())


def _not_constant(spec: Spec, device: str, arguments: Arguments, outputs: Sequence[Any]) -> set[int]:
    """The numbers of the outputs that are empty or that change with the inputs; all, if other inputs make it fail."""
    inputs = [altered(x) for x in arguments.inputs]
    try:
        others = call(spec, new_state(spec, inputs), [as_tensor(x, device) for x in inputs])
    except Exception:  # noqa: BLE001  an error is another outcome too
        return set(range(len(outputs)))
    arrays = ([as_array(getattr(y, "values", y)) for y in ys] for ys in (outputs, others))  # of IndexedSlices: values
    pairs = enumerate(zip(*arrays, strict=False))
    return {i for i, (one, other) in pairs if not one.size or not same(Result("value", one), Result("value", other))}


def function(spec: Spec, device: str, evidence: Evidence, *, jit: bool = False) -> Program:
    """Under `tf.function`; compiled by XLA if `jit`.

    The device scope is entered outside, the only scope that XLA honours, and inside, for the ops of the trace.
    """
    state: State = None
    quantities: tuple[str, ...] = ()

    def note_graph(outputs: list[Any], inputs: Any) -> None:
        evidence.note_graph(tf.compat.v1.get_default_graph(), 0 if spec.execution.only_gradients else len(outputs))
        evidence.note_outputs(outputs, inputs)

    def step(inputs: Any, upstreams: Any, tangents: Any) -> Any:
        nonlocal quantities
        with tf.device(device):
            arguments = Arguments(inputs, upstreams, tangents)
            values = evaluate(spec, state, arguments, lambda outputs: note_graph(outputs, inputs))
        quantities = tuple(values)
        return tuple(values.values())  # not a dict: TensorFlow would sort its keys, and outputs must come first

    compiled: Any = tf.function(step, autograph=False, jit_compile=jit or None)
    traced = not spec.execution.unknown_shapes

    def run(arguments: Arguments) -> Outcome:
        nonlocal state, compiled, traced
        with tf.device(device):
            state = new_state(spec, arguments.inputs)
            before = final_values(state)
            tensors = arguments.map(lambda x: as_tensor(x, device))
            if not traced:
                sizeless = tensors.map(lambda x: tf.TensorSpec([None] * x.shape.rank, x.dtype))
                compiled = compiled.get_concrete_function(sizeless.inputs, sizeless.upstreams, sizeless.tangents)
                traced = True
            first = not evidence.ran_on
            with _partition_graphs_noted(evidence) if first else contextlib.nullcontext():
                steps = [
                    compiled(tensors.inputs, tensors.upstreams, tensors.tangents) for _ in range(spec.execution.steps)
                ]
            if first and jit:
                places = {short_device(y.device) for y in steps[0][0] if isinstance(y, tf.Tensor)}
                evidence.ran_on = dict.fromkeys(evidence.ops, places)
        arrays = [as_arrays(dict(zip(quantities, s, strict=True))) for s in steps]
        after = final_values(state)
        inputs = [as_array(x) for x in tensors.inputs]
        return Outcome(stack_steps(arrays), after, inputs, changed_names(before, after))

    return run


@contextlib.contextmanager
def _partition_graphs_noted(evidence: Evidence) -> Iterator[None]:
    """Notes the optimised graphs that TensorFlow executes inside this context."""
    context.context().enable_graph_collection()
    # The graph of an earlier run that failed is no evidence. It waits until an op runs, and is then exported.
    tf.identity(False)
    context.context().export_run_metadata()
    try:
        yield
    finally:
        metadata = context.context().export_run_metadata()
        context.context().disable_graph_collection()
        evidence.note_partitions([p for g in metadata.function_graphs for p in g.partition_graphs])


def xla(spec: Spec, device: str, evidence: Evidence) -> Program:
    """Under `tf.function(jit_compile=True)`.

    XLA looks for a kernel of each op before it compiles anything. A program that lacks one raises the same error again,
    whatever its arguments, without the 10 ms of another attempt.
    """
    program = function(spec, device, evidence, jit=True)
    refusal: tf.errors.OpError | None = None

    def run(arguments: Arguments) -> Outcome:
        nonlocal refusal
        if refusal:
            raise refusal.with_traceback(None)
        try:
            return program(arguments)
        except tf.errors.OpError as error:
            refusal = error if _WITHOUT_KERNEL in error.message else None
            raise

    return run


MODES: dict[str, Callable[[Spec, str, Evidence], Program]] = {
    "eager": eager,
    "function": function,
    "xla": xla,
    "graph": graph,
}
