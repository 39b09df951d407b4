"""Condition server: the process that runs a checked callable with rounding errors in each of its ops.

Imported in device servers only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import tensorflow as tf

from tf_opdiff.harness.device.installation.tensorflow_setup import local
from tf_opdiff.harness.device.programs.gradients import evaluate
from tf_opdiff.harness.device.request import Arguments, find_spec
from tf_opdiff.harness.spec.plan import Device
from tf_opdiff.harness.spec.quantity import Quantity
from tf_opdiff.model.answers import tolerance
from tf_opdiff.model.answers.budgets import Budgets
from tf_opdiff.model.recordings.noise import noisy
from tf_opdiff.model.recordings.op_runner import OpRunner
from tf_opdiff.model.recordings.recorded import RecordedOp, Recording
from tf_opdiff.model.recordings.recording import Recorder
from tf_opdiff.model.recordings.values import ValueReader
from tf_opdiff.model.subject_server import eagerly

#: The units of rounding by which the result of an op is off if no spec has a budget for it.
_UNKNOWN = 8.0


class ConditionServer:
    """Records a callable in eager mode, and runs its ops with errors; each public method is a request."""

    def __init__(self, device: Device) -> None:
        self._device = local(device).tf_name

    def record(self, module: str, name: str, arguments: Arguments, file: Path) -> Recording:
        """The recording of a spec's program and its gradients; its results are named by their quantities."""
        spec = find_spec(module, name)
        with tf.device(self._device):
            tensors = arguments.map(tf.constant)
            recorder = Recorder(tensors.arrays, [])
            with recorder.recording():
                families = eagerly(lambda: evaluate(spec, None, tensors))
        each = {str(Quantity(family, n)): t for family, ts in families.items() for n, t in enumerate(ts)}
        recorder.name_results({name: t for name, t in each.items() if isinstance(t, tf.Tensor)}, {})
        return recorder.write(file, 0.0, 0.0)

    def samples(self, recording: Recording, budgets: Budgets, seeds: Sequence[int]) -> list[Mapping[str, np.ndarray]]:
        """The quantities, once for each seed, if each result is off by the budget of its op.

        The operands of an op whose spec bounds the error by its condition are off as well.
        """
        runner, read = OpRunner(self._device, "eager", recording.constants), ValueReader(recording.file)

        def units(op: RecordedOp) -> tuple[float, float]:
            dtypes = {stored.dtype for v in op.results if (stored := recording.values[v])}
            known = [budgets[op.type, dtype] for dtype in dtypes if (op.type, dtype) in budgets]
            operands = tolerance.SHAKE if any(budget.bounded for budget in known) else 0.0
            return operands, max((1.0, *(2 * budget.ulps for budget in known))) if known else _UNKNOWN

        samples = list[Mapping[str, np.ndarray]]()
        for seed in seeds:
            values = noisy(recording, runner.run, units, seed)
            stored = {name: (v, recording.values[v]) for name, v in recording.results.items()}
            samples.append({name: values[v] if v in values else read(s) for name, (v, s) in stored.items() if s})
        return samples
