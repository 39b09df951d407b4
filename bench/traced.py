"""Traced: the calls of TensorFlow that a program of a spec makes, as text, found without TensorFlow.

The program runs on symbols that write down each call, also one whose result nothing takes; see
`harness.repro.short_programs.traced_call`. Two programs with equal texts make the same calls, whatever
their source is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from inspect import signature
from types import FunctionType
from typing import Any

import numpy as np

from tf_opdiff.harness.repro.short_programs.traced_call import Index, Shape, Symbol, Text
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
    """The calls of a program, a line each, and the answers to the questions that it asks of tensors.

    The first answers are given, all others are yes.
    """

    def __init__(self, inputs: int, items: int, given: Sequence[bool]) -> None:
        """A path of a program with so many inputs, which takes things apart into so many items."""
        self.inputs, self.items, self._given, self.taken = inputs, items, given, list[bool]()
        self.lines = list[str]()

    def answer(self, question: str) -> bool:
        """The answer to the next question, written down."""
        if len(self.taken) == _QUESTIONS:
            raise Untraceable(f"more than {_QUESTIONS} questions")
        self.taken.append(self._given[len(self.taken)] if len(self.taken) < len(self._given) else True)
        self.lines.append(f"{question} {self.taken[-1]}")
        return self.taken[-1]

    def call(self, text: str) -> _Step:
        """Writes a call down; returns the stand-in of its result."""
        self.lines.append(text)
        return _Step(self, f"${len(self.lines)}")


class _Step(Symbol):
    """A value in a program; each call and each operation is written down as a line of its path."""

    __slots__ = ("_path",)

    def __init__(self, path: _Path, text: str) -> None:
        super().__init__(Text(text), computed=False)
        self._path = path

    def derived(self, *parts: Any, computed: bool = True) -> _Step:
        text = "".join(_written(part, self._path) for part in parts)
        return self._path.call(text) if computed else _Step(self._path, text)

    def __getattr__(self, name: str) -> Any:
        return f"the name of {self}" if name == "name" else super().__getattr__(name)

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        return super().__call__(*args, **dict(sorted(keywords.items())))

    def __radd__(self, other: Any) -> Any:
        """The results of a call at the end of a list, or the sum of two tensors."""
        return [*other, *self] if isinstance(other, list) else self.derived(other, Text(" + "), self)

    def __enter__(self) -> Any:
        return self._path.call(f"enter {self}")

    def __exit__(self, *_: object) -> None:
        self._path.call(f"exit {self}")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Step) and str(other) == str(self)

    def __hash__(self) -> int:
        return hash(str(self))

    def __len__(self) -> int:
        raise _NoLength(str(self))

    def __bool__(self) -> bool:
        return self._path.answer(f"{self} is")

    def __instancecheck__(self, value: Any) -> bool:
        return self._path.answer(f"{_written(value, self._path)} is one of {self}:")

    def __iter__(self) -> Any:
        return iter([_Step(self._path, f"{self}[{n}]") for n in range(self._path.items)])

    def __str__(self) -> str:
        return "".join(self.parts)

    def _refused(self, *_: Any) -> Any:
        raise Untraceable(str(self))

    __int__ = __index__ = __float__ = __array__ = __contains__ = _refused


class _Input(_Step):
    """An input of a program; it has a dtype, and a shape, whose sizes may be unknown."""

    __slots__ = ("dtype", "shape")

    def __init__(self, path: _Path, text: str, x: np.ndarray, *, known: bool) -> None:
        super().__init__(path, text)
        of_dtype = "string" if x.dtype == object else x.dtype.name
        self.dtype, self.shape = _Dtype(path, of_dtype), Shape(x.shape if known else (None,) * x.ndim)


class _Dtype(_Step):
    """The dtype of an input."""

    __slots__ = ("name",)

    def __init__(self, path: _Path, name: str) -> None:
        super().__init__(path, f"tf.{name}")
        self.name = name


def _written(value: Any, path: _Path) -> str:
    """A value in a call as text; a function as the calls that it makes of arguments of its own.

    Raises:
      Untraceable: it is neither a literal nor an array nor a stand-in.
    """
    if isinstance(value, _Step | Text):
        return str(value)
    if isinstance(value, Index):
        return value.text(lambda part: _written(part, path))
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
    outer, path.lines, arguments = path.lines, list[str](), list[_Step]()
    for parameter in signature(function).parameters.values():
        if parameter.default is parameter.empty and parameter.kind is not parameter.VAR_KEYWORD:
            if parameter.kind is parameter.KEYWORD_ONLY:
                raise Untraceable(f"a function with {parameter.name}=")
            count = path.inputs if parameter.kind is parameter.VAR_POSITIONAL else 1
            arguments += [_Step(path, f"argument {len(arguments) + n}") for n in range(count)]
    result = _written(function(*arguments), path)
    text = f"function({'; '.join([*path.lines, result])})"
    path.lines = outer
    return text


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
    spec = case.spec
    tf = _Step(path, "tf")
    xs = [_Input(path, f"input {i}", x, known=not spec.execution.unknown_shapes) for i, x in enumerate(inputs)]
    state = spec.execution.state
    states = [state(tf, *xs, **accepted(state, case.keywords))] if state else []
    result = spec.program(tf, *states, *xs, **case.keywords)
    return "\n".join([*path.lines, *(_written(state, path) for state in states), _written(result, path)])
