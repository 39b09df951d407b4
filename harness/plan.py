"""Plan: the device and the mode in which a case runs."""

from __future__ import annotations

import re
from dataclasses import dataclass

MODES = ("eager", "function", "xla", "graph")
DEVICE_TYPE = re.compile(r"[a-z][a-z0-9_]*")
_DEVICE = re.compile(r"(?P<type>[a-z][a-z0-9_]*)(:(?P<index>\d+))?")


@dataclass(frozen=True, order=True)
class Device:
    """A device as users write it: `cpu`, `gpu:0`, or any type that TensorFlow lists, in lower case."""

    type: str
    index: int = 0

    @classmethod
    def parse(cls, text: str) -> Device:
        """Reads `TYPE` or `TYPE:INDEX`.

        Raises:
          ValueError: the text has another form.
        """
        found = _DEVICE.fullmatch(text.strip().lower())
        if not found:
            raise ValueError(f"device {text!r}: expected TYPE or TYPE:INDEX, such as cpu or gpu:0")
        return cls(found["type"], int(found["index"] or 0))

    @property
    def tf_name(self) -> str:
        """The name by which TensorFlow knows the device, such as `GPU:0`."""
        return f"{self.type.upper()}:{self.index}"

    def __str__(self) -> str:
        return "cpu" if self == Device("cpu") else f"{self.type}:{self.index}"


@dataclass(frozen=True, order=True)
class Plan:
    """A device and a mode; written `cpu/xla`."""

    device: Device
    mode: str

    def matches(self, pattern: str) -> bool:
        """Whether `DEVICE_TYPE/MODE`, either of which may be `*`, selects this plan."""
        device, _, mode = pattern.partition("/")
        return device in ("*", self.device.type) and mode in ("*", self.mode)

    def __str__(self) -> str:
        return f"{self.device}/{self.mode}"
