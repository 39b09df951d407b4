"""Function source: the source and syntax tree of a Python function, and the outside names that it uses."""

from __future__ import annotations

import ast
import dis
import functools
import inspect
import textwrap
from collections.abc import Iterator
from types import CodeType, FunctionType
from typing import Any, TypeVar

_Node = TypeVar("_Node", bound=ast.AST)


class Unwritable(Exception):
    """A function cannot be written as text that stands alone; the message says why."""


@functools.cache
def source_of(function: FunctionType) -> str:
    """A function's own source; comments and layout do not matter."""
    try:
        return ast.unparse(node_of(function)[0])
    except Unwritable:  # a decorated function
        return inspect.getsource(function)


def outside_names(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """The (name, value) pairs from outside that a function, or a function in it, uses; without builtins."""
    free = inspect.getclosurevars(function).nonlocals
    yield from free.items()
    for name in _globals(function.__code__):  # not those that pytest adds to assertions, such as @pytest_ar
        if name in function.__globals__ and name not in free and name.isidentifier():
            yield name, function.__globals__[name]


def methods_of(cls: type) -> Iterator[FunctionType]:
    """The functions in the body of a class: methods, and those behind properties and class methods."""
    for member in vars(cls).values():
        inner = getattr(member, "fget", None) or getattr(member, "__func__", member)
        if isinstance(inner, FunctionType) and inner.__code__.co_filename == inspect.getsourcefile(cls):
            yield inner


def class_node_of(cls: type) -> ast.ClassDef:
    """The syntax tree of a class, without annotations: they may use names that the text does not define.

    Raises:
      Unwritable: there is no source.
    """
    try:
        node = ast.parse(_class_source(cls)).body[0]
    except (OSError, TypeError) as error:
        raise Unwritable(f"{cls.__name__} has no source") from error
    assert isinstance(node, ast.ClassDef)
    for part in ast.walk(node):
        if isinstance(part, ast.arg):
            part.annotation = None
        elif isinstance(part, ast.FunctionDef):
            part.returns = None
        elif isinstance(part, ast.AnnAssign):
            part.annotation = ast.Name("object", ast.Load())  # a field of a dataclass needs one
    return node


@functools.cache
def _class_source(cls: type) -> str:
    """The dedented source of a class; `inspect` parses the whole file at each call."""
    return textwrap.dedent(inspect.getsource(cls))


@functools.cache
def _globals(code: CodeType) -> tuple[str, ...]:
    loads = (i.argval for i in dis.get_instructions(code) if i.opname in ("LOAD_GLOBAL", "LOAD_NAME"))
    inner = (name for part in filter(inspect.iscode, code.co_consts) for name in _globals(part))
    return tuple(dict.fromkeys((*loads, *inner)))


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
    segment = lines[node.lineno - 1 : node.end_lineno]
    segment[-1] = segment[-1][: node.end_col_offset]
    segment[0] = b" " * node.col_offset + segment[0][node.col_offset :]
    return b"\n".join(segment).decode()


def copied(node: _Node) -> _Node:
    """A copy of a syntax tree, to change; `copy.deepcopy` takes several times as long."""
    new = type(node).__new__(type(node))
    for name, value in vars(node).items():
        if isinstance(value, list):
            value = [copied(part) if isinstance(part, ast.AST) else part for part in value]
        setattr(new, name, copied(value) if isinstance(value, ast.AST) else value)
    return new


def node_of(function: FunctionType, *, decorated: bool = False) -> tuple[ast.FunctionDef | ast.Lambda, str]:
    """The syntax tree of a function, which may be one of several lambdas on a line, and its dedented source.

    Raises:
      Unwritable: there is no source, or the function is decorated, unless it may be `decorated`.
    """
    code = function.__code__
    try:
        source, nodes = _parsed(code.co_filename)
    except OSError as error:
        raise Unwritable(f"{function.__name__} has no source") from error
    lines = [p for p in code.co_positions() if p[0] is not None and p[2] is not None and p[1] is not None]
    spans = [(p[0], p[2]) for p in lines if (p[0], p[2]) != (code.co_firstlineno, 0)]
    candidates = []
    for node in nodes:
        is_lambda = isinstance(node, ast.Lambda)
        if is_lambda != (function.__name__ == "<lambda>"):
            continue
        first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])
        if first != code.co_firstlineno or getattr(node, "name", code.co_name) != code.co_name:
            continue
        begin, end = (node.lineno, node.col_offset), (node.end_lineno or 0, node.end_col_offset or 0)
        if not is_lambda or all(begin <= s < end for s in spans):
            candidates.append((end, node))
    if not candidates:
        raise Unwritable(f"the source of {function.__name__} is not found")
    node = min(candidates, key=lambda candidate: candidate[0])[1]
    if not isinstance(node, ast.Lambda) and node.decorator_list and not decorated:
        raise Unwritable(f"{function.__name__} is decorated")
    return node, textwrap.dedent(_segment(source, node))
