"""Subject server: the process that builds the user's program on a device, records it, and runs it in a mode.

Imported in device servers only.
"""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

from tf_opdiff.harness.device.installation.tensorflow_setup import local
from tf_opdiff.harness.spec.plan import Device
from tf_opdiff.model.answers.tolerance import shaken
from tf_opdiff.model.program_run import ProgramRun
from tf_opdiff.model.recordings.interpreter import packed, run_graph
from tf_opdiff.model.recordings.recorded import Recording
from tf_opdiff.model.recordings.recording import Recorder
from tf_opdiff.model.recordings.tracing import TraceFailed, traced_graph
from tf_opdiff.model.recordings.values import Stored, ValueReader, ValueWriter, write_values
from tf_opdiff.model.request import ModelRequest
from tf_opdiff.model.subject import Subject, named_arrays, named_tensors, seed


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
        """Builds the program and runs it once, so that it makes all its variables; returns their names.

        The run may fail: another mode may give a value.
        """
        self._subject = subject = Subject.of(request, self._device)
        with tf.device(self._device.tf_name), contextlib.suppress(Exception):
            eagerly(lambda: subject.called(subject.op_by_op, subject.tensors()))
        return [variable.name for variable in subject.variables]

    def save_state(self, file: Path) -> list[Stored]:
        """Writes the initial values of the variables to a file."""
        writer = ValueWriter(file)
        stored = [writer.add(value) for value in self.subject.initial]
        writer.close()
        return stored

    def load_state(self, file: Path, stored: Sequence[Stored]) -> None:
        """Takes the initial values of the variables from a file that `save_state` wrote on another device."""
        read, initial = ValueReader(file), self.subject.initial
        for number, one in enumerate(stored[: len(initial)]):  # a program may make variables in each run
            initial[number] = read(one)

    def record(self, file: Path, step: int = 0) -> Recording:
        """Runs a step of the program in eager mode, plain and then recorded; writes the values of its ops to a file.

        The steps before it run in eager mode. A program that fails is recorded up to the op that fails.
        """
        subject = self.subject
        with tf.device(self._device.tf_name):
            try:
                self._run_before(step)
                plain = _timed(lambda: subject.called(subject.op_by_op, subject.tensors()))
            except Exception:  # noqa: BLE001  the recorded run fails as well, and says where
                plain = math.nan
            return self._recorded(subject.op_by_op, file, step, plain)

    def record_trace(self, file: Path, step: int, xla: bool) -> Recording:
        """Traces the program, and runs the ops of the trace one by one in eager mode, recorded.

        A program that can't be traced is recorded up to the last op before the error.
        """
        subject = self.subject
        with tf.device(self._device.tf_name):
            subject.reset()
            tensors, recorder = subject.tensors(), Recorder([], [])
            try:
                with recorder.layers.noted():
                    graph = traced_graph(subject.step, tensors, xla=xla)
            except TraceFailed as failed:
                recorder.note_failure(failed.__cause__ or failed, failed.last)
                return recorder.write(file, 0.0, 0.0)

            def by_op(*tensors: tf.Tensor) -> Any:
                return packed(graph.structured_outputs, run_graph(graph, [*tensors, *graph.external_captures]))

            return self._recorded(by_op, file, step, math.nan)

    def _run_before(self, step: int) -> None:
        """Runs the steps before one, from the initial state."""
        self.subject.reset()
        for _ in range(step):
            eagerly(lambda: self.subject.called(self.subject.op_by_op, self.subject.tensors()))

    def _recorded(self, function: Callable[..., Any], file: Path, step: int, plain: float) -> Recording:
        """The recording of a step that a function does op by op."""
        subject, results, seconds = self.subject, {}, math.nan
        self._run_before(step)
        tensors = subject.tensors()
        recorder = Recorder(tensors, subject.variables)
        try:
            with recorder.recording():
                begin = time.perf_counter()
                results = eagerly(lambda: subject.called(function, tensors))
                seconds = time.perf_counter() - begin
        except Exception as error:  # noqa: BLE001  an error of the user's program is a result
            recorder.note_failure(error)
        recorder.name_results(dict(named_tensors(results)), self._variables())
        return recorder.write(file, seconds, plain)

    def _variables(self) -> dict[str, tf.Variable]:
        """The variables, by the names that they have among the results."""
        return {f"variable {n} {v.name}": v for n, v in enumerate(self.subject.variables)}

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
                each.append(named_arrays(eagerly(call) if mode == "eager" else call()))
            seconds = time.perf_counter() - began
            state = {name: np.asarray(v.numpy()) for name, v in self._variables().items()}
        arrays = {f"{n} {name}": array for n, results in enumerate([*each, state]) for name, array in results.items()}
        return ProgramRun(file, write_values(file, arrays), steps, seconds)


def in_mode(subject: Subject, mode: str) -> Callable[..., Any]:
    """The step of a subject as it runs in a mode."""
    return (
        subject.op_by_op if mode == "eager" else tf.function(subject.step, jit_compile=True if mode == "xla" else None)
    )


def eagerly(call: Callable[[], Any]) -> Any:
    """The result of a call in which every `tf.function` runs op by op."""
    tf.config.run_functions_eagerly(True)
    try:
        return call()
    finally:
        tf.config.run_functions_eagerly(False)


def _timed(call: Callable[[], Any]) -> float:
    began = time.perf_counter()
    eagerly(call)
    return time.perf_counter() - began
