"""Check request: what a process asks the checker, and what the checker answers; both are pickled."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from tf_opdiff.checking.inputs import Domain
from tf_opdiff.harness.spec.plan import MODES
from tf_opdiff.harness.store.records.record import Record

#: The allowed distance in ULPs where a check names none: 1.9e-6 in float32.
ULP = 16.0


@dataclass(frozen=True, kw_only=True)
class CheckRequest:
    """A check of a callable.

    name       the callable's name, with which case ids begin.
    functions  pickled: `program`, and where the user gives them `reference`, `vjp` and bounds, as `bound of output`.
    sources    the inputs: arrays and domains.
    ulp        allowed distances in ULPs, by quantity or family.
    gradient   whether gradients are compared.
    devices    names of devices; empty: all that TensorFlow lists.
    modes      the modes.
    timeout    seconds for one run.
    """

    name: str
    functions: Mapping[str, bytes]
    sources: tuple[np.ndarray | Domain, ...]
    ulp: Mapping[str, float] = field(default_factory=dict)
    gradient: bool = True
    devices: tuple[str, ...] = ()
    modes: tuple[str, ...] = MODES
    timeout: float = 120.0


@dataclass(frozen=True)
class CheckAnswer:
    """The records of a check, or a sentence that says why there are none."""

    records: tuple[Record, ...] = ()
    problem: str = ""
