"""Subject: the user's function, Keras model or SavedModel, as a step that can be run again from the same state.

Imported in device servers only.
"""

from __future__ import annotations

import inspect
import random
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

from tf_opdiff.checking.array_file import arrays_of
from tf_opdiff.harness.spec.plan import Device
from tf_opdiff.model.recordings.interpreter import interpreted
from tf_opdiff.model.request import ModelRequest

#: The name of the array that a compiled model of Keras is trained to give.
TARGET = "y"
#: The signature of a SavedModel that runs.
SIGNATURE = "serving_default"


class NoSubject(Exception):
    """The request names nothing that can be run; the message says why."""


@dataclass
class Subject:
    """A step of the user's program.

    Attributes:
      step: takes tensors, returns a structure of tensors.
      op_by_op: the same step; every op of it runs in eager mode.
      inputs: the arrays of the request by name.
      device: where it runs.
      variables: those that the program has, in the order of their making.
      initial: the values that they had when the program was built, or later when they were made.
    """

    device: Device
    inputs: Mapping[str, np.ndarray]
    step: Callable[..., Any] = lambda *_: ()
    op_by_op: Callable[..., Any] = lambda *_: ()
    variables: list[tf.Variable] = field(default_factory=list)
    initial: list[np.ndarray] = field(default_factory=list)

    @classmethod
    def of(cls, request: ModelRequest, device: Device) -> Subject:
        """Imports the user's module and builds the subject, with fixed seeds.

        Raises:
          NoSubject: there is no such module or name, or what it gives can't be run.
        """
        if request.folder not in sys.path:
            sys.path.insert(0, request.folder)
        subject = cls(device, arrays_of(Path(request.inputs)))
        with tf.device(device.tf_name), tf.variable_creator_scope(subject._noted):
            seed()
            built, names = _built(request), list(subject.inputs)
            if isinstance(built, (str, Path)):
                subject.step, subject.op_by_op = _saved(tf.saved_model.load(str(built)), names)
            else:
                subject.step = subject.op_by_op = _step(built, names)
        subject.initial[:] = [np.array(v.numpy()) for v in subject.variables]  # the builder may have loaded weights
        return subject

    def _noted(self, creator: Callable[..., Any], **keywords: Any) -> tf.Variable:
        variable = creator(**keywords)
        self.variables.append(variable)
        with tf.init_scope():
            self.initial.append(np.array(variable.numpy()))
        return variable

    def reset(self) -> None:
        """Gives every variable its first value again, and every generator its seed."""
        seed()
        for variable, value in zip(self.variables, self.initial, strict=True):
            variable.assign(value)

    def tensors(self, change: Callable[[np.ndarray], np.ndarray] = lambda x: x) -> list[tf.Tensor]:
        """The inputs as tensors of the device, each changed by a function."""
        return [tf.constant(change(x)) for x in self.inputs.values()]

    def called(self, function: Callable[..., Any], tensors: list[tf.Tensor]) -> Any:
        """Calls the step, or a compiled form of it; variables that it makes are noted."""
        with tf.variable_creator_scope(self._noted):
            return function(*tensors)


def seed() -> None:
    """Sets the seeds of Python, NumPy and TensorFlow; those of Keras follow Python's."""
    random.seed(0)
    np.random.seed(0)
    tf.random.set_seed(0)


def _built(request: ModelRequest) -> Any:
    """What the user's name is, or what it gives when it is called without arguments."""
    try:
        named = getattr(import_module(request.module), request.name)
    except (ImportError, AttributeError) as why:
        raise NoSubject(f"{request.module}:{request.name}: {why}") from why
    if inspect.isfunction(named) and not inspect.signature(named).parameters:
        named = named()
    if not callable(named) and not isinstance(named, (str, Path)):
        raise NoSubject(
            f"{request.module}:{request.name}: expected a function of tensors, a model of Keras, the folder of a"
            f" SavedModel, or a function without parameters that gives one of these; got {type(named).__name__}"
        )
    return named


def _step(subject: Any, names: list[str]) -> Callable[..., Any]:
    """The step of a subject: of a compiled model with a target among the inputs, a step of training."""
    keras = sys.modules.get("keras")
    if keras is None or not isinstance(subject, keras.Model):
        return subject
    compiled = getattr(subject, "optimizer", None) is not None
    if compiled and TARGET in names:
        return _training(subject, names.index(TARGET))

    def inference(*inputs: tf.Tensor) -> Any:
        return subject(inputs[0] if len(inputs) == 1 else list(inputs), training=False)

    return inference


def _saved(loaded: Any, names: list[str]) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """The step of a SavedModel's signature, and the same step op by op; arrays go to parameters by name, else in order.

    Raises:
      NoSubject: it has no signature `serving_default`.
    """
    function = loaded.signatures.get(SIGNATURE)
    if function is None:
        raise NoSubject(f"the SavedModel has no signature {SIGNATURE}; it has {sorted(loaded.signatures)}")
    captured = function.captured_inputs
    parameters = [symbol.op.name for symbol in function.graph.inputs[: len(function.graph.inputs) - len(captured)]]
    order = [names.index(name) for name in parameters] if {*parameters} == {*names} else range(len(parameters))

    def step(*tensors: tf.Tensor) -> Any:
        return loaded and function._call_flat([tensors[n] for n in order], captured)

    def op_by_op(*tensors: tf.Tensor) -> Any:
        return interpreted(function, [tensors[n] for n in order])

    return step, op_by_op


def _training(model: Any, target: int) -> Callable[..., Any]:
    """A step of training of a compiled model: its loss and gradients, and the update by its optimizer."""

    def step(*arrays: tf.Tensor) -> dict[str, Any]:
        inputs = [x for number, x in enumerate(arrays) if number != target]
        x = inputs[0] if len(inputs) == 1 else inputs
        with tf.GradientTape() as tape:
            prediction = model(x, training=True)
            loss = model.compute_loss(x=x, y=arrays[target], y_pred=prediction, training=True)
        weights = model.trainable_variables
        gradients = tape.gradient(loss, weights)
        model.optimizer.apply_gradients(zip(gradients, weights, strict=True))
        named = {f"gradient of {w.path}": g for w, g in zip(weights, gradients, strict=True)}
        return {"prediction": prediction, "loss": loss, **named}

    return step


def named_tensors(structure: Any, name: str = "output") -> Iterator[tuple[str, tf.Tensor]]:
    """The tensors of a structure, each with a name such as `loss` or `output[1]`; None has none."""
    if isinstance(structure, tf.IndexedSlices):
        structure = {"values": structure.values, "indices": structure.indices}
    if isinstance(structure, Mapping):
        for key, value in structure.items():
            yield from named_tensors(value, str(key) if name == "output" else f"{name}.{key}")
    elif isinstance(structure, (list, tuple)):
        for number, value in enumerate(structure):
            yield from named_tensors(value, f"{name}[{number}]")
    elif structure is not None:
        yield name, tf.convert_to_tensor(structure)


def named_arrays(structure: Any) -> dict[str, np.ndarray]:
    """The arrays of a structure of tensors, by name."""
    return {name: np.asarray(tensor.numpy()) for name, tensor in named_tensors(structure)}
