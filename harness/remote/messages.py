"""Messages: what both sides of the connection to a remote device server send.

A worker sends pickles to the server, which is the user's own. The server sends data in MessagePack. The worker believes
none of it: it checks types, sizes and names, so a wrong server can give wrong results and do nothing else.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any

import msgspec
import numpy as np
from packaging.version import Version

from tf_opdiff.harness.device.observation import STATUSES, Observation, Result, raw, unraw
from tf_opdiff.harness.device.repeat import SELF_CHECKS
from tf_opdiff.harness.spec.plan import Device
from tf_opdiff.harness.spec.quantity import is_quantity

#: The most bytes of an answer, and characters of a text in it.
MOST, LONGEST = 1 << 30, 4000
_Text = Annotated[str, msgspec.Meta(max_length=LONGEST)]
_Facts = Annotated[dict[_Text, _Text], msgspec.Meta(max_length=200)]
_Size = Annotated[int, msgspec.Meta(ge=0, le=(1 << 63) - 1)]
#: A text that stands in records and pages: no control characters.
_PLAIN = re.compile(r"[^\x00-\x1f\x7f]*")


@dataclass(frozen=True)
class Describe:
    """Asks for the facts of the machine: `Facts`. A process there may take `start_timeout` seconds to start."""

    start_timeout: float


@dataclass(frozen=True)
class Serve:
    """Asks to serve a device: an empty `Answer` follows, and then one for each request.

    `timeout` is in seconds, for each request; so many `processes` share the machine. For `start_timeout`, see
    `Describe`.
    """

    start_timeout: float
    device: Device
    timeout: float
    processes: int


class Facts(msgspec.Struct):
    """The facts of the machine of a server, in the form of `harness.store.run_directories.open_run.here`."""

    devices: Annotated[dict[_Text, _Facts], msgspec.Meta(max_length=200)]
    versions: _Facts
    cuda: _Text
    cudnn: _Text
    host: _Text
    flags: _Facts
    machine: _Facts

    def check(self) -> None:
        """Raises ValueError if a device's name or TensorFlow's version has another form, or a text is not printable."""
        for name in self.devices:
            if Device.parse(name).variants:
                raise ValueError(f"device {name!r}: expected TYPE:INDEX")
        Version(self.versions.get("tensorflow", ""))
        texts = [*self.versions.values(), self.cuda, self.cudnn, self.host, *self.flags.values()]
        if not all(map(_PLAIN.fullmatch, texts)):
            raise ValueError("expected facts without control characters")


class Answer(msgspec.Struct):
    """The observation of a request, and whether the process that ran it takes another one."""

    observation: Observation
    running: bool

    def check(self) -> None:
        """Raises ValueError if the observation is none that a device server makes."""
        observation = self.observation
        for kind, results in {"": observation.quantities, **observation.again}.items():
            if kind and kind not in SELF_CHECKS:
                raise ValueError(f"{kind[:40]!r}: expected a self-check")
            for quantity, result in results.items():
                if not is_quantity(re.sub(r"^input\[", "output[", quantity) if kind == "input_mutated" else quantity):
                    raise ValueError(f"{quantity[:40]!r}: expected a quantity such as output[0]")
                _check(quantity, result)
        texts = (observation.ran_on, observation.raw_op, observation.fault, observation.lacking)
        if any(len(text) > LONGEST for text in texts) or not math.isfinite(observation.seconds):
            raise ValueError(f"expected texts of at most {LONGEST} characters, and a finite time")


def _check(quantity: str, result: Result) -> None:
    """Refuses what is no result."""
    if result.status not in STATUSES:
        raise ValueError(f"{quantity}: status {result.status[:40]!r}: expected one of {', '.join(STATUSES)}")
    if (result.value is None) != (result.status not in ("value", "sparse")):
        raise ValueError(f"{quantity}: expected an array if the status is value or sparse, and else none")
    indices = result.indices
    if (indices is None) == (result.status == "sparse") or (indices is not None and indices.dtype.kind not in "iu"):
        raise ValueError(f"{quantity}: expected integers as indices if the status is sparse, and else none")
    if result.shape is not None and min(result.shape, default=0) < 0:
        raise ValueError(f"{quantity}: expected a shape without negative sizes")
    if max(len(result.code), len(result.message)) > LONGEST:
        raise ValueError(f"{quantity}: expected texts of at most {LONGEST} characters")


def encode(message: Facts | Answer) -> bytes:
    """A message of a server as bytes; TensorFlow's messages may have surrogates, which UTF-8 has not."""
    if isinstance(message, Answer):
        quantities = {q: _readable(r) for q, r in message.observation.quantities.items()}
        again = {k: {q: _readable(r) for q, r in rs.items()} for k, rs in message.observation.again.items()}
        fault = message.observation.fault[:LONGEST]
        observation = replace(message.observation, quantities=quantities, again=again, fault=fault, poisoned=False)
        message = Answer(observation, message.running)
    return msgspec.msgpack.encode(message, enc_hook=_encoded)


def _readable(result: Result) -> Result:
    return replace(result, message=result.message.encode("utf-8", "backslashreplace").decode()[:LONGEST])


def _encoded(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        name, data = raw(value)
        return [name, value.shape, data]
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__}: no part of a message")


def decode(data: bytes | memoryview, as_: type) -> Any:
    """The message of a server in these bytes.

    Raises:
      ValueError: the bytes are no such message.
    """
    try:
        message: Any = msgspec.msgpack.decode(data, type=as_, dec_hook=_decoded)
        message.check()
    except (msgspec.DecodeError, ValueError, OverflowError, RecursionError, MemoryError) as why:
        raise ValueError(f"expected {as_.__name__}: {' '.join(str(why).split())[:300]}") from why
    return message


def _decoded(as_: type, value: Any) -> np.ndarray:
    if as_ is not np.ndarray:
        raise TypeError(f"{as_.__name__}: no part of a message")
    return unraw(*msgspec.convert(value, tuple[str, list[_Size], bytes]))
