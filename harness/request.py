"""Request: what a device server is asked to run."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from importlib import import_module

import numpy as np

from harness.spec import Spec


def find_spec(module: str, name: str) -> Spec:
    """The spec of that name in a suite module's `SPECS`.

    Raises:
      LookupError: the module has none of that name.
    """
    specs: Iterable[Spec] = import_module(module).SPECS
    for spec in specs:
        if spec.name == name:
            return spec
    raise LookupError(f"{module} has no spec {name!r}")


@dataclass(frozen=True)
class Request:
    """One case under one plan: its inputs, and an upstream gradient for each output.

    An upstream is None for an output that has no gradient; `upstreams` is None where no gradient is asked for.
    `quantities` are those that are expected; final values of the named `state` follow the outputs.
    """

    module: str
    spec: str
    case: str
    dtype: str
    mode: str
    inputs: tuple[np.ndarray, ...]
    upstreams: tuple[np.ndarray | None, ...] | None
    quantities: tuple[str, ...]
    state: tuple[str, ...] = ()
