"""Graph mode: a program in a v1 graph and `Session`. Imported in device servers only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import tensorflow as tf
from tensorflow.python.eager import context
from tensorflow.python.framework import config

from tf_opdiff.harness.device.programs.evidence import Evidence
from tf_opdiff.harness.device.programs.gradients import first_pass, jvp_in_graph, second_pass
from tf_opdiff.harness.device.programs.program import (
    Outcome,
    Program,
    State,
    as_list,
    as_whole,
    call,
    changed_names,
    final_values,
    new_state,
    stack_steps,
    variables,
)
from tf_opdiff.harness.device.request import Arguments, lent_copy
from tf_opdiff.harness.spec.spec import Spec

v1 = tf.compat.v1


def graph(spec: Spec, device: str, evidence: Evidence) -> Program:
    """The program in a v1 graph and `Session`; inputs are fed, so that TensorFlow cannot fold any op."""
    if spec.execution.sessions:
        return sessions(spec, device, evidence)
    built: _BuiltGraph | None = None

    def run(arguments: Arguments) -> Outcome:
        nonlocal built
        built = built or _BuiltGraph.of(spec, device, arguments, evidence)
        lent = arguments.map(lent_copy)
        feed = dict(zip(built.placeholders.arrays, lent.arrays, strict=True))
        built.session.run(built.init)
        before = final_values(built.state, built.session.run)
        options, metadata = None, None
        if not evidence.ran_on:
            options, metadata = _traced(), v1.RunMetadata()
        steps = [built.run(feed, options=options, run_metadata=metadata) for _ in range(spec.execution.steps)]
        if metadata:
            evidence.note_partitions(metadata.partition_graphs)
            evidence.note_steps(metadata.step_stats)
        after = final_values(built.state, built.session.run)
        return Outcome(stack_steps(steps), after, list(lent.inputs), changed_names(before, after))

    return run


@dataclass(frozen=True)
class _BuiltGraph:
    """A program's v1 graph in an open session: its state, its placeholders, the tensors of each quantity, its init op.

    A quantity's tensor is None where there is none, such as a gradient that is not connected.
    """

    session: Any
    state: State
    placeholders: Arguments
    fetches: dict[str, list[Any]]
    init: Any

    @classmethod
    def of(cls, spec: Spec, device: str, arguments: Arguments, evidence: Evidence) -> Self:
        """Builds the graph for arrays of these dtypes and shapes, and opens the session."""
        with tf.Graph().as_default() as graph, tf.device(device):
            _seed()
            state = new_state(spec, arguments.inputs)
            fed = arguments.map(lambda a: _placeholder(a, static=not spec.execution.unknown_shapes))
            outputs = call(spec, state, fed.inputs)
            evidence.note_graph(graph, 0)  # placeholders feed the fetches: TensorFlow has nothing to fold
            evidence.note_waiting(graph, spec.evidence_in("graph"))
            evidence.note_outputs(outputs, fed.inputs)
            fetches = {} if spec.execution.only_gradients else {"output": outputs}
            if fed.upstreams is not None:
                targets, sources, upstreams = first_pass(outputs, fed, [*fed.inputs, *variables(state)])
                fetches["grad"] = v1.gradients(targets, sources, grad_ys=upstreams)
            if fed.tangents is not None and spec.derivatives.jvp:
                fetches["jvp"] = jvp_in_graph(outputs, fed)
            if fed.tangents is not None and spec.derivatives.hvp:
                grads, sources, tangents = second_pass(fetches["grad"], fed)
                fetches["hvp"] = v1.gradients(grads, sources, grad_ys=tangents)
            init = v1.global_variables_initializer()
        return cls(v1.Session(graph=graph, config=session_config()), state, fed, fetches, init)

    def run(self, feed: Mapping[Any, Any], **options: Any) -> dict[str, list[Any]]:
        """The arrays of every quantity after one run; None where a quantity has no tensor."""
        present = {quantity: [v for v in values if v is not None] for quantity, values in self.fetches.items()}
        arrays = {quantity: iter(values) for quantity, values in self.session.run(present, feed, **options).items()}
        return {q: [None if v is None else next(arrays[q]) for v in values] for q, values in self.fetches.items()}


def _placeholder(array: np.ndarray, *, static: bool) -> Any:
    """A placeholder for arrays of this dtype and shape; unless static, of this rank."""
    shape = array.shape if static else [None] * array.ndim
    return v1.placeholder(array.dtype if array.dtype != object else tf.string, shape)


def sessions(spec: Spec, device: str, evidence: Evidence) -> Program:
    """A program that opens v1 sessions itself; evidence is taken from every run of each session."""
    runs: list[tf.compat.v1.Session] = []

    class Session(v1.Session):  # type: ignore[name-defined]
        """A session on a graph (by default a new one); inside `with`, ops are built on the plan's device."""

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
            options, metadata = _traced(), v1.RunMetadata()
            values = super().run(fetches, feed_dict, options, metadata)
            evidence.note_graph(self.graph, 0)
            evidence.note_partitions(metadata.partition_graphs)
            evidence.note_steps(metadata.step_stats)
            runs.append(self)
            if run_metadata is not None:
                run_metadata.CopyFrom(metadata)
            return values

    def run(arguments: Arguments) -> Outcome:
        runs.clear()
        outputs = as_list(spec.program(tf, Session, *arguments.inputs))
        evidence.sessions, evidence.graphs = len(set(runs)), len({session.graph for session in runs})
        return Outcome({"output": [as_whole(y) for y in outputs]}, {}, list(arguments.inputs))

    return run


def _traced() -> Any:
    """The `RunOptions` of a run that shows where its ops ran, in called functions too."""
    return v1.RunOptions(output_partition_graphs=True, trace_level=v1.RunOptions.SOFTWARE_TRACE)


def session_config() -> Any:
    """The `ConfigProto` of every session: strict placement; thread counts, devices and rewriters of this process."""
    own = context.context().config
    return v1.ConfigProto(
        allow_soft_placement=False,
        intra_op_parallelism_threads=tf.config.threading.get_intra_op_parallelism_threads(),
        inter_op_parallelism_threads=tf.config.threading.get_inter_op_parallelism_threads(),
        device_count={**own.device_count, "CPU": len(tf.config.list_logical_devices("CPU"))},
        graph_options=v1.GraphOptions(rewrite_options=own.graph_options.rewrite_options),
        gpu_options=own.gpu_options,
        pluggable_device_options=own.pluggable_device_options,
    )


def _seed() -> None:
    """Seeds the graph if ops must be deterministic: TensorFlow then refuses random ops without a seed."""
    if config.is_op_determinism_enabled():
        v1.set_random_seed(1)
