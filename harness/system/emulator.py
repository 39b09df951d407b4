"""Emulator: the program that emulates the processor of this process, such as QEMU, if there is one."""

from __future__ import annotations

import contextlib
import os
import platform
import subprocess
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path

#: QEMU answers for `/proc/self` in the name of the program that it runs, but not for the same files of a thread.
#: https://gitlab.com/qemu-project/qemu/-/blob/v7.2.0/linux-user/syscall.c (`is_proc_myself`)
_PROGRAM, _COMMAND = Path("/proc/thread-self/exe"), Path("/proc/thread-self/cmdline")
#: Which field of `/proc/cpuinfo` lists the instruction sets of a processor, by what `platform.machine` names.
_FIELD = {"x86_64": "flags", "aarch64": "Features"}
#: Seconds that an emulator may take to print its version.
_PATIENCE = 60


@dataclass(frozen=True)
class Emulator:
    """An emulator of processors.

    Attributes:
      name: its program, such as `qemu-aarch64`; `an emulator` if its program is unknown.
      cpu: the processor that it emulates, in its own words; empty for its default.
      version: its version; empty if it does not print one.
    """

    name: str
    cpu: str = ""
    version: str = ""

    def __str__(self) -> str:
        return " ".join(filter(None, (self.name, self.version, self.cpu and f"-cpu {self.cpu}")))


def emulator(cpuinfo: str) -> Emulator | None:
    """The emulator of this process; None if the processor runs it itself, as far as that shows.

    `cpuinfo` is the text of `/proc/cpuinfo`, which is the host's: with the instruction sets of another architecture, an
    emulator of unknown name runs this process.
    """
    try:
        program = os.readlink(_PROGRAM)
        words = _COMMAND.read_text(errors="replace").split("\0")
    except OSError:  # not Linux
        return None
    if Path(program).name.startswith("qemu-"):
        return Emulator(Path(program).name.removesuffix("-static"), _cpu(words), _version(program))
    names = {line.partition(":")[0].strip() for line in cpuinfo.splitlines()}
    own = _FIELD.get(platform.machine())
    other = names & (set(_FIELD.values()) - {own})
    return Emulator("an emulator") if own and other and own not in names else None


def _cpu(words: list[str]) -> str:
    """The processor that QEMU's command line or `QEMU_CPU` names."""
    for option, value in pairwise(words):
        if option == "-cpu":
            return value
    return os.environ.get("QEMU_CPU", "")


@cache
def _version(program: str) -> str:
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        done = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=_PATIENCE, check=True)
        words = done.stdout.split()
        if "version" in words[:-1]:
            return words[words.index("version") + 1]
    return ""
