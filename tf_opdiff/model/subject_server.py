"""Subject server: the process that builds the user's program on a device, records it, and runs it in a mode.

Imported in device servers only.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

from tf_opdiff.harness.device.tensorflow_setup import local
from tf_opdiff.harness.spec.plan import Device
from tf_opdiff.model.program_run import ProgramRun
from tf_opdiff.model.recorded import Recording
from tf_opdiff.model.recording import Recorder
from tf_opdiff.model.request import ModelRequest
from tf_opdiff.model.subject import Subject, named_arrays, seed
from tf_opdiff.model.tolerance import shaken
from tf_opdiff.model.traced_op import TracedOp
from tf_opdiff.model.tracing import traced_ops
from tf_opdiff.model.values import Stored, ValueReader, ValueWriter, write_values


class SubjectServer:
    """Answers requests about one program on one device; each public method is a request."""

    def __init__(self, device: Device) -> None:
        self._device = local(device)
        self._subject: Subject | None = None

    @property
    def subject(self) -> Subject:
        assert self._subject is not None
        return self._subject

    def build(self, request: ModelRequest) -> list[str]:
        """Builds the program and runs it once, so that it makes all its variables; returns their names."""
        self._subject = subject = Subject.of(request, self._device)
        with tf.device(self._device.tf_name):
            _eagerly(lambda: subject.called(subject.op_by_op, subject.tensors()))
        return [variable.name for variable in subject.variables]

    def save_state(self, file: Path) -> list[Stored]:
        """Writes the initial values of the variables to a file."""
        writer = ValueWriter(file)
        stored = [writer.add(value) for value in self.subject.initial]
        writer.close()
        return stored

    def load_state(self, file: Path, stored: Sequence[Stored]) -> None:
        """Takes the initial values of the variables from a file that `save_state` wrote on another device."""
        read = ValueReader(file)
        self.subject.initial[:] = [read(one) for one in stored]

    def record(self, file: Path) -> Recording:
        """Runs the program in eager mode, plain and then recorded; writes the values of its ops to a file."""
        subject = self.subject
        with tf.device(self._device.tf_name):
            subject.reset()
            plain = _timed(lambda: subject.called(subject.op_by_op, subject.tensors()))
            subject.reset()
            tensors = subject.tensors()
            recorder = Recorder(tensors, subject.variables)
            with recorder.recording():
                recorded = _timed(lambda: subject.called(subject.op_by_op, tensors))
        return recorder.write(file, recorded, plain)

    def run(self, mode: str, steps: int, file: Path, shake: int | None = None) -> ProgramRun:
        """Runs the program in a mode from its initial state; writes its results to a file.

        With `shake`, the seed of random signs, all inputs and variables of floats are a little off: see `tolerance`.
        """
        subject = self.subject
        change = shaken(shake) if shake is not None else lambda x: x
        with tf.device(self._device.tf_name):
            subject.reset()
            for variable in subject.variables if shake is not None else ():
                variable.assign(change(variable.numpy()))
            seed()
            tensors, function = subject.tensors(change), in_mode(subject, mode)
            each = []
            began = time.perf_counter()
            for _ in range(steps):
                call: Callable[[], Any] = lambda: subject.called(function, tensors)  # noqa: E731
                each.append(dict(named_arrays(_eagerly(call) if mode == "eager" else call())))
            seconds = time.perf_counter() - began
            state = {f"variable {n} {v.name}": np.asarray(v.numpy()) for n, v in enumerate(subject.variables)}
        arrays = {f"{n} {name}": array for n, results in enumerate([*each, state]) for name, array in results.items()}
        return ProgramRun(file, write_values(file, arrays), steps, seconds)

    def trace(self) -> tuple[TracedOp, ...]:
        """The ops of the program when it is traced."""
        with tf.device(self._device.tf_name):
            self.subject.reset()
            return traced_ops(self.subject.step, self.subject.tensors())


def in_mode(subject: Subject, mode: str) -> Callable[..., Any]:
    """The step of a subject as it runs in a mode."""
    return (
        subject.op_by_op if mode == "eager" else tf.function(subject.step, jit_compile=True if mode == "xla" else None)
    )


def _eagerly(call: Callable[[], Any]) -> Any:
    """The result of a call in which every `tf.function` runs op by op."""
    tf.config.run_functions_eagerly(True)
    try:
        return call()
    finally:
        tf.config.run_functions_eagerly(False)


def _timed(call: Callable[[], Any]) -> float:
    began = time.perf_counter()
    _eagerly(call)
    return time.perf_counter() - began
