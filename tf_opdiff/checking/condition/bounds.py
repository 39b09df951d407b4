"""Bounds: how far rounding errors of its own ops move the results of a callable, as bounds of its spec.

A difference that such errors explain is none: `sin(x) * x` has a gradient that cancels, and any order of its steps
gives other digits there. The errors come from runs in eager mode on the CPU, in which each op is off by its budget.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np

from tf_opdiff.checking.recorded import ByInputs
from tf_opdiff.checking.request import ULP
from tf_opdiff.checking.specs import OwnSpec
from tf_opdiff.harness.device.request import Arguments
from tf_opdiff.harness.spec.plan import Device
from tf_opdiff.harness.spec.quantity import family_of, number_of
from tf_opdiff.harness.spec.tolerances.budget import entry_of
from tf_opdiff.model.answers import tolerance
from tf_opdiff.model.answers.budgets import budgets_of
from tf_opdiff.model.worker import RequestFailed, Worker, WorkerEnded

_SERVER = "tf_opdiff.checking.condition.condition_server:ConditionServer"
#: How many times the largest change of the samples is allowed: a few samples do not find the largest one there is.
_FACTOR = 4.0


def bounds(own: OwnSpec, module: Path, timeout: float) -> Mapping[str, Callable[..., np.ndarray]]:
    """Quantity → the largest error that rounding explains; none for a callable whose ops can't run one by one.

    Only quantities whose promise is the result in eager mode, and whose allowed distance and bound the user leaves
    open, have one: a reference says itself what is right.
    """
    mode = "xla" if "xla" in own.spec.modes else "function"
    allowed: dict[str, ByInputs] = {}
    try:
        with Worker(Device("cpu"), module.with_suffix(".log"), timeout, server=_SERVER) as worker:
            for number, arguments in enumerate(own.runs):
                file = module.with_suffix(f".{number}.values")
                recording = worker.ask("record", str(module), own.spec.name, arguments, file)
                budgets = budgets_of({op.type for op in recording.ops}, mode)
                samples = worker.ask("samples", recording, budgets, tolerance.SAMPLES)
                _add(own, arguments, samples, allowed)
    except (RequestFailed, WorkerEnded, RuntimeError):
        return {}
    return allowed


def _add(
    own: OwnSpec, arguments: Arguments, samples: Sequence[Mapping[str, np.ndarray]], allowed: dict[str, ByInputs]
) -> None:
    """Notes the largest change of each quantity, for the inputs of one run."""
    for name in samples[0]:
        family, inputs = family_of(name), tuple(arguments.inputs)
        recorded, tolerances = own.recorded.get(family), own.spec.tolerance
        is_open = entry_of(tolerances.ulp, name) == ULP and entry_of(tolerances.bound, name) is None
        if recorded is None or not is_open:
            continue
        want = recorded.of(inputs)[number_of(name)]
        if isinstance(want, np.ndarray) and tolerance.is_real(want.dtype):
            changed = [s[name] for s in samples if s[name].shape == want.shape]
            error = _FACTOR * tolerance.largest_change(want, changed)
            allowed.setdefault(name, ByInputs()).add(inputs, error)
