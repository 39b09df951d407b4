"""Devices file: the table of commands that start device servers, `devices.toml`."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any

import msgspec

from tf_opdiff.harness.spec.plan import SERVER
from tf_opdiff.harness.store.formats import untrusted

#: Names that are not those of servers: devices of this machine have them.
_TAKEN = ("cpu", "gpu")
_Word = Annotated[str, msgspec.Meta(min_length=1)]
_Positive = Annotated[float, msgspec.Meta(gt=0, le=86400)]


class ServerCommand(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A table `[devices.NAME]` of the file: the command that starts the device server NAME.

    command        the words of a command that ends with a Python interpreter, local or not. It runs without a shell,
                   with `-iq` as its last word, so that Python reads the device server from its standard input.
    start_timeout  seconds that the server may take to start, with the import of TensorFlow; default: 180.
    """

    command: Annotated[tuple[_Word, ...], msgspec.Meta(min_length=1)]
    start_timeout: _Positive = 180.0


class _File(msgspec.Struct, forbid_unknown_fields=True):
    devices: dict[str, dict[str, Any]] = {}


def read(path: Path) -> Mapping[str, ServerCommand]:
    """The commands in a file, by the names of their servers.

    Raises:
      ValueError: the file is absent, or malformed; the message names the field.
    """
    try:
        plain = tomllib.loads(path.read_text())
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as why:
        raise ValueError(f"{path}: expected a file of devices in TOML ({why})") from why
    servers = {}
    for name, table in untrusted.convert(plain, _File, str(path)).devices.items():
        where = f"{path}: [devices.{name}]"
        if not SERVER.fullmatch(name) or name in _TAKEN:
            raise ValueError(f"{where}: expected a name of a-z, 0-9, _ and -, a letter first, and not cpu or gpu")
        servers[name] = untrusted.convert(table, ServerCommand, where)
    return MappingProxyType(servers)
