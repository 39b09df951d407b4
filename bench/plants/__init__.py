"""Plants: programs with one known fault each, and what an analysis of them has to say.

A program asks `wrong()` whether its fault is at work. The comment `# fault` marks the line of the op to name.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

#: The modules of plants.
GROUPS = (
    *("traced", "gradients", "harmless", "errors", "rounding", "rewrites", "natural", "clean"),
    *("models", "loops", "kernels", "digits", "discrepancies"),
)


@dataclass(frozen=True, kw_only=True)
class Plant:
    """A program, and the right answer about it.

    Attributes:
      group, name: the module of `bench.plants`, and the program's name in it.
      plan: the plan whose results differ.
      kinds: the right kinds of answers; `same` and `rounding` for a clean program.
      ops: the types of ops that are right to name.
      line: the line of the op to name; 0 if the layer counts.
      layer: the layer of Keras of that op; empty if the line counts.
      settings: the right settings; empty if any is.
      inputs: makes the arrays.
      kernel: a fault of a kernel, as `planted_kernel.plant` takes it.
      steps: how many steps the program runs.
      cause: the id of the known failure to name first; empty if any is right.
    """

    group: str
    name: str
    plan: str
    kinds: tuple[str, ...]
    ops: tuple[str, ...]
    line: int
    layer: str
    settings: tuple[str, ...]
    inputs: Callable[[], Mapping[str, np.ndarray]]
    kernel: tuple[Any, ...]
    steps: int
    cause: str

    @property
    def id(self) -> str:
        return f"{self.group}/{self.name}"


def normal() -> dict[str, np.ndarray]:
    """A matrix of 6 by 8 normal numbers."""
    return {"x": np.random.default_rng(0).normal(size=(6, 8)).astype("f4")}


def labelled() -> dict[str, np.ndarray]:
    """A matrix of 6 by 8 normal numbers, and a target for a model with one output."""
    return normal() | {"y": np.random.default_rng(1).normal(size=(6, 1)).astype("f4")}


def arrays(**values: Any) -> Callable[[], Mapping[str, np.ndarray]]:
    """The inputs with these values: floats are float32."""
    return lambda: {n: np.float32(v) if isinstance(v, (float, list)) else np.asarray(v) for n, v in values.items()}


def layer(name: str, call: Callable[..., Any], **members: Any) -> Any:
    """A layer of Keras that calls a function of itself and its input; `members` are further members of its class."""
    import keras

    return type("Own", (keras.layers.Layer,), {"call": call, **members})(name=name)


def trained(*layers: Any, shape: tuple[int, ...] = (8,), optimizer: Any = "sgd") -> Any:
    """A model of Keras that learns one number."""
    import keras

    model = keras.Sequential([keras.Input(shape), *layers, keras.layers.Dense(1)])
    model.compile(optimizer, "mse")
    return model


def traced() -> bool:
    """Whether TensorFlow traces the program."""
    import tensorflow as tf

    return not tf.executing_eagerly()


def in_xla() -> bool:
    """Whether TensorFlow traces the program for XLA."""
    import tensorflow as tf
    from tensorflow.python.ops import control_flow_util

    return control_flow_util.GraphOrParentsInXlaContext(tf.compat.v1.get_default_graph())


#: The mode of a plan → whether the fault is at work.
WRONG = {"function": traced, "xla": in_xla}
PLANTS: list[Plant] = []


def plant(
    ops: str,
    kinds: str = "retraced",
    *,
    plans: str = "cpu/function cpu/xla",
    layer: str = "",
    settings: str = "",
    inputs: Callable[[], Mapping[str, np.ndarray]] = normal,
    kernel: tuple[Any, ...] = (),
    steps: int = 1,
    cause: str = "",
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A decorator for a program: notes a plant for each plan; words are separated by spaces.

    A program with a parameter `wrong` gets the function that says whether its fault is at work. A program of Keras has
    no other parameter, and gives a model.
    """

    def note(program: Callable[..., Any]) -> Callable[..., Any]:
        parameters = inspect.signature(program).parameters
        scope, lines = program.__globals__, inspect.getsourcelines(program)
        line = next((lines[1] + n for n, text in enumerate(lines[0]) if text.rstrip().endswith("# fault")), 0)
        for plan in plans.split():
            mode = plan.rpartition("/")[2]
            name = f"{program.__name__}_{mode}"
            bound = _bound(program, WRONG.get(mode, bool)) if "wrong" in parameters else program
            scope[name] = bound
            words = {
                "kinds": tuple(kinds.split()),
                "ops": tuple(ops.split()),
                "settings": tuple(one.replace("_", " ") for one in settings.split()),
            }
            place = {"group": program.__module__.rpartition(".")[2], "line": 0 if layer else line, "layer": layer}
            work = {"inputs": inputs, "kernel": kernel, "steps": steps, "cause": cause}
            PLANTS.append(Plant(name=name, plan=plan, **words, **place, **work))  # type: ignore[arg-type]
        return program

    return note


def _bound(program: Callable[..., Any], wrong: Callable[[], bool]) -> Callable[..., Any]:
    """The program with its parameter `wrong` given; a program without another one takes no argument."""
    if len(inspect.signature(program).parameters) == 1:
        return lambda: program(wrong=wrong)

    def bound(*inputs: Any) -> Any:
        return program(*inputs, wrong=wrong)

    return bound


def plants() -> Iterator[Plant]:
    """All plants."""
    for group in GROUPS:
        import_module(f"bench.plants.{group}")
    yield from PLANTS
