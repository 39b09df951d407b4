"""Plan: the device and the mode in which a case runs."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from tf_opdiff.harness.spec import modes
from tf_opdiff.harness.spec.settings.variant import check

#: The names of all modes, in the order in which they run; `harness.spec.modes` has their table.
MODES = modes.MODES


def without_modes(*names: str) -> tuple[str, ...]:
    """All modes but these: a spec excludes modes, so that a new mode runs it too."""
    return tuple(mode for mode in MODES if mode not in names)


#: The modes in which TensorFlow's own kernels run.
WITHOUT_XLA = without_modes("xla")
#: The patterns of plans in these modes, on any device.
PLANS_WITHOUT_XLA = tuple(f"*/{mode}" for mode in WITHOUT_XLA)
DEVICE_TYPE = re.compile(r"[a-z][a-z0-9_]*")
#: The name of a device server that a command starts.
SERVER = re.compile(r"[a-z][a-z0-9_-]*")
_ON_SERVER = re.compile(rf"(?P<server>{SERVER.pattern})(:(?P<device>[a-z].*)|(?P<variants>[+].*)?)")
_DEVICE = re.compile(r"(?P<type>[a-z][a-z0-9_]*)(:(?P<index>\d+))?(?P<variants>(\+[a-z0-9_]+(=[\w-]*)?)*)")


@dataclass(frozen=True, order=True)
class Device:
    """A device as users write it: `cpu`, `gpu:0`, or any type that TensorFlow lists, in lower case.

    Its `variants` follow its name, as in `cpu+noonednn`; see `harness.spec.settings.variant`. For a device of another
    machine or day, whose observations were stored, `recorded` is the name of its recording, such as `h100@2.21.0`. If a
    command starts the server of the device, `server` is the name of that server: `gpubox:gpu:0`, or `tf218` for its
    CPU.
    """

    type: str
    index: int = 0
    variants: tuple[str, ...] = ()
    recorded: str = ""
    server: str = ""

    @classmethod
    def parse(cls, text: str, servers: Collection[str] = ()) -> Device:
        """Reads `TYPE` or `TYPE:INDEX`, followed by any number of `+VARIANT`, as a device of this machine.

        A text that begins with the name of one of the `servers` is about a device there: `SERVER`, which is its CPU, or
        `SERVER:TYPE` or `SERVER:TYPE:INDEX`, followed by any number of `+VARIANT`.

        Raises:
          ValueError: the text has another form, or the device type has no such variant.
        """
        remote = _ON_SERVER.fullmatch(text.strip().lower())
        if remote and remote["server"] in servers:
            device = cls.parse(remote["device"] or f"cpu{remote['variants'] or ''}")
            return replace(device, server=remote["server"])
        match = _DEVICE.fullmatch(text.strip().lower())
        if not match:
            listed = f"; servers in the file of devices: {', '.join(servers) or 'none'}"
            form = "expected TYPE or TYPE:INDEX, such as cpu or gpu:0"
            raise ValueError(f"device {text!r}: {form}{listed if servers or text.count(':') > 1 else ''}")
        variants = tuple(sorted({v for v in match["variants"].split("+") if v}))
        try:
            check(variants, match["type"])
        except ValueError as why:
            raise ValueError(f"device {text!r}: {why}") from why
        return cls(match["type"], int(match["index"] or 0), variants)

    @property
    def plain(self) -> Device:
        """The device without its variants and its server."""
        return Device(self.type, self.index)

    @property
    def on_its_machine(self) -> Device:
        """The device without its server, as its server names it."""
        return Device(self.type, self.index, self.variants)

    @property
    def local(self) -> bool:
        """Whether its server runs on this machine, without a command."""
        return not (self.recorded or self.server)

    @property
    def tf_name(self) -> str:
        """TensorFlow's name of the device, such as `GPU:0`."""
        return f"{self.type.upper()}:{self.index}"

    def __str__(self) -> str:
        name = "cpu" if (self.type, self.index) == ("cpu", 0) else f"{self.type}:{self.index}"
        if self.server:
            name = self.server if name == "cpu" else f"{self.server}:{name}"
        return self.recorded or "+".join([name, *self.variants])


def type_of(name: str) -> str:
    """The device type in a device's name.

    The name of a recorded device, or of one with a server, does not contain its type.
    """
    return re.split("[:+]", name, maxsplit=1)[0]


def check_pattern(pattern: str) -> None:
    """Refuses a pattern that could select no plan.

    Raises:
      ValueError: the pattern is not `DEVICE_TYPE/MODE`; each part may be `*`.
    """
    device, _, mode = pattern.partition("/")
    if not (device == "*" or DEVICE_TYPE.fullmatch(device)) or mode not in (*MODES, "*"):
        raise ValueError(f"pattern {pattern!r}: expected DEVICE_TYPE/MODE, each may be *")


class PlanName(NamedTuple):
    """The name of a plan in records: the name of a device or of a recorded device, and the mode."""

    device: str
    mode: str

    @classmethod
    def parse(cls, text: str) -> PlanName | None:
        """Reads `DEVICE/MODE`; None for a text that names no plan, such as `numpy` or `claim:C01a`."""
        device, slash, mode = text.rpartition("/")
        return cls(device, mode) if slash else None

    def __str__(self) -> str:
        return f"{self.device}/{self.mode}"


@dataclass(frozen=True, order=True)
class Plan:
    """A device and a mode; written `cpu/xla`.

    If it has `ops`, it runs only specs of these raw ops.
    """

    device: Device
    mode: str
    ops: frozenset[str] = field(default=frozenset(), compare=False)

    def matches(self, pattern: str) -> bool:
        """Whether a pattern `DEVICE_TYPE/MODE` selects this plan; each part may be `*`."""
        device, _, mode = pattern.partition("/")
        return device in ("*", self.device.type) and mode in ("*", self.mode)

    @property
    def name(self) -> PlanName:
        """The plan's name in records."""
        return PlanName(str(self.device), self.mode)

    def __str__(self) -> str:
        return str(self.name)
