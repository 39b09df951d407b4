"""Tracing: the graph of a program, as TensorFlow traces it for a mode. Imported in device servers only."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf
from tensorflow.python.eager.polymorphic_function.polymorphic_function import OptionalXlaContext
from tensorflow.python.framework import func_graph


class TraceFailed(Exception):
    """A program can't be traced; its cause is the error, and `last` the type of the last op before it."""

    def __init__(self, last: str) -> None:
        super().__init__(last)
        self.last = last


def traced_graph(step: Callable[..., Any], tensors: list[tf.Tensor], *, xla: bool) -> Any:
    """The graph of a step, traced for XLA or for kernels; a `tf.function` inside is part of the same graph.

    Raises:
      TraceFailed: the program raises an error.
    """
    autograph = tf.__internal__.autograph
    converted = autograph.tf_convert(step, autograph.control_status_ctx())

    def traced(*symbols: Any) -> Any:
        try:
            with OptionalXlaContext(xla):  # as `tf.function(jit_compile=True)` does: code can ask for it
                return converted(*symbols)
        except Exception as error:
            ops = tf.compat.v1.get_default_graph().get_operations()
            raise TraceFailed(ops[-1].type if ops else "") from error

    tf.config.run_functions_eagerly(True)
    try:
        return func_graph.func_graph_from_py_func("step", traced, tuple(tensors), {})
    finally:
        tf.config.run_functions_eagerly(False)
