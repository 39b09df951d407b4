"""Source: a function's Python as a text that stands alone, with all that it names.

Programs of specs are lambdas and functions in functions, and name what is around them. The text defines the same
function at its top level: what it names comes before it, constants as literals, functions as their own source.
"""

from __future__ import annotations

import ast
import copy
import dis
import functools
import hashlib
import inspect
import math
import re
import sys
import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields, is_dataclass
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from tf_opdiff.harness.spec.spec import Spec


class Unwritable(Exception):
    """What a function names can't be written down; the message says what."""


def digest(spec: Spec) -> str:
    """A hash of what a spec runs: its program and state with all that they name, however it is written down."""
    functions = tuple(filter(None, (spec.program, spec.state)))
    files = (path.read_text() for path in spec.files)
    return hashed(written(functions), *files, repr((spec.steps, spec.elementwise, spec.sessions)))


def hashed(*parts: str) -> str:
    """A hash of texts, as 16 hexadecimal digits."""
    return hashlib.blake2b("\n".join(parts).encode(), digest_size=8).hexdigest()


def written(functions: Sequence[Callable[..., Any]]) -> str:
    """The source of functions with all that they name, without comments, however it is laid out.

    Where they name what has no literal, it is the source of their modules, which say what that is; of a function that
    is not written in Python, its name.
    """
    writer = Writer()
    try:
        for function in functions:
            writer.function(function)
        return ast.unparse(ast.parse(writer.text))
    except Unwritable:
        texts = (
            inspect.getsource(sys.modules[f.__module__])
            if isinstance(f, FunctionType)
            else f"{getattr(f, '__module__', '')}.{getattr(f, '__name__', repr(f))}"
            for f in functions
        )
        return "\n".join(dict.fromkeys(texts))


def source_of(function: FunctionType) -> str:
    """A function's own source, without comments, however it is laid out."""
    try:
        return ast.unparse(_node(function)[0])
    except Unwritable:  # it is decorated
        return inspect.getsource(function)


class Writer:
    """Gathers definitions, each after what it needs; `text` is all of them."""

    def __init__(self) -> None:
        self.imports: dict[str, str] = {}
        self.parts: list[str] = []
        self._names: dict[str, object] = {"tf": None, "np": np}
        self._functions: dict[int, str] = {}

    @property
    def text(self) -> str:
        """The definitions, in order."""
        return "\n\n\n".join(self.parts) + "\n"

    def function(self, function: Callable[..., Any], name: str = "") -> str:
        """Writes a function down, unless it is there; returns its name, which is like `name` or its own.

        Raises:
          Unwritable: it has no source, or names something that has no literal.
        """
        if isinstance(function, functools.partial):
            return self._value(function, name or "function")
        if not isinstance(function, FunctionType):
            raise Unwritable(f"{function!r} is no plain function")
        if id(function) in self._functions:
            return self._functions[id(function)]
        node, text = _node(function)
        wanted = name or (function.__name__ if isinstance(node, ast.FunctionDef) else "function")
        mine = self._functions[id(function)] = self._free(wanted, function)
        renamed = {}
        for other, value in named(function):
            found = self.function(value, other) if isinstance(value, FunctionType) else self._bound(other, value)
            renamed.update({other: found} if found != other else {})
        made = _as_def(node, function, mine, self)
        if renamed or isinstance(node, ast.Lambda) or mine != node.name or _has_defaults(function):
            text = ast.unparse(ast.fix_missing_locations(_Renamed(renamed).visit(made)))
        self.parts.append(text)
        return mine

    def _free(self, name: str, value: object) -> str:
        """The name, numbered where another thing has it."""
        number, wanted = 2, name
        while name in self._names and self._names[name] is not value:
            name, number = f"{wanted}_{number}", number + 1
        self._names[name] = value
        return name

    def _bound(self, name: str, value: object) -> str:
        """The name under which a value is defined; a module is imported."""
        if isinstance(value, ModuleType) and not value.__name__.startswith("tf_opdiff"):
            self.imports[name] = value.__name__
            return self._free(name, value)
        return self._value(value, name)

    def _value(self, value: object, name: str) -> str:
        same = next((n for n, v in self._names.items() if v is value and value is not None), None)
        if same:
            return same
        text = self.expression(value, name)
        if text.isidentifier():
            return text
        mine = self._free(name, value)
        self.parts.append(f"{mine} = {text}")
        return mine

    def expression(self, value: Any, name: str = "value") -> str:
        """An expression that gives the value.

        Raises:
          Unwritable: there is none.
        """
        if isinstance(value, float) and not math.isfinite(value):
            return f'float("{value}")'
        if value is None or value is Ellipsis or isinstance(value, (bool, int, float, complex, str, bytes)):
            return repr(value) if type(value).__module__ == "builtins" else self._array(np.asarray(value))
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
            return self._array(np.asarray(value))
        if isinstance(value, type) and value.__module__ in ("builtins", "numpy"):
            return f"np.{value.__name__}" if value.__module__ == "numpy" else value.__name__
        if isinstance(value, type) and issubclass(value, Exception):
            name = self._free(value.__name__, value)
            self.parts.append(f"class {name}({', '.join(b.__name__ for b in value.__bases__)}):\n    pass")
            return name
        if isinstance(value, np.ufunc):
            return f"np.{value.__name__}"
        module, name_there = (str(getattr(value, n, "")) for n in ("__module__", "__name__"))
        if inspect.isbuiltin(value) and getattr(sys.modules.get(module), name_there, None) is value:
            self.imports[module] = module
            return f"{module}.{name_there}"
        if isinstance(value, functools.partial):
            self.imports["functools"] = "functools"
            given = [self.expression(v) for v in value.args]
            given += [f"{k}={self.expression(v, k)}" for k, v in value.keywords.items()]
            return f"functools.partial({', '.join([self.expression(value.func, name), *given])})"
        if isinstance(value, FunctionType):
            return self.function(value, re.sub(r"\W", "_", name))
        if is_dataclass(value) and not isinstance(value, type):
            self.imports["types"] = "types"
            given = [f"{f.name}={self._field(getattr(value, f.name), f.name)}" for f in fields(value)]
            return f"types.SimpleNamespace({', '.join(given)})"
        if isinstance(value, ModuleType):
            raise Unwritable(f"module {value.__name__} is the project's own")
        raise Unwritable(f"{name} is a {type(value).__name__}")

    def _field(self, value: Any, name: str) -> str:
        try:
            return self.expression(value, name)
        except Unwritable:
            return "None"

    @staticmethod
    def _array(array: np.ndarray) -> str:
        """A NumPy array, of a dtype that NumPy has by itself."""
        if array.dtype.kind not in "biufcSUO" or array.size > 1000:
            raise Unwritable(f"an array of {array.size} {array.dtype.name}")
        if array.dtype.kind == "c":  # a literal would lose the signs of zeros
            parts = Writer._array(array.reshape(-1, 1).view(f"f{array.dtype.itemsize // 2}"))
            return f"{parts}.view({array.dtype.name!r}).reshape({array.shape})"
        with np.printoptions(threshold=2000, floatmode="unique", precision=None):
            text = np.array2string(array, separator=", ", max_line_width=110).replace("\n", " ")
        text = re.sub(r"\bnan\b", "np.nan", re.sub(r"\binf\b", "np.inf", re.sub(r"\s+", " ", text)))
        return f"np.array({text}, {'object' if array.dtype == object else repr(array.dtype.name)})"


def _has_defaults(function: FunctionType) -> bool:
    return bool(function.__defaults__ or function.__kwdefaults__)


def named(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """What a function and the functions in it name outside of them: (name, what it is), builtins left out."""
    free = inspect.getclosurevars(function).nonlocals
    yield from free.items()
    for name in dict.fromkeys(_globals(function.__code__)):
        if name in function.__globals__ and name not in free:
            yield name, function.__globals__[name]


def _globals(code: CodeType) -> Iterator[str]:
    for instruction in dis.get_instructions(code):
        if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            yield instruction.argval
    for inner in filter(inspect.iscode, code.co_consts):
        yield from _globals(inner)


@functools.cache
def _parsed(path: str) -> tuple[list[bytes], list[ast.FunctionDef | ast.Lambda]]:
    """The lines of a file, and the functions in it."""
    with open(path, "rb") as file:
        text = file.read()
    tree = ast.parse(text)
    return text.splitlines(), [n for n in ast.walk(tree) if isinstance(n, (ast.FunctionDef, ast.Lambda))]


def _segment(lines: list[bytes], node: ast.FunctionDef | ast.Lambda) -> str:
    """The source of a node, its first line padded: `ast.get_source_segment` splits the whole file at each call."""
    assert node.end_lineno is not None
    found = lines[node.lineno - 1 : node.end_lineno]
    found[-1] = found[-1][: node.end_col_offset]
    found[0] = b" " * node.col_offset + found[0][node.col_offset :]
    return b"\n".join(found).decode()


def _node(function: FunctionType) -> tuple[ast.FunctionDef | ast.Lambda, str]:
    """The syntax tree of a function, which may be one of several lambdas on a line, and its source, dedented."""
    code = function.__code__
    try:
        source, nodes = _parsed(code.co_filename)
    except OSError as error:
        raise Unwritable(f"{function.__name__} has no source") from error
    lines = [p for p in code.co_positions() if p[0] is not None and p[2] is not None and p[1] is not None]
    spans = [(p[0], p[2]) for p in lines if (p[0], p[2]) != (code.co_firstlineno, 0)]
    fit = []
    for node in nodes:
        is_lambda = isinstance(node, ast.Lambda)
        if is_lambda != (function.__name__ == "<lambda>"):
            continue
        first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])
        if first != code.co_firstlineno or getattr(node, "name", code.co_name) != code.co_name:
            continue
        begin, end = (node.lineno, node.col_offset), (node.end_lineno or 0, node.end_col_offset or 0)
        if not is_lambda or all(begin <= s < end for s in spans):
            fit.append((end, node))
    if not fit:
        raise Unwritable(f"the source of {function.__name__} is not found")
    node = min(fit, key=lambda f: f[0])[1]
    if not isinstance(node, ast.Lambda) and node.decorator_list:
        raise Unwritable(f"{function.__name__} is decorated")
    return node, textwrap.dedent(_segment(source, node))


def _as_def(node: ast.FunctionDef | ast.Lambda, function: FunctionType, name: str, writer: Writer) -> ast.FunctionDef:
    """The node as a `def` of that name, its defaults as literals."""
    arguments = copy.deepcopy(node.args)
    for part in ast.walk(arguments):
        if isinstance(part, ast.arg):
            part.annotation = None  # it may name what the text does not define
    positional = [*arguments.posonlyargs, *arguments.args]
    names = [a.arg for a in positional[len(positional) - len(arguments.defaults) :]]
    values = [writer.expression(v, n) for n, v in zip(names, function.__defaults__ or (), strict=True)]
    arguments.defaults = [ast.parse(v, mode="eval").body for v in values]
    for i, argument in enumerate(arguments.kwonlyargs):
        given = (function.__kwdefaults__ or {}).get(argument.arg, inspect.Parameter.empty)
        if given is not inspect.Parameter.empty:
            arguments.kw_defaults[i] = ast.parse(writer.expression(given, argument.arg), mode="eval").body
    body: list[ast.stmt] = [ast.Return(node.body)] if isinstance(node, ast.Lambda) else node.body
    made = ast.parse(f"def {name}(): pass").body[0]
    assert isinstance(made, ast.FunctionDef)
    made.args, made.body = arguments, copy.deepcopy(body)  # what was parsed is kept, and renamed for each function
    return made


class _Renamed(ast.NodeTransformer):
    """Other names for what stands outside; arguments of the same name are not expected to hide it."""

    def __init__(self, names: dict[str, str]) -> None:
        self.names = names

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.copy_location(ast.Name(self.names.get(node.id, node.id), node.ctx), node)
