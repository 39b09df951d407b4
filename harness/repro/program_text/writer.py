"""Writer: Python functions as text that stands alone, with everything that they use.

Programs of specs are lambdas and inner functions, which use names around them. The text defines the same function at
its top level: before it come constants as literals, and the functions that it uses.
"""

from __future__ import annotations

import ast
import functools
import inspect
import math
import re
import sys
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from tf_opdiff.harness.repro.program_text.function_source import (
    Unwritable,
    class_node_of,
    copied,
    methods_of,
    node_of,
    outside_names,
)
from tf_opdiff.harness.repro.program_text.undefined_names import is_importable
from tf_opdiff.harness.repro.short_programs.array_text import literal


class Writer:
    """Collects definitions, each after those that it needs; `text` is all of them."""

    def __init__(self) -> None:
        self.imports: dict[str, str] = {}
        self.parts: list[str] = []
        self._names: dict[str, object] = {"tf": None, "np": np}
        self._functions: dict[FunctionType, str] = {}

    @property
    def text(self) -> str:
        """The definitions, in order."""
        return "\n\n\n".join(self.parts) + "\n"

    def function(self, function: Callable[..., Any], name: str = "") -> str:
        """Defines a function, unless that is done; returns its name there, which is `name` or its own with a number.

        Raises:
          Unwritable: it has no source, or uses a value that has no literal.
        """
        if isinstance(function, functools.partial):
            return self._value(function, name or "function")
        if not isinstance(function, FunctionType):
            raise Unwritable(f"{function!r} is no plain function")
        module, own_name = function.__module__, function.__name__
        if is_importable(module) and getattr(sys.modules.get(module), own_name, None) is function:
            self.imports[module] = module
            return f"{module}.{own_name}"
        if function in self._functions:
            return self._functions[function]
        node, text = node_of(function)
        preferred = name or (function.__name__ if isinstance(node, ast.FunctionDef) else "function")
        mine = self._functions[function] = self._free(preferred, function)
        renamed = self._outside(function)
        defaults = function.__defaults__ or function.__kwdefaults__
        if renamed or defaults or isinstance(node, ast.Lambda) or mine != node.name:
            definition = as_def(node, function, mine, self)
            text = ast.unparse(ast.fix_missing_locations(_Renamed(renamed).visit(definition)))
        self.parts.append(text)
        return mine

    def _outside(self, function: FunctionType) -> dict[str, str]:
        """Defines the outside names that a function uses; returns those that have another name in the text."""
        renamed = {}
        for other, value in outside_names(function):
            defined = self.function(value, other) if isinstance(value, FunctionType) else self._bound(other, value)
            renamed.update({other: defined} if defined != other else {})
        return renamed

    def _class(self, cls: type) -> str:
        """Defines a class of the project, with what its methods use; returns its name in the text."""
        mine, node = self._free(cls.__name__, cls), class_node_of(cls)
        renamed = {cls.__name__: mine, "dataclass": "dataclasses.dataclass", "field": "dataclasses.field"}
        for method in methods_of(cls):
            renamed |= self._outside(method)
        if is_dataclass(cls):
            self.imports["dataclasses"] = "dataclasses"
        node.name = mine
        self.parts.append(ast.unparse(ast.fix_missing_locations(_Renamed(renamed).visit(node))))
        return mine

    def _free(self, name: str, value: object) -> str:
        """The name, with a number if it stands for another value."""
        number, base = 2, name
        while name in self._names and self._names[name] is not value:
            name, number = f"{base}_{number}", number + 1
        self._names[name] = value
        return name

    def _bound(self, name: str, value: object) -> str:
        """Defines a value or a class of the project, or imports a module; returns its name."""
        if isinstance(value, type) and _is_of_a_program(value):
            return next((n for n, v in self._names.items() if v is value), "") or self._class(value)
        if isinstance(value, ModuleType) and not value.__name__.startswith("tf_opdiff"):
            self.imports[name] = value.__name__
            return self._free(name, value)
        return self._value(value, name)

    def _value(self, value: object, name: str) -> str:
        defined = next((n for n, v in self._names.items() if v is value and value is not None), None)
        if defined:
            return defined
        text = self.expression(value, name)
        if text.isidentifier():
            return text
        mine = self._free(name, value)
        self.parts.append(f"{mine} = {text}")
        return mine

    def expression(self, value: Any, name: str = "value") -> str:
        """An expression for the value.

        Raises:
          Unwritable: there is none.
        """
        if isinstance(value, float) and not math.isfinite(value):
            return f'float("{value}")'
        if value is None or value is Ellipsis or isinstance(value, (bool, int, float, complex, str, bytes)):
            return repr(value) if type(value).__module__ == "builtins" else literal(np.asarray(value))
        if isinstance(value, (list, tuple, set)):
            inner = ", ".join(self.expression(v, name) for v in value)
            if isinstance(value, tuple):
                return f"({inner}{',' if len(value) == 1 else ''})"
            return f"[{inner}]" if isinstance(value, list) else f"{{{inner}}}" if value else "set()"
        if isinstance(value, dict):
            return (
                "{" + ", ".join(f"{self.expression(k)}: {self.expression(v, str(k))}" for k, v in value.items()) + "}"
            )
        if isinstance(value, np.dtype):
            return f"np.dtype({value.name!r})"
        if isinstance(value, (np.ndarray, np.generic)):
            return literal(np.asarray(value))
        if isinstance(value, type) and value.__module__ in ("builtins", "numpy"):
            return f"np.{value.__name__}" if value.__module__ == "numpy" else value.__name__
        if isinstance(value, type) and issubclass(value, Exception):
            name = self._free(value.__name__, value)
            self.parts.append(f"class {name}({', '.join(b.__name__ for b in value.__bases__)}):\n    pass")
            return name
        if isinstance(value, np.ufunc):
            return f"np.{value.__name__}"
        module, own_name = (str(getattr(value, n, "")) for n in ("__module__", "__name__"))
        if inspect.isbuiltin(value) and getattr(sys.modules.get(module), own_name, None) is value:
            self.imports[module] = module
            return f"{module}.{own_name}"
        if isinstance(value, functools.partial):
            self.imports["functools"] = "functools"
            arguments = [self.expression(v) for v in value.args]
            arguments += [f"{k}={self.expression(v, k)}" for k, v in value.keywords.items()]
            return f"functools.partial({', '.join([self.expression(value.func, name), *arguments])})"
        if isinstance(value, FunctionType):
            return self.function(value, re.sub(r"\W", "_", name))
        if is_dataclass(value) and not isinstance(value, type):
            self.imports["types"] = "types"
            arguments = [f"{f.name}={self._field(getattr(value, f.name), f.name)}" for f in fields(value)]
            return f"types.SimpleNamespace({', '.join(arguments)})"
        if isinstance(value, ModuleType):
            raise Unwritable(f"module {value.__name__} is the project's own")
        raise Unwritable(f"{name} is a {type(value).__name__}")

    def _field(self, value: Any, name: str) -> str:
        try:
            return self.expression(value, name)
        except Unwritable:
            return "None"


def _is_of_a_program(cls: type) -> bool:
    """Whether a class is the project's own and can be a part of a program, as promises and exceptions are not."""
    module = cls.__module__
    ours = module.startswith("tf_opdiff.") and not module.startswith("tf_opdiff.harness.spec.")
    return ours and not issubclass(cls, Exception)


def as_def(node: ast.FunctionDef | ast.Lambda, function: FunctionType, name: str, writer: Writer) -> ast.FunctionDef:
    """The node as a `def` of this name, with its defaults as literals."""
    arguments = copied(node.args)
    for part in ast.walk(arguments):
        if isinstance(part, ast.arg):
            part.annotation = None  # it may use a name that the text does not define
    positional = [*arguments.posonlyargs, *arguments.args]
    names = [a.arg for a in positional[len(positional) - len(arguments.defaults) :]]
    values = [writer.expression(v, n) for n, v in zip(names, function.__defaults__ or (), strict=True)]
    arguments.defaults = [ast.parse(v, mode="eval").body for v in values]
    for i, argument in enumerate(arguments.kwonlyargs):
        default = (function.__kwdefaults__ or {}).get(argument.arg, inspect.Parameter.empty)
        if default is not inspect.Parameter.empty:
            arguments.kw_defaults[i] = ast.parse(writer.expression(default, argument.arg), mode="eval").body
    body: list[ast.stmt] = [ast.Return(node.body)] if isinstance(node, ast.Lambda) else node.body
    definition = ast.parse(f"def {name}(): pass").body[0]
    assert isinstance(definition, ast.FunctionDef)
    definition.args = arguments
    definition.body = [copied(statement) for statement in body]  # names change for each function, not in the cache
    return definition


class _Renamed(ast.NodeTransformer):
    """Renames outside names; assumes that no argument hides one of them."""

    def __init__(self, names: dict[str, str]) -> None:
        self.names = names

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.copy_location(ast.Name(self.names.get(node.id, node.id), node.ctx), node)
