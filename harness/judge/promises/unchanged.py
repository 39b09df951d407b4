"""Unchanged: what a function of a suite changes in pytest's own process is noticed and restored.

Otherwise a reference that changes the directory, the environment or a function of NumPy would decide what the cases
after it promise.
"""

from __future__ import annotations

import builtins
import contextlib
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from types import ModuleType
from typing import Any

import numpy as np

from tf_opdiff.harness.system.changes import Names, Values
from tf_opdiff.harness.system.process_state import SHARED, Setting


class ProcessChanged(Exception):
    """A function changed a setting of the process; the setting has been restored."""


def _set_precision(bits: int) -> None:
    sys.modules["mpmath"].mp.prec = bits


#: A setting of mpmath, if that is imported.
_OF_MPMATH = {"mpmath's precision": Setting(lambda: sys.modules["mpmath"].mp.prec, _set_precision)}
_NAMESPACES: Mapping[str, Callable[[], Mapping[str, Any]]] = {
    "builtins": lambda: vars(builtins),
    "np": lambda: vars(np),
    "np.linalg": lambda: vars(np.linalg),
}


@cache
def _names() -> list[Names]:
    """The functions of NumPy and Python, as they are at the first call."""
    return [Names(about, space, meant=lambda new: isinstance(new, ModuleType)) for about, space in _NAMESPACES.items()]


@contextlib.contextmanager
def unchanged() -> Iterator[None]:
    """Restores what the code inside changed in this process; in the main thread only.

    Other threads can't tell their own changes from those of their neighbours.

    Raises:
      ProcessChanged: the code changed something, and raised nothing itself.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    settings = {**SHARED, **(_OF_MPMATH if "mpmath" in sys.modules else {})}
    names, values = _names(), Values({name: setting.read for name, setting in settings.items()})
    changes: list[str] = []
    try:
        yield
    finally:
        changes += values.changes() + [change for each in names for change in each.changes()]
        if changes:
            for each in names:
                each.restore()
            for name, (before, _) in values.changed().items():
                with contextlib.suppress(OSError, ValueError):  # a directory that is gone; a C handler
                    settings[name].write(before)
    if changes:
        raise ProcessChanged("; ".join(changes))
