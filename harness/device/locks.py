"""Slots: how many device servers may share an accelerator, over all workers and sessions of this user.

A slot is an advisory lock on a file, which the kernel lets go of when its holder dies. A worker takes one on each of
its accelerators, in a fixed order and all before it starts a server, and keeps them, with its warm servers, until
another worker is seen to wait.
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
    """How many servers may share an accelerator: `TF_OPDIFF_SERVERS`, or 4."""
    return int(os.environ.get("TF_OPDIFF_SERVERS", "4"))


def physical(device: Device) -> str:
    """What the device is outside this process: an outer `CUDA_VISIBLE_DEVICES` renumbers GPUs."""
    visible = os.environ.get("CUDA_VISIBLE_DEVICES", "")
    listed = [name.strip() for name in visible.split(",") if name.strip()]
    if device.type == "gpu" and device.index < len(listed):
        return f"gpu-{listed[device.index]}"
    return f"{device.type}-{device.index}"


def own_folder(path: Path) -> int:
    """A descriptor of a folder, made if it is missing, in which nobody else can put, remove or link files.

    Raises:
      RuntimeError: another user can, or it is no folder.
    """
    try:
        path.mkdir(mode=0o700, exist_ok=True)
        folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError as why:
        raise RuntimeError(f"{path}: expected a folder, to count what shares a device; {why.strerror}") from why
    about = os.fstat(folder)
    if about.st_uid == os.getuid() and not about.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return folder
    os.close(folder)
    raise RuntimeError(
        f"{path}: expected a folder that only user {os.getuid()} can write to, to count what shares a device; it "
        f"belongs to user {about.st_uid}, mode {stat.S_IMODE(about.st_mode):o}. Delete it, or set TMPDIR"
    )


class Slots:
    """One worker's slots on the accelerators among its devices; a CPU needs none."""

    def __init__(self, devices: Iterable[Device], *, limit: int | None = None, folder: Path | None = None) -> None:
        """`limit` is the number of slots a device, `folder` where the lock files are.

        Raises:
          RuntimeError: that is no folder, or others can write to it.
        """
        self.keys = sorted({physical(d) for d in devices if d.type != "cpu"})
        self._limit = per_device() if limit is None else limit
        self._folder = folder or Path(tempfile.gettempdir(), f"tf-opdiff-slots-{os.getuid()}")
        self._held: list[int] = []
        if self.keys:
            os.close(own_folder(self._folder))

    def acquire(self) -> None:
        """Waits for a slot on every device, unless they are held already."""
        if self._held or not self.keys:
            return
        for key in self.keys:
            wanting = self._open(f"{key}.wanted")
            fcntl.flock(wanting, fcntl.LOCK_SH)
            while (slot := self._free(key)) is None:
                time.sleep(POLL)
            self._held.append(slot)
            os.close(wanting)

    def release_if_wanted(self) -> bool:
        """Gives all slots back if another worker waits for one; says whether it did."""
        if not self._held or not any(self._wanted(key) for key in self.keys):
            return False
        self.release()
        return True

    def release(self) -> None:
        """Gives all slots back."""
        while self._held:
            os.close(self._held.pop())

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
