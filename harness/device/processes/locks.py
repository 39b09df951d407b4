"""Locks: they limit how many device servers share an accelerator, over all workers and sessions of this user.

A slot is an advisory lock on a file; the kernel releases it when its holder dies. A worker takes a slot on each of its
accelerators, in a fixed order and before it starts any server. It keeps the slots, and its servers, until another
worker waits for one.
"""

from __future__ import annotations

import fcntl
import os
import stat
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path

from tf_opdiff.harness.spec.plan import Device

POLL = 0.05


def per_device() -> int:
    """The number of servers that may share an accelerator: `TF_OPDIFF_SERVERS`, or 4."""
    return int(os.environ.get("TF_OPDIFF_SERVERS", "4"))


def physical(device: Device) -> str:
    """The name of the hardware of a device, the same in every process: `CUDA_VISIBLE_DEVICES` may renumber GPUs."""
    visible = os.environ.get("CUDA_VISIBLE_DEVICES", "")
    gpus = [name.strip() for name in visible.split(",") if name.strip()]
    if device.type == "gpu" and device.index < len(gpus):
        return f"gpu-{gpus[device.index]}"
    return f"{device.type}-{device.index}"


def own_folder(path: Path) -> int:
    """A descriptor of a folder in which nobody else can create, remove or link files; creates it if it is missing.

    Raises:
      RuntimeError: another user can, or the path is no folder.
    """
    try:
        path.mkdir(mode=0o700, exist_ok=True)
        folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError as why:
        raise RuntimeError(f"{path}: expected a folder, to count servers that share a device; {why.strerror}") from why
    about = os.fstat(folder)
    if about.st_uid == os.getuid() and not about.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return folder
    os.close(folder)
    raise RuntimeError(
        f"{path}: expected a folder that only user {os.getuid()} can write to, to count servers of a device; it "
        f"belongs to user {about.st_uid}, mode {stat.S_IMODE(about.st_mode):o}. Delete it, or set TMPDIR"
    )


class Slots:
    """One worker's slots on the accelerators among its devices; a CPU needs none."""

    def __init__(self, devices: Iterable[Device], *, limit: int | None = None, folder: Path | None = None) -> None:
        """`limit`: the number of slots of each device. `folder`: the folder of the lock files.

        Raises:
          RuntimeError: it is no folder, or others can write to it.
        """
        self.keys = sorted({physical(d) for d in devices if d.type != "cpu"})
        self._limit = per_device() if limit is None else limit
        self._folder = folder or Path(tempfile.gettempdir(), f"tf-opdiff-slots-{os.getuid()}")
        self._slots: list[int] = []
        if self.keys:
            os.close(own_folder(self._folder))

    def acquire(self) -> None:
        """Waits for a slot on every device, unless this worker has them already."""
        if self._slots or not self.keys:
            return
        for key in self.keys:
            request = self._open(f"{key}.wanted")
            fcntl.flock(request, fcntl.LOCK_SH)
            while (slot := self._free(key)) is None:
                time.sleep(POLL)
            self._slots.append(slot)
            os.close(request)

    def release_if_wanted(self) -> bool:
        """Gives all slots back if another worker waits for one; returns whether it did."""
        if not self._slots or not any(self._wanted(key) for key in self.keys):
            return False
        self.release()
        return True

    def release(self) -> None:
        """Gives all slots back."""
        while self._slots:
            os.close(self._slots.pop())

    def _open(self, name: str) -> int:
        folder = own_folder(self._folder)
        try:
            return os.open(name, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600, dir_fd=folder)
        finally:
            os.close(folder)

    def _locked(self, name: str) -> int | None:
        file = self._open(name)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(file)
            return None
        return file

    def _free(self, key: str) -> int | None:
        return next((f for n in range(self._limit) if (f := self._locked(f"{key}.{n}")) is not None), None)

    def _wanted(self, key: str) -> bool:
        file = self._locked(f"{key}.wanted")
        if file is not None:
            os.close(file)
        return file is None
