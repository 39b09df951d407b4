"""Observation: what running a case under a plan gave, as plain data that crosses processes and files."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import ml_dtypes  # noqa: F401  (teaches NumPy the names bfloat16, float8_…)
import numpy as np

#: `value`: an array. `unconnected`: a gradient that is None. `sparse`: an `IndexedSlices`. `error`: TensorFlow or
#: Python raised. `crash`: the process died. `hang`: it did not answer in time.
STATUSES = ("value", "unconnected", "sparse", "error", "crash", "hang")


@dataclass(frozen=True)
class Result:
    """What became of one quantity.

    `value` holds the array, or the values of an `IndexedSlices`, whose `indices` (n,) and dense `shape` go along.
    `code` and `message` tell an error: TensorFlow's error code or the Python exception's class name; a crash: the
    signal's name or `EXIT n`.
    """

    status: str
    value: np.ndarray | None = None
    indices: np.ndarray | None = None
    shape: tuple[int, ...] | None = None
    code: str = ""
    message: str = ""

    def to_json(self) -> dict[str, Any]:
        """The result as JSON-able data; what it does not have is left out."""
        told = {**vars(self), "value": pack(self.value), "indices": pack(self.indices)}
        return {name: value for name, value in told.items() if value not in (None, "")}

    @classmethod
    def from_json(cls, row: Mapping[str, Any]) -> Self:
        """The result that `to_json` was given."""
        shape = row.get("shape")
        arrays = {"value": unpack(row.get("value")), "indices": unpack(row.get("indices"))}
        return cls(**{**row, **arrays, "shape": None if shape is None else tuple(shape)})


@dataclass(frozen=True)
class Observation:
    """All that one run of a case under a plan gave.

    `quantities` maps `output[i]`, `grad[i]`, `jvp[i]` and `hvp[i]` to results. `ran_on` names the devices on which the
    ops of interest really ran, `raw_op` the OpDef names of the executed graph. `again` has an entry for each kind of
    thing that the run was held against (see `harness.again`): the results that came out differently, by quantity.
    `fault` says why the run proves nothing (an op on another device, an op that never ran), `lacking` which kernel is
    not registered, `poisoned` that the device no longer works.
    """

    quantities: Mapping[str, Result]
    ran_on: str = ""
    raw_op: str = ""
    seconds: float = 0.0
    again: Mapping[str, Mapping[str, Result]] = field(default_factory=dict)
    fault: str = ""
    lacking: str = ""
    poisoned: bool = False

    @classmethod
    def of_all(cls, names: tuple[str, ...], result: Result, **more: Any) -> Observation:
        """The same result for every quantity, as after a crash."""
        return cls(quantities=dict.fromkeys(names, result), **more)

    def to_json(self) -> dict[str, Any]:
        """The observation as JSON-able data, without what only its server's end depends on."""
        again = {kind: _each(results, Result.to_json) for kind, results in self.again.items()}
        told = {name: getattr(self, name) for name in ("ran_on", "raw_op", "seconds", "fault", "lacking")}
        return {"quantities": _each(self.quantities, Result.to_json), "again": again, **told}

    @classmethod
    def from_json(cls, row: Mapping[str, Any]) -> Self:
        """The observation that `to_json` was given."""
        again = {kind: _each(results, Result.from_json) for kind, results in row["again"].items()}
        return cls(**{**row, "quantities": _each(row["quantities"], Result.from_json), "again": again})


def _each(results: Mapping[str, Any], change: Any) -> dict[str, Any]:
    return {quantity: change(result) for quantity, result in results.items()}


def raw(array: np.ndarray) -> tuple[str, bytes]:
    """An array's dtype name and little-endian bytes, in C order; of texts, each behind its length in four bytes."""
    if array.dtype.kind not in "OSU":
        return array.dtype.name, np.ascontiguousarray(array).tobytes()
    texts = [x if isinstance(x, bytes) else str(x).encode() for x in array.ravel().tolist()]
    return "bytes", b"".join(len(t).to_bytes(4, "little") + t for t in texts)


def pack(array: np.ndarray | None) -> dict[str, Any] | None:
    """An array as JSON-able data: dtype name, shape, and base64 of its (zlib-compressed) little-endian bytes."""
    if array is None:
        return None
    name, data = raw(array)
    return {"dtype": name, "shape": list(array.shape), "data": base64.b64encode(zlib.compress(data)).decode()}


def unpack(packed: Mapping[str, Any] | None) -> np.ndarray | None:
    """The array that `pack` was given; byte strings come back as an object array."""
    if packed is None:
        return None
    return unraw(packed["dtype"], packed["shape"], zlib.decompress(base64.b64decode(packed["data"])))


def unraw(dtype: str, shape: Sequence[int], data: bytes) -> np.ndarray:
    """The array of this shape that `raw` was given."""
    if dtype != "bytes":
        return np.frombuffer(data, np.dtype(dtype)).reshape(shape)
    texts, at = [], 0
    while at < len(data):
        size = int.from_bytes(data[at : at + 4], "little")
        texts.append(data[at + 4 : at + 4 + size])
        at += 4 + size
    out = np.empty(len(texts), object)
    out[:] = texts
    return out.reshape(shape)
