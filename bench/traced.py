"""Traced: the calls of TensorFlow that a program of a spec makes, as text, found without TensorFlow.

The program runs on stand-ins that write down each call. Two programs with equal texts make the same calls, whatever
their source is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from inspect import signature
from types import FunctionType
from typing import Any

import numpy as np

from tf_opdiff.harness.repro.short_programs.traced_call import Shape
from tf_opdiff.harness.spec.inputs.attrs import accepted
from tf_opdiff.harness.spec.spec import Case

#: The most questions that a program may ask of tensors on one path, and the most paths; further paths are left out.
_QUESTIONS, _PATHS = 40, 24
#: The numbers of items that a program may expect of what it takes apart, in this order.
_ITEMS = (2, 3, 1, 4, 5)


class Untraceable(TypeError):
    """A program needs the value of a tensor, or passes a function to TensorFlow.

    Python asks for the length of what it makes a tuple or a list of, and takes a TypeError for an unknown length.
    """


class _NoLength(Untraceable, TypeError):
    """A program needs the length of a tensor. Python asks for it, and needs none, where a list is made of a tensor."""


class _Path:
    """The answers to the questions that a program asks of tensors: the first ones are given, all others are yes."""

    def __init__(self, inputs: int, items: int, given: Sequence[bool]) -> None:
        """A path of a program with so many inputs, which takes things apart into so many items."""
        self.inputs, self.items, self._given, self.taken = inputs, items, given, list[bool]()

    def answer(self) -> bool:
        """The answer to the next question."""
        if len(self.taken) == _QUESTIONS:
            raise Untraceable(f"more than {_QUESTIONS} questions")
        self.taken.append(self._given[len(self.taken)] if len(self.taken) < len(self._given) else True)
        return self.taken[-1]


class _Trace:
    """The calls so far, a line each."""

    def __init__(self, path: _Path) -> None:
        self.path, self.lines = path, list[str]()

    def call(self, what: str, args: Iterable[Any], keywords: dict[str, Any]) -> _Symbol:
        """Writes a call down; returns the stand-in of its result."""
        named = [f"{name}={_written(value, self.path)}" for name, value in sorted(keywords.items())]
        plain = [_written(value, self.path) for value in args]
        self.lines.append(f"{what}({', '.join([*plain, *named])})")
        return _Symbol(self, f"${len(self.lines)}")


class _Symbol:
    """A stand-in for a tensor, for a module of TensorFlow, or for anything in them."""

    def __init__(self, trace: _Trace, text: str, **known: Any) -> None:
        self.__dict__.update(known, _trace=trace, _text=text)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if name == "name":
            return f"the name of {self._text}"
        return _Symbol(self._trace, f"{self._text}.{name}")

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        return self._trace.call(self._text, args, keywords)

    def __enter__(self) -> Any:
        return self._trace.call(f"enter {self._text}", (), {})

    def __exit__(self, *_: object) -> None:
        self._trace.call(f"exit {self._text}", (), {})

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Symbol) and other._text == self._text

    def __hash__(self) -> int:
        return hash(self._text)

    def _refused(self, *_: Any) -> Any:
        raise Untraceable(self._text)

    def __len__(self) -> int:
        raise _NoLength(self._text)

    def __bool__(self) -> bool:
        answer = self._trace.path.answer()
        self._trace.lines.append(f"{self._text} is {answer}")
        return answer

    def __instancecheck__(self, value: Any) -> bool:
        answer = self._trace.path.answer()
        self._trace.lines.append(f"{_written(value, self._trace.path)} is one of {self._text}: {answer}")
        return answer

    def __iter__(self) -> Any:
        return iter([_Symbol(self._trace, f"{self._text}[{n}]") for n in range(self._trace.path.items)])

    def __repr__(self) -> str:
        return self._text

    __int__ = __index__ = __float__ = __array__ = __contains__ = _refused


def _operator(name: str) -> Any:
    return lambda self, *others: self._trace.call(name, (self, *others), {})


for _name in (
    *("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul"),
    *("and", "or", "xor", "lt", "le", "gt", "ge"),
):
    setattr(_Symbol, f"__{_name}__", _operator(_name))
    setattr(_Symbol, f"__r{_name}__", _operator(f"r{_name}"))
for _name in ("neg", "abs", "invert", "getitem"):
    setattr(_Symbol, f"__{_name}__", _operator(_name))


def _added_to(self: _Symbol, other: Any) -> Any:
    """The results of a call at the end of a list, or the sum of two tensors."""
    return [*other, *self] if isinstance(other, list) else _operator("radd")(self, other)


_Symbol.__radd__ = _added_to  # type: ignore[attr-defined]


def _written(value: Any, path: _Path) -> str:
    """A value in a call as text; a function as the calls that it makes of arguments of its own.

    Raises:
      Untraceable: it is neither a literal nor an array nor a stand-in.
    """
    if isinstance(value, _Symbol):
        return value._text
    if isinstance(value, np.ndarray | np.generic):
        array = np.asarray(value)
        return f"array({array.dtype}, {array.shape}, {array.tobytes() if array.dtype != object else array.tolist()!r})"
    if isinstance(value, list | tuple):
        inner = ", ".join(_written(each, path) for each in value)
        return f"[{inner}]" if isinstance(value, list) else f"({inner})"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key!r}: {_written(value[key], path)}" for key in value) + "}"
    if isinstance(value, slice):
        return f"slice({_written(value.start, path)}, {_written(value.stop, path)}, {_written(value.step, path)})"
    if value is None or value is Ellipsis or isinstance(value, bool | int | float | complex | str | bytes | np.dtype):
        return repr(value)
    if isinstance(value, FunctionType | partial):
        return _of_function(value, path)
    raise Untraceable(f"a {type(value).__name__}")


def _of_function(function: Callable[..., Any], path: _Path) -> str:
    """The calls that a function makes; in place of `*args`, it gets as many arguments as the program has inputs."""
    trace, arguments = _Trace(path), list[_Symbol]()
    for parameter in signature(function).parameters.values():
        if parameter.default is parameter.empty and parameter.kind is not parameter.VAR_KEYWORD:
            if parameter.kind is parameter.KEYWORD_ONLY:
                raise Untraceable(f"a function with {parameter.name}=")
            count = path.inputs if parameter.kind is parameter.VAR_POSITIONAL else 1
            arguments += [_Symbol(trace, f"argument {len(arguments) + n}") for n in range(count)]
    result = _written(function(*arguments), path)
    return f"function({'; '.join([*trace.lines, result])})"


def traced(case: Case, inputs: Sequence[np.ndarray]) -> str:
    """The calls of a case's program, and of its state, as text: on each path if the program asks questions of tensors.

    Raises:
      Untraceable: the program can't run on stand-ins.
    """
    if case.spec.execution.sessions:
        raise Untraceable("a program with sessions")
    why: Exception | None = None
    for items in _ITEMS:
        try:
            return "\n\n".join(_paths(case, inputs, items))
        except Exception as error:  # noqa: BLE001  a program may raise anything
            why = error
            if "unpack" not in str(error):
                break
    raise Untraceable(f"{type(why).__name__}: {why}") from why


def _paths(case: Case, inputs: Sequence[np.ndarray], items: int) -> Iterator[str]:
    """The calls on one path after the other."""
    given: list[bool] = []
    for _ in range(_PATHS):
        path = _Path(len(inputs), items, given)
        yield _along(case, inputs, path)
        given = path.taken
        while given and not given[-1]:
            given.pop()
        if not given:
            return
        given[-1] = False


def _along(case: Case, inputs: Sequence[np.ndarray], path: _Path) -> str:
    """The calls on one path."""
    spec, trace = case.spec, _Trace(path)
    tf = _Symbol(trace, "tf")
    xs = [_input(trace, f"input {i}", x, known=not spec.execution.unknown_shapes) for i, x in enumerate(inputs)]
    state = spec.execution.state
    states = [state(tf, *xs, **accepted(state, case.keywords))] if state else []
    result = spec.program(tf, *states, *xs, **case.keywords)
    return "\n".join([*trace.lines, *(_written(state, path) for state in states), _written(result, path)])


def _input(trace: _Trace, name: str, x: np.ndarray, *, known: bool) -> _Symbol:
    """The stand-in of an input; it has a dtype, and a shape, whose sizes may be unknown."""
    of_dtype = "string" if x.dtype == object else x.dtype.name
    dtype = _Symbol(trace, f"tf.{of_dtype}", name=of_dtype)
    return _Symbol(trace, name, dtype=dtype, shape=Shape(x.shape if known else (None,) * x.ndim))
