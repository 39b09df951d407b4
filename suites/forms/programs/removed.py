"""Removed: ops that were removed from GraphDef, and that older graphs still run.

A graph of an older version is imported into the v1 graph, whose version then is the older one. Functions and the eager
runtime have the version of the installed TensorFlow, in which the op is an error.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tf_opdiff.harness.spec.plan import WITHOUT_XLA
from tf_opdiff.harness.spec.spec import Side
from tf_opdiff.suites.forms.errors import raises
from tf_opdiff.suites.forms.part import calling

_IN_PYTHON = "a function is built in Python, which has a class for the error; the eager runtime has a code"


def make_older(tf: Any, version: int) -> None:
    """Makes the v1 graph one of an older version of GraphDef."""
    graph = tf.compat.v1.GraphDef()
    graph.versions.producer = version
    tf.graph_util.import_graph_def(graph, name="")


@dataclass(frozen=True)
class Removed:
    """An op that GraphDef lacks since a version, and the names of its inputs."""

    op: str
    arguments: tuple[str, ...]
    version: int = 14

    def __call__(self, tf: Any, *xs: Any, **attrs: Any) -> Any:
        """The output of the op: in a v1 graph, that of the older version."""
        return self.older(calling(self.op, self.arguments, **attrs))(tf, *xs)

    def older(self, program: Callable[..., Any]) -> Callable[..., Any]:
        """A program that calls the op: in a v1 graph, in one of the older version."""

        def run(tf: Any, *xs: Any, **attrs: Any) -> Any:
            if not (tf.executing_eagerly() or tf.compat.v1.get_default_graph().building_function):
                make_older(tf, self.version - 1)
            return program(tf, *xs, **attrs)

        return run

    @property
    def fields(self) -> dict[str, Any]:
        """The fields of a spec whose program is a call of this object: errors in functions and in eager mode."""
        says = f"It has been removed in version {self.version}"
        return {
            "modes": WITHOUT_XLA,
            "contract": {
                "*/function": Side(reference=raises("NotImplementedError", says), why=_IN_PYTHON),
                "*/eager": Side(reference=raises("UNIMPLEMENTED", says), why=_IN_PYTHON),
            },
        }
