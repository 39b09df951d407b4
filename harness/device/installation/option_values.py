"""Option values: the values of attributes that the programs of specs give to the ops that they are about.

Imported in device servers only. As a program, it prints the file that `harness.spec.lists.options` reads:
`python -m tf_opdiff.harness.device.installation.option_values PACKAGE`. It builds each program; it runs those that
open sessions, and those of eager mode alone.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.python.framework import op_callbacks
from tensorflow.python.framework.func_graph import FuncGraph

from tf_opdiff.harness.device.programs.program import as_list, call, new_state
from tf_opdiff.harness.spec.catalog import Catalog
from tf_opdiff.harness.spec.lists.raw_ops import RawOp, RawOps
from tf_opdiff.harness.spec.lists.tiers import TIERS
from tf_opdiff.harness.spec.spec import Case, Spec

v1 = tf.compat.v1
#: An op, an attribute, and the text of a value.
Value = tuple[str, str, str]
#: The aspects whose specs promise no value: they call an op with dtypes that it refuses, or with limits of arguments.
WITHOUT_VALUES = ("other-dtypes", "dtypes-without-kernel", "dtypes-of-xla", "dtypes-without-xla", "limits")
#: The most specs that the file names for a value: those of the lowest tiers.
_NAMED = 2


def _texts(value: Any) -> list[str]:
    """The values of an attribute of a node as texts: one, or those of a list of dtypes; none of other kinds."""
    kind = value.WhichOneof("value")
    if kind == "b":
        return [str(value.b)]
    if kind == "s":
        return [value.s.decode(errors="replace")]
    types = [value.type] if kind == "type" else value.list.type
    return [tf.as_dtype(number).base_dtype.name for number in types]


def _of_graph(graph: tf.Graph, ops: frozenset[str]) -> Iterator[Value]:
    """The values in a graph, nested functions included, of the nodes of these ops."""
    built = graph.as_graph_def()
    for nodes in (built.node, *(function.node_def for function in built.library.function)):
        for node in nodes:
            if node.op in ops:
                yield from ((node.op, name, text) for name, value in node.attr.items() for text in _texts(value))


def values_of(case: Case, inputs: Sequence[np.ndarray], ops: frozenset[str]) -> set[Value]:
    """The values that a case's program gives to these ops; empty if TensorFlow refuses the program."""
    spec = case.spec.called_with(case.keywords)
    how = _of_sessions if spec.execution.sessions else _of_eager if spec.modes == ("eager",) else _of_built
    try:
        return set(how(spec, inputs, ops))
    except Exception:  # noqa: BLE001  a program may raise anything, as specs promise
        return set()


def _of_built(spec: Spec, inputs: Sequence[np.ndarray], ops: frozenset[str]) -> Iterator[Value]:
    """The values in the graph of a program: a v1 graph, if the spec has this mode."""
    graph = tf.Graph() if "graph" in spec.modes else FuncGraph("program")
    with graph.as_default(), tf.device("CPU:0"):
        state = new_state(spec, inputs)
        call(spec, state, [v1.placeholder(tf.as_dtype(x.dtype), x.shape) for x in inputs])
    yield from _of_graph(graph, ops)


def _of_sessions(spec: Spec, inputs: Sequence[np.ndarray], ops: frozenset[str]) -> Iterator[Value]:
    """The values in the graphs that a program runs."""
    graphs: dict[tf.Graph, None] = {}

    class Session(v1.Session):  # type: ignore[name-defined]
        """A session that notes its graph, with two CPUs as in a run."""

        def __init__(self, graph: tf.Graph | None = None) -> None:
            super().__init__(graph=graph or tf.Graph(), config=v1.ConfigProto(device_count={"CPU": 2}))

        def run(self, *args: Any, **more: Any) -> Any:
            graphs[self.graph] = None
            return super().run(*args, **more)

    as_list(spec.program(tf, Session, *inputs))
    for graph in graphs:
        yield from _of_graph(graph, ops)


def _of_eager(spec: Spec, inputs: Sequence[np.ndarray], ops: frozenset[str]) -> Iterator[Value]:
    """The values of the ops that a program runs one by one."""
    values: set[Value] = set()

    def note(op: Any, xs: Any, attrs: Any, outputs: Any, op_name: Any = None, graph: Any = None) -> None:
        name = tf.compat.as_str(op)
        if graph is None and name in ops:
            for attr, value in zip(attrs[::2], attrs[1::2], strict=True):
                text = value if isinstance(value, bool | str | bytes) else tf.as_dtype(value).name
                values.add((name, tf.compat.as_str(attr), tf.compat.as_str_any(text)))

    op_callbacks.add_op_callback(note)
    try:
        call(spec, new_state(spec, inputs), [tf.constant(x) for x in inputs])
    finally:
        op_callbacks.remove_op_callback(note)
    yield from values


def shown_by(specs: Sequence[Spec]) -> Iterator[tuple[str, set[Value]]]:
    """The values of each spec's programs, with its name.

    A child process builds the programs, because some end it: the next child starts after the spec that did.
    """
    start = 0
    while start < len(specs):
        reading, writing = os.pipe()
        child = os.fork()
        if not child:
            os.close(reading)
            with os.fdopen(writing, "w") as stream:
                for number, values in _built(specs, start):
                    print(json.dumps([number, sorted(values)]), file=stream, flush=True)
            os._exit(0)
        os.close(writing)
        with os.fdopen(reading) as stream:
            for line in stream:
                number, values = json.loads(line)
                yield specs[number].name, {(op, attr, text) for op, attr, text in values}
                start = number + 1
        os.waitpid(child, 0)
        start += 1


def _built(specs: Sequence[Spec], start: int) -> Iterator[tuple[int, set[Value]]]:
    """The values of the specs from a number on; a program that specs share is built once for the same dtypes.

    Where a dtype is the only type attribute of the ops, one dtype stands for the others.
    """
    listed = RawOps.load().ops
    built: dict[Any, set[Value]] = {}
    for number, spec in enumerate(specs[start:], start):
        ops = frozenset(op for op in spec.every_op if listed.get(op) and listed[op].options)
        typed = any(len(listed[op].dtypes) > 1 for op in ops)
        dtypes = () if not ops or spec.aspect in WITHOUT_VALUES else spec.dtypes if typed else spec.dtypes[:1]
        own: set[Value] = set()
        for case in (case for dtype in dtypes for case in spec.cases(dtype)):
            inputs = case.inputs()
            key = (
                id(spec.program),
                id(spec.execution.state),
                spec.modes,
                ops,
                case.attrs,
                *(x.dtype.name for x in inputs),
            )
            if key not in built:
                every = values_of(case, inputs, ops)
                built[key] = {value for value in every if _counts(listed[value[0]], *value[1:])}
            own |= built[key]
        yield number, own


def _counts(op: RawOp, attr: str, text: str) -> bool:
    """Whether a value is one of those that specs have to show."""
    return text in op.options.get(attr, ())


def main(*packages: str) -> None:
    """Prints, as JSON, op → attribute → value → the names of some specs, those of the lowest tiers."""
    specs = Catalog.load(" ".join(packages)).specs
    shown: dict[Value, list[str]] = {}
    for name, values in shown_by(tuple(specs.values())):
        for value in values:
            shown.setdefault(value, []).append(name)
    table: dict[str, dict[str, dict[str, list[str]]]] = {}
    for (op, attr, text), names in sorted(shown.items()):
        first = sorted(names, key=lambda name: (TIERS.index(specs[name].tier), name))[:_NAMED]
        table.setdefault(op, {}).setdefault(attr, {})[text] = first
    lines = [f"{json.dumps(op)}: {json.dumps(values)}" for op, values in table.items()]
    print("{\n" + ",\n".join(lines) + "\n}")


if __name__ == "__main__":
    main(*sys.argv[1:])
