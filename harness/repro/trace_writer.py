"""Trace writer: traced results as Python text; functions among the arguments of their calls become lambdas."""

from __future__ import annotations

import ast
import inspect
from collections import Counter
from collections.abc import Sequence
from types import FunctionType
from typing import Any

import numpy as np

from tf_opdiff.harness.repro.program_text.function_source import Unwritable
from tf_opdiff.harness.repro.program_text.program_writer import ProgramWriter
from tf_opdiff.harness.repro.program_text.undefined_names import is_importable
from tf_opdiff.harness.repro.short_programs.array_text import array_text
from tf_opdiff.harness.repro.short_programs.traced_call import Index, Symbol, Text, symbols_in


def without_parentheses(text: str) -> str:
    """An expression without the parentheses that it does not need."""
    return ast.unparse(ast.parse(text, mode="eval"))


class TraceWriter(ProgramWriter):
    """Writes the expressions of symbols; functions among their arguments are traced in turn, and become lambdas."""

    def __init__(self, attributes: frozenset[str] = frozenset(), reserved: frozenset[str] = frozenset()) -> None:
        super().__init__(attributes, reserved)
        self.bound: dict[int, str] = {}

    def statements(self, values: Sequence[Any]) -> list[str]:
        """Assignments of the subexpressions that occur more than once; `expression` then gives their names."""
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
        if isinstance(value, FunctionType) and not is_importable(value.__module__):
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
