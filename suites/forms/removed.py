"""Removed: ops that were removed from GraphDef, and that older graphs still run.

A graph with such an op is imported into the v1 graph, whose version then is the earlier one. Functions and the eager
runtime have the version of the installed TensorFlow, in which the op is an error.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tf_opdiff.harness.spec.spec import Side
from tf_opdiff.suites.forms.errors import raises
from tf_opdiff.suites.forms.op import calling

_IN_PYTHON = "a function is built in Python, which has a class for the error; the eager runtime has a code"


@dataclass(frozen=True)
class Removed:
    """An op that GraphDef lacks since a version, and the names of its inputs."""

    op: str
    arguments: tuple[str, ...]
    version: int = 14

    def imported(self, tf: Any, *xs: Any, outputs: int = 1, **attrs: bool) -> Any:
        """The output of the op in a graph of the version before; a tuple of several."""
        graph = tf.compat.v1.GraphDef()
        graph.versions.producer = self.version - 1
        for i, x in enumerate(xs):
            node = graph.node.add(name=f"x{i}", op="Placeholder")
            node.attr["dtype"].type = x.dtype.as_datatype_enum
        node = graph.node.add(name="y", op=self.op, input=[f"x{i}" for i in range(len(xs))])
        node.attr["T"].type = xs[0].dtype.as_datatype_enum
        for name, value in attrs.items():
            node.attr[name].b = value
        names = [f"y:{i}" for i in range(outputs)]
        ys = tf.import_graph_def(graph, {f"x{i}:0": x for i, x in enumerate(xs)}, names)
        return ys[0] if outputs == 1 else tuple(ys)

    def __call__(self, tf: Any, *xs: Any, **attrs: bool) -> Any:
        """The output of the op: in a v1 graph, that of the older version."""
        if tf.executing_eagerly() or tf.compat.v1.get_default_graph().building_function:
            return calling(self.op, self.arguments)(tf, *xs)
        return self.imported(tf, *xs, **attrs)

    @property
    def fields(self) -> dict[str, Any]:
        """The fields of a spec whose program is a call of this object: errors in functions and in eager mode."""
        says = f"It has been removed in version {self.version}"
        return {
            "modes": ("eager", "function", "graph"),
            "contract": {
                "*/function": Side(reference=raises("NotImplementedError", says), why=_IN_PYTHON),
                "*/eager": Side(reference=raises("UNIMPLEMENTED", says), why=_IN_PYTHON),
            },
        }
