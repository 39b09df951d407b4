"""Traced call: a program's results as expressions, found by running the program with symbols in place of tensors.

`partial(call, "Floor")(tf, x)` becomes `tf.raw_ops.Floor(x=x)`: helpers, closures and loops over calls vanish. The
program needs no TensorFlow for it. A program that looks at the values of its tensors can't be traced. A trace may be
wrong, as where a program asks whether a result is a tuple, so what is written by it has to be run.
"""

from __future__ import annotations

import ast
import inspect
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import FunctionType
from typing import Any

import numpy as np

from tf_opdiff.harness.repro.function_source import Unwritable
from tf_opdiff.harness.repro.program_writer import ProgramWriter
from tf_opdiff.harness.repro.writer import array_text

_BINARY = {
    **{"add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "pow": "**"},
    **{"matmul": "@", "and": "&", "or": "|", "xor": "^"},
}
_COMPARED = {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!="}
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

    def __getattr__(self, name: str) -> Symbol:
        if name.startswith("__"):
            raise AttributeError(name)
        return Symbol(self, Text(f".{name}"), computed=False, length=self.length)

    def __call__(self, *args: Any, **keywords: Any) -> Symbol:
        parts = [part for value in args for part in (Text(", "), value)]
        parts += [part for name, value in keywords.items() for part in (Text(f", {name}="), value)]
        first = [Text(parts[0].removeprefix(", "))] if parts else []
        return Symbol(self, Text("("), *first, *parts[1:], Text(")"), length=self.length)

    def __getitem__(self, index: Any) -> Symbol:
        return Symbol(self, Text("["), Index(index), Text("]"), length=self.length)

    def __iter__(self) -> Iterator[Symbol]:
        if self.length is None:
            raise Unwritable("the program iterates over a tensor")
        return iter([self[i] for i in range(self.length)])

    def __bool__(self) -> bool:
        raise Unwritable("the program looks at the value of a tensor")

    __len__ = __index__ = __int__ = __float__ = __array__ = __contains__ = __bool__  # type: ignore[assignment]

    def __hash__(self) -> int:
        return id(self)


class Text(str):
    """A text that stands for itself in an expression."""

    __slots__ = ()


class Index:
    """What stands between square brackets."""

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
        return Symbol(Text("("), first, Text(f" {text} "), second, Text(")"), length=self.length)

    return apply


def _unary(text: str) -> Callable[[Symbol], Symbol]:
    before, after = text.split("{}")
    return lambda self: Symbol(Text(f"({before}"), self, Text(f"{after})"), length=self.length)


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
        results = program(Symbol(Text("tf"), computed=False, length=outputs), *symbols, **keywords)
    except Exception as why:
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


def without_parentheses(text: str) -> str:
    """An expression without the parentheses that it does not need."""
    return ast.unparse(ast.parse(text, mode="eval"))


class TraceWriter(ProgramWriter):
    """Writes the expressions of symbols; functions among their arguments are traced in turn, and become lambdas."""

    def __init__(self, attributes: frozenset[str] = frozenset(), reserved: frozenset[str] = frozenset()) -> None:
        super().__init__(attributes, reserved)
        self.bound: dict[int, str] = {}

    def statements(self, values: Sequence[Any]) -> list[str]:
        """Assignments of what the values use more than once; `expression` then gives the names."""
        counts = Counter(id(s) for s in symbols_in(list(values)) if s.computed)
        lines: list[str] = []
        for symbol in self._ordered(values):
            if counts[id(symbol)] > 1 and id(symbol) not in self.bound:
                text = self.expression(symbol)
                self.bound[id(symbol)] = name = f"v{len(self.bound)}"
                lines.append(f"{name} = {without_parentheses(text)}")
        return lines

    @staticmethod
    def _ordered(values: Sequence[Any]) -> list[Symbol]:
        """The symbols in values, each after those that it uses."""
        ordered: dict[int, Symbol] = {}

        def visit(symbol: Symbol) -> None:
            if id(symbol) not in ordered:
                for inner in symbols_in(list(symbol.parts)):
                    if inner is not symbol:
                        visit(inner)
                ordered[id(symbol)] = symbol

        for symbol in symbols_in(list(values)):
            visit(symbol)
        return list(ordered.values())

    def expression(self, value: Any, name: str = "value") -> str:
        """An expression for a symbol or any other value. See `Writer.expression`."""
        if isinstance(value, Symbol):
            return self.bound.get(id(value)) or "".join(self._part(part) for part in value.parts)
        if isinstance(value, FunctionType) and value.__module__.startswith("tf_opdiff"):
            return self._lambda(value)
        if isinstance(value, np.ndarray):
            return array_text(value, self)
        return super().expression(value, name)

    def _part(self, part: Any) -> str:
        if isinstance(part, Text):
            return part
        return part.text(self.expression) if isinstance(part, Index) else self.expression(part)

    def _lambda(self, function: FunctionType) -> str:
        """A function of symbols as a lambda.

        Raises:
          Unwritable: it can't be traced.
        """
        parameters = [p for p in inspect.signature(function).parameters.values() if p.default is p.empty]
        if any(p.kind is not p.POSITIONAL_OR_KEYWORD for p in parameters):
            raise Unwritable("a function of any number of arguments can't be traced")
        names = [p.name for p in parameters]
        try:
            result = function(*(Symbol(Text(name), computed=False) for name in names))
        except Exception as why:
            raise Unwritable(f"a function in it can't be traced: {why}") from why
        return f"(lambda {', '.join(names)}: {self.expression(result)})"


