"""Folding: the constants of a program put where they are used, so that it reads as a person would write it.

`getattr(tf.raw_ops, op)(**{name: x})` with the constants `op = 'Sqrt'` and `name = 'x'` becomes `tf.raw_ops.Sqrt(x=x)`.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Mapping, Sequence
from typing import Any


def folded(definitions: str, function: str, names: Sequence[str]) -> str:
    """Definitions with one function as its callers see it, and without the constants that nothing uses any more.

    Args:
      definitions: the text of functions and constants.
      function: the function to fold; its first parameter `tf` is dropped, because the program imports TensorFlow.
      names: the names of its parameters; they take the place of `*args`.
    """
    module = ast.parse(definitions)
    constants = {
        statement.targets[0].id: statement.value
        for statement in module.body
        if isinstance(statement, ast.Assign)
        and isinstance(statement.targets[0], ast.Name)
        and _literal(statement.value)
    }
    body = [
        _folded(s, constants, names) if isinstance(s, ast.FunctionDef) and s.name == function else s
        for s in module.body
    ]
    while True:
        used = {n.id for s in body for n in ast.walk(s) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
        kept = [s for s in body if not isinstance(s, ast.Assign) or any(t.id in used for t in _names(s))]
        if len(kept) == len(body):
            break
        body = kept
    return "\n\n\n".join(ast.unparse(ast.fix_missing_locations(s)) for s in body)


def _names(statement: ast.Assign) -> list[ast.Name]:
    return [target for target in statement.targets if isinstance(target, ast.Name)]


def _literal(node: ast.expr) -> bool:
    try:
        ast.literal_eval(node)
    except ValueError:
        return False
    return True


def _folded(function: ast.FunctionDef, constants: Mapping[str, ast.expr], names: Sequence[str]) -> ast.FunctionDef:
    """A function with its constants, the names of its parameters, and without the parameter `tf`."""
    arguments, values = function.args, dict(constants)
    arguments.args = [a for a in arguments.args if a.arg != "tf"]
    own = [a.arg for a in arguments.args]
    for name in own:
        values.pop(name, None)
    if arguments.vararg:
        rest = names[len(own) :]
        values[arguments.vararg.arg] = ast.Tuple([ast.Name(name, ast.Load()) for name in rest], ast.Load())
        arguments.args += [ast.arg(name) for name in rest]
        arguments.vararg = None
    result: ast.FunctionDef = _Folder(values).visit(function)
    return result


class _Folder(ast.NodeTransformer):
    """Puts values in place of names, and folds what then is constant."""

    def __init__(self, values: Mapping[str, ast.expr]) -> None:
        self._values = values

    def visit_Name(self, node: ast.Name) -> ast.expr:
        value = self._values.get(node.id) if isinstance(node.ctx, ast.Load) else None
        return node if value is None else copy.deepcopy(value)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        self.generic_visit(node)
        match node.body:
            case [*before, ast.Assign([ast.Name(name)], value), ast.Return(ast.Name(returned))] if name == returned:
                node.body = [*before, ast.Return(value)]
        return node

    def visit_IfExp(self, node: ast.IfExp) -> Any:
        self.generic_visit(node)
        try:
            chosen = eval(compile(ast.Expression(node.test), "", "eval"), {"__builtins__": {}})
        except Exception:  # noqa: BLE001  it is no constant
            return node
        return node.body if chosen else node.orelse

    def visit_Call(self, node: ast.Call) -> Any:
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id == "getattr" and len(node.args) == 2:
            owner, name = node.args
            if isinstance(name, ast.Constant) and str(name.value).isidentifier():
                return ast.Attribute(owner, str(name.value), ast.Load())
        pairs = _zipped(node)
        if pairs is not None:
            return pairs
        node.keywords = [one for keyword in node.keywords for one in _spread(keyword)]
        node.args = [one for argument in node.args for one in _elements(argument)]
        return node


def _zipped(node: ast.Call) -> ast.Dict | None:
    """`dict(zip(names, values))` of two tuples as a dict."""
    if not (isinstance(node.func, ast.Name) and node.func.id == "dict" and len(node.args) == 1):
        return None
    inner = node.args[0]
    if not (isinstance(inner, ast.Call) and isinstance(inner.func, ast.Name) and inner.func.id == "zip"):
        return None
    if len(inner.args) != 2 or not all(isinstance(a, (ast.Tuple, ast.List)) for a in inner.args):
        return None
    keys, values = (list(a.elts) for a in inner.args if isinstance(a, (ast.Tuple, ast.List)))
    return ast.Dict([*keys], values) if len(keys) == len(values) else None


def _spread(keyword: ast.keyword) -> list[ast.keyword]:
    """`**{"x": y}` as `x=y`; any other keyword as it is."""
    value = keyword.value
    if keyword.arg is not None or not isinstance(value, ast.Dict):
        return [keyword]
    pairs = list(zip(value.keys, value.values, strict=True))
    if not all(isinstance(k, ast.Constant) and str(k.value).isidentifier() for k, _ in pairs):
        return [keyword]
    return [ast.keyword(str(k.value), v) for k, v in pairs if isinstance(k, ast.Constant)]


def _elements(argument: ast.expr) -> list[ast.expr]:
    """`*(x, y)` as `x, y`; any other argument as it is."""
    if isinstance(argument, ast.Starred) and isinstance(argument.value, ast.Tuple):
        return list(argument.value.elts)
    return [argument]
