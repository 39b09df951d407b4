"""Program writer: Python functions as text that runs with TensorFlow and NumPy alone.

Of a dataclass, the text has the fields and methods whose names its functions use: other fields, such as a reference,
may need more than TensorFlow and NumPy. Which names these are is known at the end, as are the names that a template
defines around the text; so a program is written again until it uses nothing more, and hides nothing. See `complete`.
"""

from __future__ import annotations

import ast
import builtins
import copy
import functools
import importlib
import inspect
import sys
import textwrap
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import fields, is_dataclass
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from tf_opdiff.harness.repro.program_text.function_source import Unwritable, class_node_of, methods_of, node_of
from tf_opdiff.harness.repro.program_text.renaming import Renamed, Unannotated, bound_names
from tf_opdiff.harness.repro.program_text.undefined_names import faults, is_importable
from tf_opdiff.harness.repro.program_text.writer import Writer, as_def
from tf_opdiff.harness.repro.short_programs.array_text import dtype_text

#: Modules that an expression may name: no definition takes their names.
_MODULES = ("base64", "dataclasses", "functools", "os", "sys", "types", "zlib")
#: Methods that no program calls by name, and that a namespace has or does not need.
_CONSTRUCTORS = frozenset({"__init__", "__post_init__", "__new__", "__init_subclass__"})


class ProgramWriter(Writer):
    """Writes programs to run; `Writer` writes them to be compared.

    Attributes:
      attributes: the names after a dot in the functions so far.
    """

    def __init__(self, attributes: frozenset[str] = frozenset(), reserved: frozenset[str] = frozenset()) -> None:
        """Takes the attributes that the program uses, and names that are defined elsewhere in it."""
        super().__init__()
        self._used, self.attributes = attributes, set[str]()
        self._names |= {name: object() for name in reserved}
        self._names |= {name: importlib.import_module(name) for name in _MODULES}
        self._names |= {name: value for name, value in vars(builtins).items() if not name.startswith("_")}
        self._names |= {"tf": None, "np": np}
        self._reserved = frozenset(self._names)
        self._classes: dict[type, str] = {}

    @property
    def defined(self) -> frozenset[str]:
        """The names that the text defines."""
        return frozenset(self._names) - self._reserved

    @property
    def import_lines(self) -> list[str]:
        """The imports that the text needs besides TensorFlow and NumPy, sorted."""
        pairs = {(module, "" if name == module else name) for name, module in self.imports.items()}
        others = sorted(pair for pair in pairs if pair not in (("numpy", "np"), ("tensorflow", "tf")))
        return [f"import {module} as {name}" if name else f"import {module}" for module, name in others]

    def function(self, function: Callable[..., Any], name: str = "") -> str:
        """Defines a function, unless that is done; returns its name in the text. See `Writer.function`."""
        if isinstance(function, functools.partial):
            mine = self._free(name or "function", function)
            text = self.expression(function, mine)
            self.parts.append(f"{mine} = {text}")
            return mine
        if not isinstance(function, FunctionType):
            raise Unwritable(f"{function!r} is no plain function")
        if function in self._functions:
            return self._functions[function]
        if imported := self._imported(function):
            return imported
        node, source = node_of(function)
        preferred = name or (function.__name__ if isinstance(node, ast.FunctionDef) else "function")
        mine = self._functions[function] = self._free(preferred, function)
        definition = self._renamed(as_def(node, function, mine, self), self._outside(function))
        same = isinstance(node, ast.FunctionDef) and ast.dump(definition) == ast.dump(node)
        self.parts.append(source if same else ast.unparse(definition))
        return mine

    def _renamed(self, node: ast.stmt, names: dict[str, str]) -> ast.stmt:
        """A definition without annotations, with other outside names; notes the attributes that it uses."""
        self.attributes |= {part.attr for part in ast.walk(node) if isinstance(part, ast.Attribute)}
        return ast.fix_missing_locations(Renamed(names).visit(Unannotated().visit(node)))

    def _class(self, cls: type) -> str:
        mine, node = self._free(cls.__name__, cls), class_node_of(cls)
        renamed = {cls.__name__: mine, **_IN_MODULES}
        for method in filter(lambda method: self._has(method.__name__), methods_of(cls)):
            renamed |= self._outside(method)
        node.body = [part for part in node.body if not isinstance(part, ast.FunctionDef) or self._has(part.name)]
        if module := "typing" if issubclass(cls, tuple) else "dataclasses" if is_dataclass(cls) else "":
            self.imports[module] = module
        node.name = mine
        self.parts.append(ast.unparse(self._renamed(node, renamed)))
        return mine

    def _bound(self, name: str, value: object) -> str:
        if isinstance(value, ModuleType) and not value.__name__.startswith("tf_opdiff"):
            return self._module(value, name)
        return super()._bound(name, value)

    def _module(self, module: ModuleType, name: str) -> str:
        """Imports a module; returns its name in the text."""
        if not is_importable(module.__name__):
            raise Unwritable(f"it uses {module.__name__}, which is not part of TensorFlow, NumPy or Python")
        mine = self._free(name, module)
        self.imports[mine] = module.__name__
        return mine

    def _value(self, value: object, name: str) -> str:
        if isinstance(value, (bool, int, float, complex, str, bytes)):  # equal numbers are not the same thing
            mine = self._free(name, value)
            if f"{mine} = {(text := self.expression(value, name))}" not in self.parts:
                self.parts.append(f"{mine} = {text}")
            return mine
        return super()._value(value, name)

    def expression(self, value: Any, name: str = "value") -> str:
        """An expression for the value. See `Writer.expression`."""
        if isinstance(value, np.generic):
            value = np.asarray(value)
        if isinstance(value, np.ndarray) and not value.size and value.ndim > 1:  # a literal would lose the shape
            dtype = repr(value.dtype.name) if value.dtype.kind in "biufc" else dtype_text(value.dtype)
            return f"np.zeros({value.shape}, {dtype})"
        if isinstance(value, np.ufunc) and getattr(np, value.__name__, None) is not value:
            raise Unwritable(f"it uses {value.__name__}, which is no function of NumPy")
        if (callable(value) or isinstance(value, type)) and (imported := self._imported(value)):
            return imported
        if _is_of_project(type(value)) and not isinstance(value, (type, tuple, np.ndarray, Exception)):
            return self._namespace(value)
        return super().expression(value, name)

    def _imported(self, value: Any) -> str:
        """The name of a function or class of Python, NumPy or ml_dtypes, which is imported; empty for any other."""
        module, path = (getattr(value, name, None) for name in ("__module__", "__qualname__"))
        if not isinstance(module, str) or not isinstance(path, str) or module in ("builtins", "__main__"):
            return ""
        if getattr(np, path, None) is value:
            return f"np.{path}"
        owner = sys.modules.get(module)
        if not is_importable(module) or owner is None or getattr(owner, path, None) is not value:
            return ""
        return f"{self._module(owner, module.replace('.', '_'))}.{path}"

    def _has(self, method: str) -> bool:
        """Whether a class has a method of this name in the text."""
        return method in self._used or method.startswith("__")

    def _namespace(self, value: Any) -> str:
        """An object with the fields and the methods that the program uses; of a property, it has the value."""
        names = [f.name for f in fields(value)] if is_dataclass(value) else list(getattr(value, "__dict__", {}))
        names += [name for name, member in _members(type(value)) if isinstance(member, _PROPERTIES)]
        arguments = []
        for name in dict.fromkeys(names):
            if name in self._used:
                with suppress(Exception), self._restored():  # a property may raise any error
                    arguments.append(f"{name}={self.expression(getattr(value, name), name)}")
        return f"{self._kind(type(value))}({', '.join(arguments)})"

    def _kind(self, cls: type) -> str:
        """The class of a namespace: `types.SimpleNamespace`, or a class with the methods that the program uses."""
        self.imports["types"] = "types"
        if cls not in self._classes:
            self._classes[cls] = self._free(cls.__name__, self._classes)
            methods = [text for name, member in _members(cls) if (text := self._method(name, member))]
            if methods:
                body = textwrap.indent("\n\n".join(methods), "    ")
                self.parts.append(f"class {self._classes[cls]}(types.SimpleNamespace):\n{body}")
            else:
                self._classes[cls] = "types.SimpleNamespace"
        return self._classes[cls]

    def _method(self, name: str, member: object) -> str:
        """The text of a method that the program uses; empty if it uses none of this name, or it can't be written."""
        decorator = next((text for kind, text in _DECORATORS.items() if isinstance(member, kind)), "")
        function = getattr(member, "__func__", member)
        if not isinstance(function, FunctionType) or not self._has(name) or name in _CONSTRUCTORS:
            return ""
        with suppress(Unwritable), self._restored():
            node, _ = node_of(function, decorated=True)
            definition = as_def(node, function, name, self)
            return decorator + ast.unparse(self._renamed(definition, self._outside(function)))
        return ""

    @contextmanager
    def _restored(self) -> Iterator[None]:
        """Forgets the definitions made inside if one can't be written."""
        before = {name: copy.copy(getattr(self, name)) for name in _STATE}
        try:
            yield
        except Exception:
            for name, value in before.items():
                state = getattr(self, name)
                state.clear()
                (state.extend if isinstance(state, list) else state.update)(value)
            raise


_STATE = ("imports", "parts", "attributes", "_names", "_functions", "_classes")
#: The kind of a member of a class → the decorator that makes it.
_DECORATORS = {classmethod: "@classmethod\n", staticmethod: "@staticmethod\n"}
_PROPERTIES = (property, functools.cached_property)
_IN_MODULES = {"dataclass": "dataclasses.dataclass", "field": "dataclasses.field", "NamedTuple": "typing.NamedTuple"}


def _is_of_project(cls: type) -> bool:
    return cls.__module__.startswith("tf_opdiff.")


def _members(cls: type) -> Iterator[tuple[str, object]]:
    """The members of the project's classes that a class is or inherits from; those that dataclasses add left out."""
    for name in dict.fromkeys(name for base in cls.__mro__ if _is_of_project(base) for name in vars(base)):
        member = inspect.getattr_static(cls, name)
        code = getattr(member, "__code__", None)
        if code is None or code.co_filename != "<string>":
            yield name, member


def complete(build: Callable[[Any], str], kind: type[ProgramWriter] = ProgramWriter) -> str:
    """The text of a program, by a function that writes it with the help of a writer of this kind.

    Raises:
      Unwritable: it can't run with TensorFlow and NumPy alone; the message says why.
    """
    used, reserved = frozenset[str](), frozenset[str]()
    while True:
        text = build(writer := kind(used, reserved))
        hidden = writer.defined & _bound_twice(text)
        if writer.attributes <= used and not hidden:
            break
        used, reserved = used | writer.attributes, reserved | hidden
    if reasons := faults(text):
        raise Unwritable(reasons[0])
    return text


def _bound_twice(text: str) -> frozenset[str]:
    """The names that several statements at the top level of a program bind."""
    counts = Counter(name for statement in ast.parse(text).body for name in bound_names(statement))
    return frozenset(name for name, count in counts.items() if count > 1)
