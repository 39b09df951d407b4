"""Replay server: the process that replays recorded ops on a device, in a mode. Imported in device servers only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tf_opdiff.harness.device.installation.tensorflow_setup import local
from tf_opdiff.harness.device.programs.results import error_result
from tf_opdiff.harness.judge.differences.comparison import Comparison
from tf_opdiff.harness.spec.plan import Device
from tf_opdiff.model.answers import tolerance
from tf_opdiff.model.answers.budgets import Budgets
from tf_opdiff.model.answers.op_report import OpReport
from tf_opdiff.model.recordings.noise import noisy
from tf_opdiff.model.recordings.op_runner import OpRunner
from tf_opdiff.model.recordings.op_script import write_script
from tf_opdiff.model.recordings.recorded import RecordedOp, Recording
from tf_opdiff.model.recordings.values import ValueReader


class ReplayServer:
    """Replays the ops of a recording on one device, in one mode; each public method is a request."""

    def __init__(self, device: Device, mode: str, recording: Recording, budgets: Budgets) -> None:
        self._recording, self._budgets = recording, budgets
        self._name, self._mode = local(device).tf_name, mode
        self._runner = OpRunner(self._name, mode, recording.constants)
        # The condition is that of the base plan: a wrong kernel of this device would allow its own error.
        self._base = OpRunner("CPU:0", "eager", recording.constants)
        self._read = ValueReader(recording.file)
        self._last_use = {v: op.number for op in recording.ops for v in op.operands}
        self._changed: dict[int, np.ndarray] = {}

    def replay(self, number: int, others: Mapping[int, np.ndarray] | None = None) -> OpReport:
        """Runs an op alone: on its recorded inputs, then on the values that earlier replays gave in their place.

        `others` are values to compare with, by number, in place of the recorded ones.
        """
        op = self._recording.ops[number]
        if op.unplayable:
            return OpReport(number=number, skipped=op.unplayable)
        inputs = self._inputs(op)
        try:
            got = self._runner.run(op, inputs)
        except Exception as error:  # noqa: BLE001  every error is a result
            result = error_result(error)
            return OpReport(number=number, failure=f"{result.code}: {result.message}")
        wants = [(others or {}).get(v, self._value(v)) for v in op.results]
        comparisons = tuple(self._compared((op,), v, inputs, got[n], wants[n]) for n, v in enumerate(op.results))
        local_error = max(map(tolerance.relative_error, got, wants), default=0.0)
        total = self._propagated(op, inputs, got, wants)
        return OpReport(number=number, comparisons=comparisons, local=local_error, total=total)

    def together(
        self, numbers: Sequence[int], others: Mapping[int, np.ndarray] | None = None
    ) -> list[tuple[int, Comparison]]:
        """Runs several ops as one program, which returns the values that are used outside of it.

        `others` are values to compare with, by number, in place of the recorded ones.

        Returns:
          Pairs (number of the value, comparison with the recorded value).

        Raises:
          Exception: what TensorFlow raises.
        """
        ops = [self._recording.ops[n] for n in numbers]
        inputs = {v: a for op in ops for v, a in self._inputs(op).items()}
        wants = {v: (others or {}).get(v, self._value(v)) for v in self._leaving(ops)}
        return [(v, self._compared(ops, v, inputs, a, wants[v])) for v, a in self.values(numbers).items()]

    def values(self, numbers: Sequence[int]) -> dict[int, np.ndarray]:
        """The values, by number, that several ops give to others when they run as one program.

        Raises:
          Exception: what TensorFlow raises.
        """
        ops = [self._recording.ops[n] for n in numbers]
        inputs = {v: a for op in ops for v, a in self._inputs(op).items()}
        wanted = self._leaving(ops)
        return dict(zip(wanted, self._runner.run_together(ops, inputs, wanted), strict=True))

    def effect(self, numbers: Sequence[int], apart: bool) -> dict[str, float]:
        """The relative error of each result of the program if these ops alone ran under the plan.

        They run as one program, or `apart`. All other ops run in eager mode on the CPU.
        """
        changed = {} if apart else self.values(numbers)
        for op in self._recording.ops[numbers[0] :]:
            if op.number not in numbers:
                changed |= self._run_on(op, changed)
            elif apart:
                inputs = self._inputs(op)
                own = {v: changed[v] for v in inputs if v in changed}
                changed |= zip(op.results, self._runner.run(op, inputs | own), strict=True)
        return {name: self._error(v, changed) for name, v in self._recording.results.items()}

    def noise(self) -> list[float]:
        """The relative error of each op if each result of an op is rounded once more, in eager mode on the CPU."""
        changed = noisy(self._recording, self._base.run, lambda _: (0.0, 1.0), seed=1)
        return [max((self._error(v, changed) for v in op.results), default=0.0) for op in self._recording.ops]

    def _error(self, value: int, changed: Mapping[int, np.ndarray]) -> float:
        return tolerance.relative_error(changed[value], self._value(value)) if value in changed else 0.0

    def _run_on(self, op: RecordedOp, changed: Mapping[int, np.ndarray]) -> dict[int, np.ndarray]:
        """The results of an op in eager mode on changed values; none if it takes no changed one, or fails."""
        own = {v: changed[v] for v in self._inputs(op) if v in changed}
        if op.unplayable or not own:
            return {}
        try:
            got = self._base.run(op, self._inputs(op) | own)
        except Exception:  # noqa: BLE001  values that the op does not allow: later ops take the recorded ones
            return {}
        return dict(zip(op.results, got, strict=True))

    def write_script(self, numbers: Sequence[int], file: Path) -> None:
        """Writes a program of these ops alone to a file.

        Raises:
          NoScript: the ops have no program.
        """
        ops = [self._recording.ops[n] for n in numbers]
        inputs = {v: a for op in ops for v, a in self._inputs(op).items()}
        write_script(file, ops, inputs, self._leaving(ops), (self._name, self._mode))

    def _leaving(self, ops: Sequence[RecordedOp]) -> list[int]:
        """The values of the ops that no other of them takes, or that an op outside takes."""
        inside = {op.number for op in ops}
        taken_inside = {v for op in ops for v in op.inputs}
        taken_outside = {v for op in self._recording.ops if op.number not in inside for v in op.inputs}
        results = [v for op in ops for v in op.results if self._recording.values[v] is not None]
        return [v for v in results if v in taken_outside or v not in taken_inside]

    def _value(self, number: int) -> np.ndarray:
        stored = self._recording.values[number]
        assert stored is not None
        return self._read(stored)

    def _inputs(self, op: RecordedOp) -> dict[int, np.ndarray]:
        """The recorded values of an op's inputs and variables."""
        return {v: self._value(v) for v in op.operands if self._recording.values[v] is not None}

    def _compared(
        self,
        ops: Sequence[RecordedOp],
        value: int,
        inputs: Mapping[int, np.ndarray],
        got: np.ndarray,
        want: np.ndarray,
    ) -> Comparison:
        """The comparison of a result with another value, within the budget of the op or by its condition."""
        budget = self._budgets.get((ops[0].type, want.dtype.name)) if len(ops) == 1 else None
        strict = budget is not None and not budget.bounded
        ulps = budget.ulps if budget and strict else max(tolerance.ULP, budget.ulps if budget else 0.0)
        comparison = tolerance.compared(got, want, ulps)
        if strict or not tolerance.serious(comparison) or not tolerance.is_real(want.dtype) or got.shape != want.shape:
            return comparison
        samples = self._samples(ops, value, inputs)
        bound = tolerance.allowed_error(want, samples, tolerance.terms(list(inputs.values()), want))
        return tolerance.compared(got, want, ulps, bound)

    def _samples(self, ops: Sequence[RecordedOp], value: int, inputs: Mapping[int, np.ndarray]) -> list[np.ndarray]:
        """The value in eager mode on the CPU, on inputs that are a little off; none if that fails."""
        fixed = self._recording.constants.union(*(op.outputs for op in ops))
        samples = []
        for seed in tolerance.SAMPLES:
            change = tolerance.shaken(seed)
            others = {v: a if v in fixed else change(a) for v, a in inputs.items()}
            try:
                samples += self._base.run_together(ops, others, [value])
            except Exception:  # noqa: BLE001  inputs that are not allowed: no condition is known
                return []
        return [sample for sample in samples if sample.shape == samples[0].shape]

    def _propagated(self, op: RecordedOp, inputs: Any, got: Any, wants: Any) -> float:
        """The op's error on the inputs that earlier replays gave; keeps its results for later ops."""
        own = {v: self._changed[v] for v in inputs if v in self._changed}
        if own:
            try:
                got = self._runner.run(op, inputs | own)
            except Exception:  # noqa: BLE001  values that the op does not allow: later ops take the recorded ones
                got = wants
        for value, array, want in zip(op.results, got, wants, strict=True):
            if not tolerance.same_bits(array, want) and self._last_use.get(value, -1) > op.number:
                self._changed[value] = array
        for value in [v for v in own if self._last_use[v] <= op.number]:
            del self._changed[value]
        return max(map(tolerance.relative_error, got, wants), default=0.0)
