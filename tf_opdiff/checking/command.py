"""Check command: `check my_module:function` from the shell, and `check floor-map` for an override of the suites."""

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

from tf_opdiff.checking.api import Checked, Differs, check, checker, renew, uniform
from tf_opdiff.checking.array_file import numbers_of
from tf_opdiff.checking.inputs import Domain
from tf_opdiff.checking.overrides.api import check_override
from tf_opdiff.checking.overrides.request import PLACE_NAMES
from tf_opdiff.checking.request import ULP
from tf_opdiff.harness.spec.plan import MODES, Device
from tf_opdiff.harness.system import sudden_exit
from tf_opdiff.harness.system.number_argument import ULPS

_INPUT = "LOW:HIGH[:SHAPE[:DTYPE]]"


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of `python -m harness check`."""
    parser.add_argument(
        "function",
        metavar="MODULE:NAME",
        help="a callable of tensors, in a module of this folder; or an override of the suites, such as floor-map",
    )
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
    parser.add_argument(
        "--override",
        metavar="MODULE:NAME",
        help="what the gradient of the callable's override should be: takes g and the inputs; says where it is applied",
    )
    parser.add_argument("--without", metavar="MODULE:NAME", help="with --override: the callable without it")
    parser.add_argument(
        "--place", action="append", default=[], choices=PLACE_NAMES, help="a place of an override; default: all"
    )


def main(options: argparse.Namespace) -> int:
    """Checks a callable; prints the differences, or what was compared; of an override, where it is applied."""
    sys.path.insert(0, os.getcwd())
    of_suites = ":" not in options.function
    try:
        _refuse_file(options.function)
        _refuse_mixed(options, of_suites)
        for name in options.device:
            Device.parse(name)  # a wrong name is refused before the user's module imports TensorFlow
        checker()  # it imports TensorFlow while the user's module does
        print(_override(options, of_suites) if of_suites or options.override else _plain(options))
    except Differs as differences:
        print(differences)
        return 1
    except (TypeError, ValueError, RuntimeError) as why:
        raise ValueError(str(why).removeprefix("check: ")) from why  # the command line names the verb already
    return 0


def _refuse_file(text: str) -> None:
    """Refuses the path of a file in place of MODULE:NAME.

    Raises:
      ValueError: it is one; the message has the name of its module.
    """
    path, _, name = text.partition(":")
    if path.endswith(".py"):
        module = path.removesuffix(".py").strip("./").replace("/", ".")
        raise ValueError(f"{text!r}: expected MODULE:NAME, got a file; try {module}:{name or 'NAME'}")


def _refuse_mixed(options: argparse.Namespace, of_suites: bool) -> None:
    """Refuses options that do not belong to the kind of check.

    Raises:
      ValueError: one of them is given.
    """
    plain = {"--reference": options.reference, "--vjp": options.vjp, "--no-gradient": options.no_gradient}
    own = {"--override": options.override, "--input": options.input, "--npz": options.npz, "--without": options.without}
    if of_suites and (given := [name for name, value in {**plain, **own}.items() if value]):
        raise ValueError(f"{options.function!r}: an override of the suites has its inputs; expected no {given[0]}")
    if options.override and (given := [name for name, value in plain.items() if value]):
        raise ValueError(f"expected --override or {given[0]}, got both")
    if not (of_suites or options.override) and (options.without or options.place):
        raise ValueError(f"{'--without' if options.without else '--place'}: expected --override too")


def _plain(options: argparse.Namespace) -> str:
    """Compares a callable between plans, and with a reference; returns what was compared."""
    inputs = _inputs(options)
    checked = check(
        _named(options.function),
        *inputs,
        reference=_optional(options.reference),
        vjp=_optional(options.vjp),
        ulp=options.ulp,
        gradient=not options.no_gradient,
        devices=options.device,
        modes=options.mode or None,
        rerun=_rerun(),
    )
    return summary(options.function, checked)


def _override(options: argparse.Namespace, of_suites: bool) -> str:
    """Says where an override is applied; returns the table."""
    inputs = [] if of_suites else _inputs(options)
    checked = check_override(
        options.function if of_suites else _named(options.function),
        *inputs,
        gradient=_optional(options.override),
        without=_optional(options.without),
        places=options.place or None,
        modes=options.mode or None,
        devices=options.device,
        ulp=options.ulp,
        rerun=_rerun(),
    )
    return checked.table


def _optional(text: str | None) -> Callable[..., Any] | None:
    """The callable that an option names; None without the option."""
    return _named(text) if text else None


def _rerun() -> str:
    """The command that runs the check again."""
    return shlex.join(["tf-opdiff", *sys.argv[1:]])


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
    renew()
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
