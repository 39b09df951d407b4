"""Specs whose references, recipes and derivatives change pytest's own process, and one that would suffer from it."""

import builtins
import ctypes
import gc
import locale
import os
import signal
import sys

import mpmath
import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import plain
from tf_opdiff.harness.tests.planted_servers.planted_leftovers import _UPWARD as UPWARD
from tf_opdiff.harness.tests.planted_specs.planted import floor

_FLOOR = np.floor
#: What each change is, and the words that name it in a record.
CHANGES = {
    "directory": (lambda: os.chdir("/"), "current directory: was "),
    "umask": (lambda: os.umask(0o777), "umask: was "),
    "environment": (lambda: os.environ.update(PLANTED="1"), "environment variables: PLANTED"),
    "recursion-limit": (lambda: sys.setrecursionlimit(4321), "recursion limit: was "),
    "seterr": (lambda: np.seterr(all="raise"), "np.geterr: divide, over, under, invalid"),
    "printoptions": (lambda: np.set_printoptions(precision=1), "np.get_printoptions: precision"),
    "rounding": (lambda: ctypes.CDLL(None).fesetround(UPWARD), "rounding and subnormals: was "),
    "alarm": (lambda: signal.alarm(1), "timers: was "),
    "signal-mask": (lambda: signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1]), "signal mask: was set()"),
    "signal-handler": (lambda: signal.signal(signal.SIGUSR2, print), "signal handlers: 12"),
    "collection": (lambda: gc.disable(), "garbage collection: was True, is False"),
    "locale": (lambda: locale.setlocale(locale.LC_NUMERIC, "C.UTF-8"), "locale: was "),
    "path": (lambda: sys.path.insert(0, "/nowhere"), "sys.path: was "),
    "numpy-function": (lambda: setattr(np, "floor", np.ceil), "np: floor"),
    "deleted-numpy-function": (lambda: delattr(np, "trunc"), "np: trunc"),
    "linear-algebra": (lambda: setattr(np.linalg, "det", np.floor), "np.linalg: det"),
    "builtin-function": (lambda: setattr(builtins, "round", abs), "builtins: round"),
    "precision": (lambda: setattr(mpmath.mp, "prec", 20), "mpmath's precision: was "),
}


def _after(change, function):
    def changing(*arguments):
        change()
        return function(*arguments)

    return changing


def _floor(name, **more):
    return floor(name, lambda tf, x: tf.floor(x), modes=("eager",), **more)


def _umask(*_):
    os.umask(0o077)


SPECS = (
    *(_floor(f"reference-{name}", reference=_after(change, _FLOOR)) for name, (change, _) in CHANGES.items()),
    _floor("recipe", recipes={"plain": _after(_umask, plain)}),
    _floor("vjp", vjp=_after(_umask, lambda g, x: None)),
    _floor("upstreams", upstreams={"plain": _after(_umask, lambda draw, dtype, *shape: np.ones(shape, dtype))}),
    _floor("neighbour", reference=lambda x: np.floor(x)),
)
