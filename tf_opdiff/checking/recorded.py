"""Recorded: the results of the base plan, as the promise where a user gives no reference."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tf_opdiff.harness.device.observation import Observation, Result, raw
from tf_opdiff.harness.judge.promises.expectation import widened
from tf_opdiff.harness.spec.contract import Raises, Sparse
from tf_opdiff.harness.spec.quantity import family_of


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

    def __call__(self, *arguments: Any) -> Any:
        inputs = arguments[1:] if self.family == "grad" else arguments
        return self.results[_key(inputs)]


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
