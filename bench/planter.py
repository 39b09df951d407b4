"""Planter: the results of a case's program if a kernel of one op had a fault, computed without TensorFlow.

The program runs on a stand-in for TensorFlow. A call of the faulty op gives the arrays that the fault computes. Every
other call gives an unknown value, but for the few functions that programs wrap around an op, which NumPy computes. A
result that is made of unknown values is not judged.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np

from tf_opdiff.harness.spec.inputs.attrs import accepted
from tf_opdiff.harness.spec.plan import MODES
from tf_opdiff.harness.spec.spec import Case


@dataclass(frozen=True)
class Fault:
    """A fault of a kernel.

    op        the OpDef.
    says      the fault, in a few words.
    kernel    the real kernel that could have it.
    f         f(**arguments of the op) → the wrong result, or results; of an op that changes variables, their new
              values. None where the fault changes nothing. Of a gradient, f(g, **arguments) → argument → its gradient.
    gradient  whether the fault is one of the gradient.
    modes     the modes whose kernel could have it.
    """

    op: str
    says: str
    kernel: str
    f: Callable[..., Any]
    gradient: bool = False
    modes: tuple[str, ...] = MODES


class Unplantable(TypeError):
    """A program needs a value that the stand-in does not know."""


class Unknown:
    """A value that no faulty op computed."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self

    def __call__(self, *_: Any, **__: Any) -> Any:
        return self

    def __iter__(self) -> Any:
        raise Unplantable("the number of unknown values")

    __array_ufunc__ = None
    __enter__ = __exit__ = __getitem__ = __call__
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = __pow__ = __call__
    __lt__ = __gt__ = __matmul__ = __neg__ = __call__


@dataclass
class Variable:
    """A variable: its value, and itself as its handle."""

    value: Any

    @property
    def handle(self) -> Variable:
        return self

    def read_value(self) -> Any:
        """The value now."""
        return self.value


def _known(f: Callable[..., Any]) -> Callable[..., Any]:
    """A function of NumPy whose result is unknown if an argument is."""

    def function(*args: Any, **keywords: Any) -> Any:
        inside = [*args, *keywords.values()]
        inside += [each for one in inside if isinstance(one, list | tuple) for each in one]
        return Unknown() if any(isinstance(each, Unknown) for each in inside) else f(*args, **keywords)

    return function


def _matmul(a: Any, b: Any, adjoint_a: bool = False, adjoint_b: bool = False) -> Any:
    turned = [np.conj(np.swapaxes(x, -1, -2)) if bar else x for x, bar in ((a, adjoint_a), (b, adjoint_b))]
    return np.matmul(*turned)


#: The functions of TensorFlow that NumPy computes.
_FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "constant": lambda value, dtype=None, shape=None: np.asarray(value, None if dtype is None else np.dtype(dtype)),
    "matmul": _matmul,
    "range": np.arange,
    "reduce_sum": lambda x, axis=None: np.sum(x, axis),
    "shape": lambda x, out_type="int32": np.array(np.shape(x), out_type),
    "where": np.where,
    "zeros": lambda shape, dtype="float32": np.zeros(np.asarray(shape, int), np.dtype(dtype)),
}


@dataclass
class Planted:
    """TensorFlow with a fault; `calls` has the arguments of each call of the faulty op, and its result."""

    fault: Fault
    calls: list[tuple[Mapping[str, Any], Any]] = field(default_factory=list)

    @property
    def raw_ops(self) -> Any:
        return _RawOps(self)

    @property
    def compat(self) -> Any:
        return SimpleNamespace(v1=SimpleNamespace(Variable=lambda x, use_resource=None: Variable(x)))

    def control_dependencies(self, _updates: Any) -> Any:
        """Everything runs in order."""
        return nullcontext()

    def __getattr__(self, name: str) -> Any:
        if name == "Variable":
            return Variable
        return _known(_FUNCTIONS[name]) if name in _FUNCTIONS else np.dtype(name) if name in _DTYPES else Unknown()

    def called(self, arguments: Mapping[str, Any]) -> Any:
        """The result of a call of the faulty op."""
        variables = [value for value in arguments.values() if isinstance(value, Variable)]
        values = {name: value.value if isinstance(value, Variable) else value for name, value in arguments.items()}
        if any(isinstance(value, Unknown) for value in values.values()):
            return Unknown()
        if self.fault.gradient:
            self.calls.append((values, Unknown()))
            return self.calls[-1][1]
        result = self.fault.f(**values)
        if variables:
            new = [result] * len(variables) if result is None else result if isinstance(result, tuple) else (result,)
            for variable, value in zip(variables, new, strict=True):
                variable.value = Unknown() if value is None else np.asarray(value).astype(variable.value.dtype)
            return variables[0]
        return Unknown() if result is None else _named(arguments, result)


_DTYPES = ("float16", "bfloat16", "float32", "float64", "int32", "int64")
#: The results of an eigendecomposition, which programs take by name.
_Eigen = namedtuple("_Eigen", "e v")


def _named(arguments: Mapping[str, Any], result: Any) -> Any:
    """The results of a call; None is an unknown one."""
    if not isinstance(result, list | tuple):
        return result
    each = [Unknown() if one is None else one for one in result]
    return _Eigen(*each) if "compute_v" in arguments or (len(arguments) == 1 and len(each) == 2) else tuple(each)


@dataclass
class _RawOps:
    of: Planted

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name == self.of.fault.op:
            return lambda **arguments: self.of.called(arguments)
        if name == "DeepCopy":
            return lambda x: x.value if isinstance(x, Variable) else x
        return Unknown()


def outputs(case: Case, inputs: Sequence[np.ndarray], fault: Fault) -> dict[str, Any]:
    """The known results of a case's program with a fault: `output[i]` → an array, in the dtype that it was computed in.

    Raises:
      Unplantable: the program needs a value that is unknown, or a function that the stand-in lacks.
    """
    tf, spec = Planted(fault), case.spec
    state = (
        spec.execution.state(tf, *inputs, **accepted(spec.execution.state, case.keywords))
        if spec.execution.state
        else {}
    )
    steps = []
    for _ in range(max(spec.execution.steps, 1)):
        result = _run(tf, case, [state] if spec.execution.state else [], inputs)
        steps.append([x.value if isinstance(x, Variable) else x for x in result])
    found = [_stacked(each) if spec.execution.steps > 1 else each[0] for each in zip(*steps, strict=True)]
    if fault.gradient:
        return {}
    every = [*found, *(variable.value for variable in state.values())]
    return {f"output[{n}]": np.asarray(x) for n, x in enumerate(every) if not isinstance(x, Unknown)}


def _run(tf: Planted, case: Case, state: list[Any], inputs: Sequence[np.ndarray]) -> list[Any]:
    try:
        with np.errstate(all="ignore"):
            result = case.spec.program(tf, *state, *inputs, **case.keywords)
    except Exception as why:  # a fault is a function of arguments that fit, and a case may have others
        raise Unplantable(f"{type(why).__name__}: {why}") from why
    return list(result) if isinstance(result, list | tuple) else [result]


def _stacked(values: Sequence[Any]) -> Any:
    return Unknown() if any(isinstance(x, Unknown) for x in values) else np.stack(values)


def gradients(
    case: Case, inputs: Sequence[np.ndarray], upstreams: Sequence[Any] | None, fault: Fault
) -> dict[str, Any]:
    """The known gradients of a case's program with a fault: `grad[i]` → an array. See `outputs`."""
    tf = Planted(fault)
    result = _run(tf, case, [], inputs)
    found: dict[str, Any] = {}
    for arguments, output in tf.calls:
        at = [n for n, each in enumerate(result) if each is output]
        if not at or upstreams is None or upstreams[at[0]] is None:
            continue
        for name, value in (fault.f(upstreams[at[0]], **arguments) or {}).items():
            found |= {f"grad[{n}]": value for n, x in enumerate(inputs) if x is arguments[name]}
    return found
