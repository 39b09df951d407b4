"""Emulated Python: an interpreter with this project's packages whose processor QEMU emulates.

It is a folder like a virtual environment. `bin/python` is a shell script that starts QEMU, and Python takes the script
for its own path: processes that Python starts are emulated as well. Neither binfmt nor root is needed to run it.
"""

from __future__ import annotations

import hashlib
import os
import platform
import shlex
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tf_opdiff.harness.paths import ROOT

#: Program → the Debian package that has it.
_PACKAGES = {
    "qemu-aarch64-static": "qemu-user-static",
    "qemu-x86_64-static": "qemu-user-static",
    "mmdebstrap": "mmdebstrap",
    "aarch64-linux-gnu-g++": "g++-aarch64-linux-gnu",
}
#: The Debian release that has a Python of our minor version: bytecode and pickles go between the two.
_RELEASES = {(3, 11): "bookworm", (3, 13): "trixie"}


@dataclass(frozen=True, kw_only=True)
class Processor:
    """An emulated processor.

    Attributes:
      name: the name of its recording.
      qemu: the emulator.
      machine: what `platform.machine` names in it.
      debian: Debian's name of the architecture, for another one than this machine's; else empty.
      wheels: uv's name of the platform of Python packages; as `debian`.
      cxx: a C++ compiler for it, with which programs build ops; as `debian`.
    """

    name: str
    qemu: str
    machine: str
    debian: str = ""
    wheels: str = ""
    cxx: str = ""


PROCESSORS = (
    Processor(
        name="arm64",
        qemu="qemu-aarch64-static",
        machine="aarch64",
        debian="arm64",
        wheels="aarch64-manylinux_2_28",
        cxx="aarch64-linux-gnu-g++",
    ),
    # Without AVX-512, and without the approximations of reciprocals in which vendors differ.
    Processor(name="x86-64", qemu="qemu-x86_64-static", machine="x86_64"),
)


def set_up(processor: Processor, folder: Path) -> Path:
    """Makes the Python of a processor, or what is missing of it, in a folder; returns its path.

    Raises:
      RuntimeError: this machine can't make it, or it does not run.
    """
    if not processor.debian and platform.machine() != processor.machine:
        raise RuntimeError(f"{processor.name}: expected a machine {processor.machine}, this is {platform.machine()}")
    _install([processor.qemu, *(["mmdebstrap", processor.cxx] if processor.debian else [])])
    home = folder.resolve() / processor.name
    (home / "bin").mkdir(parents=True, exist_ok=True)
    program = _foreign(processor, home) if processor.debian else _native(home)
    python = home / "bin" / "python"
    root = ["-L", str(home / "root")] if processor.debian else []
    words = [shutil.which(processor.qemu) or processor.qemu, "-cpu", "max", *root, "-0", str(python), str(program)]
    environment = f"export CXX={processor.cxx}\n" if processor.cxx else ""
    python.write_text(f'#!/bin/sh\n{environment}exec {shlex.join(words)} "$@"\n')
    python.chmod(0o755)
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    (home / "pyvenv.cfg").write_text(f"home = {program.parent}\ninclude-system-site-packages = false\n")
    code = "import platform, sys; print(platform.machine(), *sys.version_info[:2], sep=' ')"
    answer = _run([str(python), "-c", code]).split()
    if answer != [processor.machine, *version.split(".")]:
        raise RuntimeError(f"{python}: expected {processor.machine} with Python {version}, got {' '.join(answer)}")
    return python


def _native(home: Path) -> Path:
    """Links the packages of this Python; returns the path of its program."""
    link = home / "lib"
    if link.is_symlink():
        link.unlink()
    link.symlink_to(Path(sys.prefix) / "lib")
    return Path(sys.executable).resolve()


def _foreign(processor: Processor, home: Path) -> Path:
    """Unpacks Debian's Python of another architecture and installs packages for it; returns its program."""
    version = sys.version_info[:2]
    if version not in _RELEASES:
        supported = ", ".join(f"{major}.{minor}" for major, minor in _RELEASES)
        raise RuntimeError(f"{processor.name}: expected Python {supported}, whose Debian package runs there")
    root = home / "root"
    if not root.exists():
        temporary = _empty(home / "root.tmp")
        packages = "--include=python3,libstdc++6,zlib1g"
        options = ["--quiet", "--variant=extract", f"--architectures={processor.debian}", packages]
        _run(["mmdebstrap", *options, _RELEASES[version], str(temporary)])
        temporary.rename(root)
    site = home / "lib" / f"python{version[0]}.{version[1]}" / "site-packages"
    wanted = hashlib.sha256(b"".join((ROOT / n).read_bytes() for n in ("requirements.lock", "pyproject.toml")))
    stamp = site / "requirements.sha256"
    if not stamp.exists() or stamp.read_text() != wanted.hexdigest():
        temporary = _empty(home / "site.tmp")
        uv = Path(sysconfig.get_path("scripts")) / "uv"
        # Without bytecode, each start of the emulated Python compiles TensorFlow again.
        where = ["--target", str(temporary), "--python-platform", processor.wheels, "--compile-bytecode"]
        what = ["--no-build", "--constraints", str(ROOT / "requirements.lock"), "-r", str(ROOT / "pyproject.toml")]
        _run([str(uv), "pip", "install", "--quiet", *where, "--python-version", ".".join(map(str, version)), *what])
        (temporary / stamp.name).write_text(wanted.hexdigest())
        _empty(site).rmdir()
        temporary.rename(site)
    return root / "usr" / "bin" / f"python{version[0]}.{version[1]}"


def _install(programs: Sequence[str]) -> None:
    """Installs the Debian packages of the programs that are missing."""
    packages = sorted({_PACKAGES[name] for name in programs if not shutil.which(name)})
    if not packages:
        return
    if os.getuid() or not shutil.which("apt-get"):
        raise RuntimeError(f"expected the programs {', '.join(programs)}: install {' '.join(packages)} as root")
    _run(["apt-get", "update", "-qq"])
    _run(["env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "install", "-y", "-qq", *packages])


def _empty(folder: Path) -> Path:
    """The folder, empty, with all folders above it."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def _run(command: list[str]) -> str:
    """The output of a command.

    Raises:
      RuntimeError: it failed; the message has the end of its error output.
    """
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{shlex.join(command)}: exit status {done.returncode}: {done.stderr.strip()[-2000:]}")
    return done.stdout
