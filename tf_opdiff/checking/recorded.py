"""Recorded: the results of the base plan as promises where a user gives no reference, and bounds on their errors."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from tf_opdiff.harness.device.observation import Observation, Result, raw
from tf_opdiff.harness.judge.promises.expectation import widened
from tf_opdiff.harness.spec.contract import Raises, Sparse
from tf_opdiff.harness.spec.quantity import family_of
from tf_opdiff.harness.store.records.record import Record


@dataclass
class ByInputs:
    """A bound on the error of a quantity, by the inputs of the run; see `Tolerance.bound`."""

    errors: dict[str, np.ndarray] = field(default_factory=dict)

    def add(self, inputs: tuple[np.ndarray, ...], error: np.ndarray) -> None:
        """Adds the largest error of each element for these inputs."""
        self.errors[_key(tuple(map(widened, inputs)))] = error

    def __call__(self, unit: float, upstream: Any, *inputs: np.ndarray) -> np.ndarray:
        return self.errors[_key(inputs)]


@dataclass
class Recorded:
    """The results of one family of quantities, by the inputs of the run.

    As the family `output` it is a reference, which takes the inputs; as `grad` it is a VJP, which takes the upstreams
    and the inputs.
    """

    family: str
    results: dict[str, tuple[Any, ...]] = field(default_factory=dict)

    def add(self, inputs: tuple[np.ndarray, ...], observation: Observation) -> None:
        """Adds the results of a run with these inputs."""
        promises = (_promise(r) for q, r in observation.quantities.items() if family_of(q) == self.family)
        self.results[_key(tuple(map(widened, inputs)))] = tuple(promises)

    def of(self, inputs: tuple[np.ndarray, ...]) -> tuple[Any, ...]:
        """The results of the run with these inputs."""
        return self.results[_key(tuple(map(widened, inputs)))]

    def __call__(self, *arguments: Any) -> Any:
        inputs = arguments[1:] if self.family == "grad" else arguments
        return self.results[_key(inputs)]


def relabelled(records: Iterable[Record], recorded: Collection[str], base: str) -> Iterator[Record]:
    """The records; those about recorded promises are against the base plan, and its own are left out."""
    for record in records:
        if family_of(record.quantity) not in recorded:
            yield record
        elif record.against == "numpy" and record.plan != base:
            yield replace(record, against=base)
        elif record.against == record.plan:  # a self-check
            yield record


def _key(inputs: tuple[np.ndarray, ...]) -> str:
    """A hash of arrays."""
    digest = hashlib.blake2b(digest_size=16)
    for array in inputs:
        name, data = raw(array)
        digest.update(f"{array.shape} {name}".encode() + data)
    return digest.hexdigest()


def _promise(result: Result) -> Any:
    """The result as a promise: an array in its own dtype, None, `Sparse` or `Raises`."""
    if result.status == "unconnected":
        return None
    if result.status == "sparse":
        assert result.value is not None and result.indices is not None and result.shape is not None
        return Sparse(result.value, result.indices, result.shape)
    return result.value if result.status == "value" else Raises(result.code)
