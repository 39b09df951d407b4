"""Execution: how a run calls the program of a spec."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Execution:
    """How a run calls a program; by default, once, with inputs of known shapes, and it fetches all results.

    state(tf, *inputs)          → a dict of variables and of lists to which Python side effects append. An entry whose
                                name begins with `_`, such as an optimizer, lives through all steps and is not compared.
    steps                       the number of times that the program runs on one state; outputs are stacked along a new
                                first axis.
    sessions                    the program opens v1 sessions itself, in mode `graph`: program(tf, session, *arrays) →
                                arrays. `with session() as s:` makes a new default graph on the plan's device and a
                                session on this graph, and closes the session at the end. `session(graph)` opens
                                another session on that graph. Each session has a second CPU, `CPU:1`, and stores the
                                executed graphs in a `run_metadata`.
    only_gradients              the run fetches no output, only gradients, so that TensorFlow may remove the forward op.
    unknown_shapes              functions are traced, and placeholders made, with unknown sizes of all dimensions: one
                                program for all shapes of a rank.
    """

    state: Callable[..., dict[str, Any]] | None = None
    steps: int = 1
    sessions: bool = False
    only_gradients: bool = False
    unknown_shapes: bool = False
