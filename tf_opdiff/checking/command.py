"""Check command: `check my_module:function` from the shell."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
import traceback
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from tf_opdiff.checking.api import Checked, Differs, check, uniform
from tf_opdiff.checking.array_file import numbers_of
from tf_opdiff.checking.inputs import Domain
from tf_opdiff.checking.request import ULP
from tf_opdiff.harness.spec.plan import MODES, Device
from tf_opdiff.harness.system import sudden_exit
from tf_opdiff.harness.system.number_argument import ULPS

_INPUT = "LOW:HIGH[:SHAPE[:DTYPE]]"


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of `python -m harness check`."""
    parser.add_argument("function", metavar="MODULE:NAME", help="a callable of tensors, in a module of this folder")
    parser.add_argument("--reference", metavar="MODULE:NAME", help="what it should return, with NumPy")
    parser.add_argument("--vjp", metavar="MODULE:NAME", help="what its gradient should be: takes g and the inputs")
    parser.add_argument(
        "--input",
        action="append",
        default=[],
        metavar=_INPUT,
        help="an input: numbers of a domain, as in --input=-1:1:4x3; repeat it for several; default: -4:4:67:float32",
    )
    parser.add_argument("--npz", type=Path, metavar="FILE", help="the inputs: the arrays of a file, in its order")
    parser.add_argument("--ulp", type=ULPS, default=ULP, help=f"the allowed distance in ULPs; default: {ULP:g}")
    parser.add_argument("--device", action="append", default=[], metavar="D", help="a device; default: all")
    parser.add_argument("--mode", action="append", default=[], choices=MODES, help="a mode; default: all")
    parser.add_argument("--no-gradient", action="store_true", help="compare outputs only")


def main(options: argparse.Namespace) -> int:
    """Checks a callable; prints the differences, or what was compared."""
    sys.path.insert(0, os.getcwd())
    try:
        inputs = _inputs(options)
        for name in options.device:
            Device.parse(name)  # a wrong name is refused before the user's module imports TensorFlow
        checked = check(
            _named(options.function),
            *inputs,
            reference=_named(options.reference) if options.reference else None,
            vjp=_named(options.vjp) if options.vjp else None,
            ulp=options.ulp,
            gradient=not options.no_gradient,
            devices=options.device,
            modes=options.mode or None,
            rerun=shlex.join(["tf-opdiff", *sys.argv[1:]]),
        )
    except Differs as differences:
        print(differences)
        return 1
    except TypeError as why:
        raise ValueError(str(why)) from why
    print(summary(options.function, checked))
    return 0


def summary(name: str, checked: Checked) -> str:
    """What was compared, in one line."""
    return f"{name}: {len(checked.records)} comparisons without a difference, on {', '.join(checked.plans)}"


def _named(text: str) -> Callable[..., Any]:
    """The callable that `MODULE:NAME` names.

    Raises:
      ValueError: the text has another form, or the module has no such name.
      TypeError: it is no callable.
    """
    module, _, name = text.partition(":")
    if not (module and name):
        raise ValueError(f"{text!r}: expected MODULE:NAME")
    try:
        with sudden_exit.sudden_exit_raises():
            function = getattr(import_module(module), name)
    except (ImportError, AttributeError) as why:
        raise ValueError(f"{text}: {why}") from why
    except (Exception, SystemExit) as why:
        raise ValueError(f"{text}: importing {module} raises {described(why)}") from why
    if not callable(function):
        raise TypeError(f"{text}: expected a callable, got {type(function).__name__}")
    return function


def described(error: BaseException) -> str:
    """An exception in one line, with the place in a file that raised it."""
    says = " ".join(f"{type(error).__name__}: {error}".split())
    *_, frame = (f for f in traceback.extract_tb(error.__traceback__) if f.filename != sudden_exit.__file__)
    place = "" if frame.filename.startswith("<") else f" ({frame.filename}:{frame.lineno})"
    return says[:300] + place


def _inputs(options: argparse.Namespace) -> list[np.ndarray | Domain]:
    """The inputs that the options name."""
    if options.npz and options.input:
        raise ValueError("expected --npz or --input, got both")
    if options.npz:
        return [*numbers_of(options.npz)]
    return [domain(text) for text in options.input or ["-4:4"]]


def domain(text: str) -> Domain:
    """The domain that a text such as `-1:1:4x3:float64` describes.

    Raises:
      ValueError: the text has another form.
    """
    parts = text.split(":")
    try:
        low, high = map(float, parts[:2])
        shape = tuple(int(size) for size in parts[2].split("x") if size) if len(parts) > 2 else (67,)
        if len(parts) > 4:
            raise ValueError
        return uniform(low, high, shape, *parts[3:])
    except (ValueError, TypeError) as why:
        reason = f"; {why}" if str(why).startswith("uniform") else ""
        raise ValueError(f"input {text!r}: expected {_INPUT}, such as -1:1:4x3:float64{reason}") from why
