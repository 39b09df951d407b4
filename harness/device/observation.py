"""Observation: the results of running a case under a plan, as plain data that crosses processes and files."""

from __future__ import annotations

import base64
import math
import re
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Annotated, Any, Self, TypedDict

import ml_dtypes  # noqa: F401  (teaches NumPy the names bfloat16, float8_…)
import msgspec
import numpy as np

from tf_opdiff.harness.spec.kinds import NO_ANSWER

#: `value`: an array. `unconnected`: a gradient that is None. `sparse`: an `IndexedSlices`. `error`: TensorFlow or
#: Python raised. `crash`: the process died. `hang`: it did not answer in time.
STATUSES = ("value", "unconnected", "sparse", "error", *NO_ANSWER)
#: The statuses of programs that gave no result.
FAILED = ("error", *NO_ANSWER)

#: Bytes of the largest array that is read from a file.
LARGEST = 256 << 20
#: Bytes that say how long a byte string is.
_LENGTH = 4


class Packed(TypedDict):
    """An array as JSON-able data; see `pack`."""

    dtype: str
    shape: list[Annotated[int, msgspec.Meta(ge=0)]]
    data: str


@dataclass(frozen=True)
class Result:
    """The result of one quantity.

    `value` holds the array, or the values of an `IndexedSlices`, with its `indices` (n,) and dense `shape`.
    `code` and `message` tell an error: TensorFlow's error code, the Python exception's class name, or `NO_SERVER` (no
    server ran the op); a crash: the signal's name, `EXIT n` or `CLOSED` (the process closed its connection and lived
    on).
    """

    status: str
    value: np.ndarray | None = None
    indices: np.ndarray | None = None
    shape: tuple[int, ...] | None = None
    code: str = ""
    message: str = ""

    def to_json(self) -> dict[str, Any]:
        """The result as JSON-able data, without empty fields."""
        fields = {**vars(self), "value": pack(self.value), "indices": pack(self.indices)}
        return {name: value for name, value in fields.items() if value not in (None, "")}

    @classmethod
    def from_json(cls, row: Mapping[str, Any]) -> Self:
        """The result that `to_json` wrote as this data."""
        shape = row.get("shape")
        arrays = {"value": unpack(row.get("value")), "indices": unpack(row.get("indices"))}
        return cls(**{**row, **arrays, "shape": None if shape is None else tuple(shape)})


@dataclass(frozen=True)
class Observation:
    """Everything that one run of a case under a plan gave.

    `quantities` maps `output[i]`, `grad[i]`, `jvp[i]` and `hvp[i]` to results. `ran_on` names the devices on which the
    ops of interest really ran, `raw_op` the OpDef names of the executed graph. `again` has an entry for each kind of
    thing that the run was held against (see `harness.device.repeat`): the results that came out differently, by
    quantity. `fault` says why the run proves nothing (an op on another device, an op that never ran), `lacking` which
    kernel is not registered, `poisoned` that the server must run nothing else: its device no longer works, or the op
    left a thread or a changed setting behind. `left_behind` says which settings.
    """

    quantities: Mapping[str, Result]
    ran_on: str = ""
    raw_op: str = ""
    seconds: float = 0.0
    again: Mapping[str, Mapping[str, Result]] = field(default_factory=dict)
    fault: str = ""
    lacking: str = ""
    poisoned: bool = False
    left_behind: str = ""

    @classmethod
    def of_all(cls, names: tuple[str, ...], result: Result, **more: Any) -> Observation:
        """An observation with one result for every quantity, as after a crash."""
        return cls(quantities=dict.fromkeys(names, result), **more)

    def to_json(self) -> dict[str, Any]:
        """The observation as JSON-able data, without `poisoned`, which concerns its server only."""
        again = {kind: _each(results, Result.to_json) for kind, results in self.again.items()}
        fields = {name: getattr(self, name) for name in ("ran_on", "raw_op", "seconds", "fault", "lacking")}
        left = {"left_behind": self.left_behind} if self.left_behind else {}
        return {"quantities": _each(self.quantities, Result.to_json), "again": again, **fields, **left}

    @classmethod
    def from_json(cls, row: Mapping[str, Any]) -> Self:
        """The observation that `to_json` wrote as this data."""
        again = {kind: _each(results, Result.from_json) for kind, results in row.get("again", {}).items()}
        return cls(**{**row, "quantities": _each(row.get("quantities", {}), Result.from_json), "again": again})


def _each(results: Mapping[str, Any], change: Any) -> dict[str, Any]:
    return {quantity: change(result) for quantity, result in results.items()}


def raw(array: np.ndarray) -> tuple[str, bytes]:
    """An array's dtype name and little-endian bytes, in C order; each text behind its length in `_LENGTH` bytes."""
    if array.dtype.kind not in "OSU":
        return array.dtype.name, np.ascontiguousarray(array).tobytes()
    texts = [x if isinstance(x, bytes) else str(x).encode() for x in array.ravel().tolist()]
    return "bytes", b"".join(len(t).to_bytes(_LENGTH, "little") + t for t in texts)


def pack(array: np.ndarray | None) -> dict[str, Any] | None:
    """An array as JSON-able data: dtype name, shape, and base64 of its (zlib-compressed) little-endian bytes."""
    if array is None:
        return None
    name, data = raw(array)
    return {"dtype": name, "shape": list(array.shape), "data": base64.b64encode(zlib.compress(data)).decode()}


def unpack(packed: Packed | Mapping[str, Any] | None) -> np.ndarray | None:
    """The array that `pack` packed; byte strings come back as an object array.

    Raises:
      ValueError: the data are damaged, of another size than their shape, or larger than `LARGEST`, which memory never
        has to hold.
    """
    if packed is None:
        return None
    dtype, shape = packed["dtype"], packed["shape"]
    size = math.prod(shape) * (_LENGTH if dtype == "bytes" else _dtype(dtype).itemsize)
    if size > LARGEST:
        raise ValueError(f"array of {dtype}{list(shape)}: expected at most {LARGEST:,} bytes")
    try:
        inflater, data = zlib.decompressobj(), base64.b64decode(packed["data"], validate=True)
        data = inflater.decompress(data, 1 + (LARGEST if dtype == "bytes" else size))
    except (zlib.error, ValueError) as why:
        raise ValueError(f"array of {dtype}{list(shape)}: expected base64 of what zlib compressed ({why})") from why
    if not inflater.eof:
        raise ValueError(f"array of {dtype}{list(shape)}: expected {size:,} bytes, got others")
    return unraw(dtype, shape, data)


def unraw(dtype: str, shape: Sequence[int], data: bytes) -> np.ndarray:
    """The array of this shape that `raw` was given.

    Raises:
      ValueError: there is no such dtype, or the data are not as long as dtype and shape say.
    """
    if dtype != "bytes":
        return np.frombuffer(data, _dtype(dtype)).reshape(shape)
    texts: list[bytes] = []
    at = 0
    while at < len(data) and len(texts) <= math.prod(shape):
        size = int.from_bytes(data[at : at + _LENGTH], "little")
        texts.append(data[at + _LENGTH : at + _LENGTH + size])
        at += _LENGTH + size
    if at != len(data):
        raise ValueError(f"array of bytes{list(shape)}: its texts are cut, or too many")
    out = np.empty(len(texts), object)
    out[:] = texts
    return out.reshape(shape)


def _dtype(name: str) -> np.dtype:
    """The dtype of numbers that `raw` calls by this name."""
    try:
        dtype = _named_dtype(name)
    except TypeError:
        dtype = None
    if dtype is None:
        raise ValueError(f"dtype {name[:40]!r}: expected that of numbers, such as float32 or bfloat16")
    return dtype


@lru_cache(256)
def _named_dtype(name: str) -> np.dtype | None:
    """The dtype of this name, or None; cached, since a run names few dtypes many times.

    Raises:
      TypeError: NumPy has no such dtype, or the name is no text.
    """
    dtype = np.dtype(name) if re.fullmatch(r"[a-z][a-z0-9_]{1,30}", name) else None
    if dtype is None or dtype.name != name or dtype.kind not in "biufcV" or dtype.names or not dtype.itemsize:
        return None
    return dtype
