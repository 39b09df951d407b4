"""Traced call: a program's results as expressions, found by running the program with symbols in place of tensors.

`partial(call, "Floor")(tf, x)` becomes `tf.raw_ops.Floor(x=x)`: helpers, closures and loops over calls vanish. The
program needs no TensorFlow for it. A program that looks at the values of its tensors can't be traced. A trace may be
wrong, as where a program asks whether a result is a tuple, so what is written by it has to be run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from tf_opdiff.harness.repro.program_text.function_source import Unwritable
from tf_opdiff.harness.system.sudden_exit import sudden_exit_raises

_BINARY = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "truediv": "/",
    "floordiv": "//",
    "mod": "%",
    "pow": "**",
    "matmul": "@",
    "and": "&",
    "or": "|",
    "xor": "^",
}
_COMPARED = {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!="}
#: The ends of names of functions whose arguments are functions of arrays: nothing but TensorFlow may call these.
_OF_ARRAYS = (".numpy_function", ".py_function", ".py_func")
_UNARY = {"neg": "-{}", "pos": "+{}", "invert": "~{}", "abs": "abs({})"}


class Symbol:
    """A value in a trace: text, other symbols and literal values, one after the other.

    Attributes:
      parts: a text stands for itself, any other value for its expression.
      computed: whether it is the result of a call or of an operator.
      length: the number of elements if a program iterates over it; None if it may not.
    """

    __slots__ = ("computed", "length", "parts")
    __array_ufunc__ = None  # NumPy leaves operators to the symbol

    def __init__(self, *parts: Any, computed: bool = True, length: int | None = None) -> None:
        self.parts, self.computed, self.length = parts, computed, length

    def derived(self, *parts: Any, computed: bool = True) -> Symbol:
        """A value that the program gets from this one."""
        return Symbol(*parts, computed=computed, length=self.length)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self.derived(self, Text(f".{name}"), computed=False)

    def __call__(self, *args: Any, **keywords: Any) -> Symbol:
        if self.parts and self.parts[-1] in _OF_ARRAYS:
            raise Unwritable("a function of it runs in Python")
        parts = [part for value in args for part in (Text(", "), value)]
        parts += [part for name, value in keywords.items() for part in (Text(f", {name}="), value)]
        first = [Text(parts[0].removeprefix(", "))] if parts else []
        return self.derived(self, Text("("), *first, *parts[1:], Text(")"))

    def __getitem__(self, index: Any) -> Symbol:
        return self.derived(self, Text("["), Index(index), Text("]"))

    def __iter__(self) -> Iterator[Symbol]:
        if self.length is None:
            raise Unwritable("the program iterates over a tensor")
        return iter([self[i] for i in range(self.length)])

    def __bool__(self) -> bool:
        raise Unwritable("the program looks at the value of a tensor")

    __len__ = __index__ = __int__ = __float__ = __array__ = __contains__ = __bool__

    def __hash__(self) -> int:
        return id(self)


class Text(str):
    """A text that stands for itself in an expression."""

    __slots__ = ()


class Index:
    """The text between square brackets."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def text(self, written: Callable[[Any], str]) -> str:
        """The index as text, its values by a function that writes them."""
        if not isinstance(self.value, tuple):
            return self._one(self.value, written)
        return ", ".join(self._one(part, written) for part in self.value) + ("," if len(self.value) == 1 else "")

    @staticmethod
    def _one(part: Any, written: Callable[[Any], str]) -> str:
        if not isinstance(part, slice):
            return "..." if part is Ellipsis else written(part)
        begin, end, step = ("" if n is None else written(n) for n in (part.start, part.stop, part.step))
        return f"{begin}:{end}" + (f":{step}" if step else "")


def _operator(text: str, *, swapped: bool = False) -> Callable[..., Symbol]:
    def apply(self: Symbol, other: Any) -> Symbol:
        first, second = (other, self) if swapped else (self, other)
        return self.derived(Text("("), first, Text(f" {text} "), second, Text(")"))

    return apply


def _unary(text: str) -> Callable[[Symbol], Symbol]:
    before, after = text.split("{}")
    return lambda self: self.derived(Text(f"({before}"), self, Text(f"{after})"))


for _name, _text in {**_BINARY, **_COMPARED}.items():
    setattr(Symbol, f"__{_name}__", _operator(_text))
for _name, _text in _BINARY.items():
    setattr(Symbol, f"__r{_name}__", _operator(_text, swapped=True))
for _name, _text in _UNARY.items():
    setattr(Symbol, f"__{_name}__", _unary(_text))


class Shape(tuple[int, ...]):
    """The static shape of an input, as far as programs ask for it."""

    @property
    def rank(self) -> int:
        """The number of axes."""
        return len(self)

    ndims = rank

    def as_list(self) -> list[int]:
        """The sizes of the axes."""
        return list(self)


class Input(Symbol):
    """An input of a program, whose shape is known."""

    __slots__ = ("shape",)

    def __init__(self, name: str, shape: Sequence[int], length: int) -> None:
        super().__init__(Text(name), computed=False, length=length)
        self.shape = Shape(shape)


def traced(
    program: Callable[..., Any], inputs: Mapping[str, np.ndarray], keywords: Mapping[str, Any], outputs: int
) -> list[Any]:
    """The results of a program as symbols, literal values, or None.

    Args:
      program: takes TensorFlow, the inputs, and keyword arguments.
      inputs: by their names in the expressions.
      keywords: the keyword arguments.
      outputs: the number of the program's results; a list of tensors over which it iterates has as many.

    Raises:
      Unwritable: it can't be traced; the message says why.
    """
    symbols = [Input(name, array.shape, outputs) for name, array in inputs.items()]
    try:
        with sudden_exit_raises():
            results = program(Symbol(Text("tf"), computed=False, length=outputs), *symbols, **keywords)
    except (Exception, SystemExit) as why:
        raise Unwritable(f"its program can't be traced: {why}") from why
    return list(results) if isinstance(results, (list, tuple)) else [results]


def symbols_in(value: Any) -> Iterator[Symbol]:
    """The symbols in a value, each as often as it occurs, and those in them once; without those in functions."""
    seen: set[int] = set()
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, Symbol):
            yield one
            if id(one) not in seen:
                seen.add(id(one))
                waiting += one.parts
        elif isinstance(one, Index):
            waiting.append(one.value)
        elif isinstance(one, (list, tuple)):
            waiting += one
        elif isinstance(one, dict):
            waiting += one.values()
        elif isinstance(one, slice):
            waiting += [one.start, one.stop, one.step]
