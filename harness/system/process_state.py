"""Process state: the settings of this process that a function can change and leave changed for the functions after it.

To read all of them takes some 20 µs. Not among them: the states of random generators, which every draw changes; what a
function sets in another thread, or by the C library's `setenv` and `timer_create`.
"""

from __future__ import annotations

import builtins
import ctypes
import faulthandler
import gc
import locale
import logging
import os
import platform
import resource
import signal
import socket
import sys
import tempfile
import threading
import warnings
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np


class Setting(NamedTuple):
    """A setting of the process: `read` gives its value, which `==` compares; `write` sets the value that was read."""

    read: Callable[[], Any]
    write: Callable[[Any], object]


def _directory() -> str:
    try:
        return os.getcwd()
    except OSError:  # somebody deleted it
        return ""


#: Else a thread would read the mask that another one sets for a moment.
_UMASK = threading.Lock()


def _umask() -> int:
    """The mask of the permissions of new files; the kernel tells it only to those who set another one."""
    with _UMASK:
        mask = os.umask(0o077)
        os.umask(mask)
    return mask


def _environment() -> dict[bytes, bytes]:
    return dict(vars(os.environ)["_data"])  # a copy of the mapping itself decodes every text, which takes longer


def _set_environment(variables: Mapping[bytes, bytes]) -> None:
    for name in set(os.environb) - set(variables):
        del os.environb[name]
    os.environb.update(variables)


_TIMERS = (signal.ITIMER_REAL, signal.ITIMER_VIRTUAL, signal.ITIMER_PROF)


def _timers() -> tuple[bool, ...]:
    """For each timer whether it will send a signal. An alarm is the first."""
    return tuple(any(signal.getitimer(timer)) for timer in _TIMERS)


def cancel_timers(_: object = None) -> None:
    """Cancels every timer of this process, and its alarm."""
    for timer in _TIMERS:
        signal.setitimer(timer, 0)


#: The C function beneath `signal.getsignal`, which makes an enumeration of each result: that takes ten times as long.
_handler: Callable[[int], Any] = getattr(signal, "_signal", signal).getsignal
_SIGNALS = tuple(map(int, sorted(signal.valid_signals())))


def _handlers() -> dict[int, Any]:
    return dict(zip(_SIGNALS, map(_handler, _SIGNALS), strict=True))


def _set_handlers(handlers: Mapping[int, Any]) -> None:
    for number, handler in handlers.items():
        if handler is not None and _handler(number) is not handler:
            signal.signal(number, handler)


#: Where the C library's `fegetenv` puts the control bits, as (byte, mask of the 32 bits from there on): on x86-64 those
#: of the x87 and of MXCSR (rounding, flush-to-zero, denormals-are-zero, traps), on arm64 those of FPCR.
_CONTROL = {"x86_64": ((0, 0xFFFF), (28, 0xFFC0)), "aarch64": ((0, 0xFFFFFFFF),)}.get(platform.machine(), ())
_C = ctypes.CDLL(None)
_fegetenv, _fesetenv = getattr(_C, "fegetenv", None), getattr(_C, "fesetenv", None)


def _float_control() -> tuple[int, ...]:
    """How this thread rounds and flushes subnormals; empty on a processor or C library without these functions."""
    if _fegetenv is None or not _CONTROL:
        return ()
    state = ctypes.create_string_buffer(64)
    _fegetenv(state)
    return tuple(int.from_bytes(state.raw[at : at + 4], "little") & mask for at, mask in _CONTROL)


def _default_float_control(_: object) -> None:
    if _fesetenv is not None:
        _fesetenv(ctypes.c_void_p(-1))  # FE_DFL_ENV, of glibc and musl


def _nothing(_: object) -> None:
    pass


#: The settings that a function of a suite must leave as they are, in pytest's processes too.
SHARED: Mapping[str, Setting] = {
    "current directory": Setting(_directory, os.chdir),
    "umask": Setting(_umask, os.umask),
    "environment variables": Setting(_environment, _set_environment),
    "recursion limit": Setting(sys.getrecursionlimit, sys.setrecursionlimit),
    "np.geterr": Setting(np.geterr, lambda value: np.seterr(**value)),
    "np.geterrcall": Setting(np.geterrcall, np.seterrcall),
    "np.get_printoptions": Setting(np.get_printoptions, lambda value: np.set_printoptions(**value)),
    "rounding and subnormals": Setting(_float_control, _default_float_control),
    "timers": Setting(_timers, cancel_timers),
    "signal mask": Setting(
        lambda: signal.pthread_sigmask(signal.SIG_BLOCK, ()),
        lambda value: signal.pthread_sigmask(signal.SIG_SETMASK, value),
    ),
    "signal handlers": Setting(_handlers, _set_handlers),
    "garbage collection": Setting(gc.isenabled, lambda on: gc.enable() if on else gc.disable()),
    "gc.get_threshold": Setting(gc.get_threshold, lambda value: gc.set_threshold(*value)),
    "locale": Setting(lambda: locale.setlocale(locale.LC_ALL), lambda value: locale.setlocale(locale.LC_ALL, value)),
    "sys.path": Setting(lambda: tuple(sys.path), lambda value: sys.path.__setitem__(slice(None), value)),
}

_LIMITS = tuple(number for name, number in sorted(vars(resource).items()) if name.startswith("RLIMIT_"))

#: More settings that an op can change in its device server. A server that ends needs none of them back.
OF_SERVERS: Mapping[str, Callable[[], Any]] = {
    "resource limits": lambda: tuple(map(resource.getrlimit, _LIMITS)),
    "processors": lambda: os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set(),
    "priority": lambda: os.getpriority(os.PRIO_PROCESS, 0),
    "gc.get_debug": gc.get_debug,
    "gc.callbacks": lambda: tuple(gc.callbacks),
    "warnings that are errors": lambda: tuple(f for f in warnings.filters if f[0] == "error"),  # imports add others
    "warnings.showwarning": lambda: warnings.showwarning,
    "imports": lambda: (tuple(sys.meta_path), tuple(sys.path_hooks), builtins.__import__),
    "tracing": lambda: (sys.gettrace(), sys.getprofile(), threading.gettrace(), threading.getprofile()),
    "hooks": lambda: (sys.excepthook, sys.unraisablehook, sys.displayhook, threading.excepthook),
    "streams": lambda: (sys.stdin, sys.stdout, sys.stderr),
    "sys.getswitchinterval": sys.getswitchinterval,
    "sys.get_int_max_str_digits": sys.get_int_max_str_digits,
    "sys.getdlopenflags": sys.getdlopenflags,
    "threading.stack_size": threading.stack_size,
    "logging": lambda: (logging.root.level, logging.root.manager.disable, tuple(logging.root.handlers)),
    "socket.getdefaulttimeout": socket.getdefaulttimeout,
    "tempfile.tempdir": lambda: tempfile.tempdir,
    "faulthandler": faulthandler.is_enabled,
}
