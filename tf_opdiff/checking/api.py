"""API: `check`, which sends a callable to the checker and fails with the records that differ."""

from __future__ import annotations

import atexit
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from typing import Any, TypedDict, Unpack

from tf_opdiff.checking.arguments import refuse, sources_of
from tf_opdiff.checking.inputs import Domain
from tf_opdiff.checking.overrides.request import OverrideRequest
from tf_opdiff.checking.pickling import pickled, pickled_program
from tf_opdiff.checking.request import ULP, CheckAnswer, CheckRequest
from tf_opdiff.harness.judge.differences.wording import sentence
from tf_opdiff.harness.spec.plan import MODES
from tf_opdiff.harness.store.records.record import Record
from tf_opdiff.harness.system.number_argument import SECONDS

#: The most differences that a message shows.
_SHOWN = 12
#: The environment variables that an import of TensorFlow sets.
_BY_TENSORFLOW = "ENABLE_RUNTIME_UPTIME_TELEMETRY HDF5_PLUGIN_PATH TF2_BEHAVIOR TPU_ML_PLATFORM TPU_ML_PLATFORM_VERSION"


class Differs(AssertionError):
    """A callable differs between plans, or from its reference; the message has a line for each record."""


@dataclass(frozen=True)
class Checked:
    """A check that found no difference.

    Attributes:
      records: one for each quantity, case and plan, and for what it was compared with; see `docs/reference/record.md`.
    """

    records: tuple[Record, ...]

    @property
    def plans(self) -> tuple[str, ...]:
        """The plans under which the callable ran, such as `cpu/xla`."""
        return tuple(dict.fromkeys(record.plan for record in self.records))


def uniform(low: float, high: float, shape: tuple[int, ...] = (67,), dtype: str = "float32") -> Domain:
    """An input of `check`: random numbers in [low, high), and in a case of their own the ends and special numbers.

    Args:
      low: the lower end, as a random number possible.
      high: the upper end, which random numbers of floats may reach by rounding, and those of integers do not reach.
      shape: the shape of the array.
      dtype: a NumPy dtype of floats or integers, or `bfloat16`.

    Raises:
      ValueError: `low` is not below `high`, an end is no number of the dtype, a size is less than 1, there are more
        than 10**8 numbers, or the dtype has no numbers.
    """
    return Domain(low, high, shape, dtype)


class Options(TypedDict, total=False):
    """The options of a check.

    Attributes:
      ulp: the allowed distance of floats, in ULPs of the result's dtype; or a dict by quantity: `output`, `grad[1]`.
        16 by default.
      bound: quantity → bound(u, g, *inputs), the largest allowed absolute error; `u` is half the dtype's epsilon.
      gradient: whether gradients are compared; True by default.
      devices: names such as `cpu` and `gpu:0`; by default, all that TensorFlow lists.
      modes: `eager`, `function`, `xla`, `graph`; by default all, but without `graph` if the callable holds variables,
        which a v1 graph can't use.
      timeout: seconds for one run; 120 by default.
      rerun: a command for the message of a failure.
    """

    ulp: float | Mapping[str, float]
    bound: Mapping[str, Callable[..., Any]]
    gradient: bool
    devices: Collection[str]
    modes: Collection[str] | None
    timeout: float
    rerun: str


def check(
    function: Callable[..., Any],
    *inputs: Any,
    reference: Callable[..., Any] | None = None,
    vjp: Callable[..., Any] | None = None,
    **options: Unpack[Options],
) -> Checked:
    """Runs a callable on every device and in every mode, with gradients, and compares the results.

    The callable runs in processes of their own. Without a reference, the promise is its result in eager mode on the
    CPU. Inputs and results are compared as in the suites: dtype, shape, NaN, infinities, signs of zeros, and distance
    in ULPs. Each run is repeated, and must give the same bits and leave its inputs as they were.

    Args:
      function: takes tensors, returns a tensor or a tuple of tensors. It may be a lambda, a closure or an object.
      inputs: arrays, numbers, or domains, from `uniform`.
      reference: takes the inputs as NumPy arrays, floats as float64; returns the outputs. It must not use TensorFlow.
      vjp: takes the upstream gradient (a tuple, if there are several outputs) and the inputs; returns a gradient for
        each input, or None where there is none. Without it, gradients are compared with those of eager mode on the
        CPU, and these with differences of the reference, if there is one.
      options: see `Options`.

    Raises:
      Differs: a result differs.
      TypeError: there is no input, an input holds no numbers, or the callable holds an object that can't be sent to
        another process; or there is no such option.
      ValueError: the check can't be made: a device is absent, the callable fails or ignores its inputs, the reference
        fails or has no differences that could test the gradient, or a number makes no sense.
      RuntimeError: the checker's process ended.
    """
    __tracebackhide__ = True  # pytest shows the caller's line instead of this function
    if unknown := sorted(options.keys() - Options.__annotations__.keys()):
        raise TypeError(f"check: no option {unknown[0]!r}; there is {', '.join(Options.__annotations__)}")
    refuse(function, inputs, options)
    answer: CheckAnswer = checker().ask(_request(function, inputs, {"reference": reference, "vjp": vjp}, options))
    if answer.problem:
        raise ValueError(f"check: {answer.problem}")
    failing = [record for record in answer.records if record.failing]
    if failing:
        rerun = [f"  rerun: {options['rerun']}"] if "rerun" in options else []
        raise Differs("\n".join([*lines(failing), *rerun]))
    return Checked(answer.records)


def _request(
    function: Callable[..., Any],
    inputs: tuple[Any, ...],
    promises: Mapping[str, Callable[..., Any] | None],
    options: Options,
) -> CheckRequest:
    """The request with the callable, its promises and inputs, and the options or their defaults."""
    __tracebackhide__ = True
    program, holds_variables = pickled_program(function)
    modes, ulp = options.get("modes"), options.get("ulp", ULP)
    if modes is None:
        modes = [mode for mode in MODES if not (mode == "graph" and holds_variables)]
    bounds = {f"bound of {quantity}": bound for quantity, bound in options.get("bound", {}).items()}
    functions = {name: pickled(f)[0] for name, f in {**promises, **bounds}.items() if f is not None}
    return CheckRequest(
        name=getattr(function, "__name__", type(function).__name__).replace("<lambda>", "callable"),
        functions={"program": program, **functions},
        sources=sources_of(inputs),
        ulp=dict(ulp) if isinstance(ulp, Mapping) else {"output": float(ulp), "grad": float(ulp)},
        gradient=options.get("gradient", True),
        devices=tuple(options.get("devices", ())),
        modes=tuple(modes),
        timeout=SECONDS.checked(options.get("timeout", 120.0)),
    )


def lines(failing: Iterable[Record]) -> list[str]:
    """A line for each difference, with all plans that show it, and the number of those that are left out."""
    alike: dict[str, list[Record]] = {}
    for record in failing:
        about = replace(record, case="", device="", mode="", against=record.against.partition("/")[0])
        alike.setdefault(sentence(about), []).append(record)
    shown = []
    for records in list(alike.values())[:_SHOWN]:
        plans = ", ".join(dict.fromkeys(record.plan for record in records))
        first = records[0]
        shown.append(sentence(first).replace(f" on {first.plan}", f" on {plans}", 1))
    if len(alike) > _SHOWN:
        shown.append(f"and {len(alike) - _SHOWN} more differences")
    return shown


class _Process:
    """The checker's process."""

    def __init__(self) -> None:
        ours, theirs = socket.socketpair()
        self._environment = _environment()
        with theirs:
            command = [sys.executable, "-m", "tf_opdiff.checking.checker", str(theirs.fileno())]
            self._process = subprocess.Popen(command, pass_fds=[theirs.fileno()], env=self._environment)
        self._end = Connection(ours.detach())
        self._owner = os.getpid()
        atexit.register(self.close)

    def ask(self, request: CheckRequest | OverrideRequest) -> Any:
        """Sends a request and waits for the answer of its kind.

        Raises:
          RuntimeError: the process ended.
        """
        try:
            self._end.send(request)
            answer = self._end.recv()
        except (EOFError, OSError) as why:
            self.close()
            raise RuntimeError("check: the checker's process ended; its message is above") from why
        return answer

    @property
    def usable(self) -> bool:
        """Whether this process started it, and it lives."""
        return self._owner == os.getpid() and self._process.poll() is None

    @property
    def current(self) -> bool:
        """Whether it has the environment of this process, apart from what TensorFlow's import sets."""
        return all(self._environment.get(name) == value for name, value in _environment().items())

    def close(self) -> None:
        """Ends the process."""
        atexit.unregister(self.close)
        if self._owner == os.getpid():
            self._end.close()
            self._process.wait()


def _environment() -> dict[str, str]:
    """The environment of a checker: that of this process, with its path of imports."""
    own = {name: value for name, value in os.environ.items() if name not in _BY_TENSORFLOW.split()}
    return own | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}


_started: list[_Process] = []


def checker() -> _Process:
    """The checker of this process; starts it if necessary."""
    if not (_started and _started[-1].usable):
        _started[:] = [_Process()]
    return _started[-1]


def renew() -> None:
    """Ends a checker that was started before this process changed its environment, as a module of the user may do."""
    if _started and not _started[-1].current:
        _started.pop().close()
