"""Renaming: outside names of a function replaced in its syntax tree, and its annotations removed."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import Any

_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


class Unannotated(ast.NodeTransformer):
    """Removes annotations, also in inner functions: they may use names that the text does not define."""

    def visit_arg(self, node: ast.arg) -> ast.arg:
        node.annotation = None
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        node.returns = None
        self.generic_visit(node)
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.ClassDef:
        fields = {id(part): part for part in node.body if isinstance(part, ast.AnnAssign)}
        for field in fields.values():  # a field of a dataclass needs one
            field.annotation = ast.Name("object", ast.Load())
        node.body = [part if id(part) in fields else self.visit(part) for part in node.body]
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.stmt:
        return ast.Assign([node.target], node.value) if node.value else ast.Pass()


class Renamed(ast.NodeTransformer):
    """Renames outside names, except where a parameter or another local name of an inner function hides them."""

    def __init__(self, names: Mapping[str, str]) -> None:
        self._names = names

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.copy_location(ast.Name(self._names.get(node.id, node.id), node.ctx), node)

    def _function(self, node: ast.FunctionDef | ast.Lambda) -> Any:
        """A function: its defaults and decorators belong to the scope around it."""
        node.args.defaults = [self.visit(default) for default in node.args.defaults]
        node.args.kw_defaults = [default and self.visit(default) for default in node.args.kw_defaults]
        hidden = _locals(node)
        inner = Renamed({name: new for name, new in self._names.items() if name not in hidden})
        if isinstance(node, ast.Lambda):
            node.body = inner.visit(node.body)
        else:
            node.decorator_list = [self.visit(decorator) for decorator in node.decorator_list]
            node.body = [inner.visit(statement) for statement in node.body]
        return node

    visit_FunctionDef = visit_Lambda = _function  # noqa: N815  the names of `ast`

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp) -> Any:
        """A comprehension: its first iterable belongs to the scope around it."""
        first = node.generators[0]
        around, first.iter = self.visit(first.iter), ast.Constant(None)
        hidden = {name for generator in node.generators for name in _stored(generator.target)}
        Renamed({name: new for name, new in self._names.items() if name not in hidden}).generic_visit(node)
        first.iter = around
        return node

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _comprehension  # noqa: N815


def _locals(node: ast.FunctionDef | ast.Lambda) -> set[str]:
    """The names that are local to a function: its parameters, and what its body binds."""
    arguments = node.args
    rest = filter(None, (arguments.vararg, arguments.kwarg))
    own = {a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, *rest)}
    body = [node.body] if isinstance(node, ast.Lambda) else node.body
    parts = [part for statement in body for part in _of_scope(statement)]
    foreign = {name for part in parts if isinstance(part, (ast.Global, ast.Nonlocal)) for name in part.names}
    return (own | {name for part in parts for name in _bound(part)}) - foreign


def _of_scope(node: ast.AST) -> Iterator[ast.AST]:
    """A node and those below it that belong to its scope."""
    yield node
    if isinstance(node, _COMPREHENSIONS):  # a function binds only the targets of := of a comprehension
        for part in ast.walk(node):
            if isinstance(part, ast.NamedExpr):
                yield part.target
    elif not isinstance(node, (ast.FunctionDef, ast.Lambda, ast.ClassDef)):
        for inner in ast.iter_child_nodes(node):
            yield from _of_scope(inner)


def _bound(node: ast.AST) -> Iterator[str]:
    """The names that a node itself binds."""
    match node:
        case ast.Name(name, ast.Store() | ast.Del()):
            yield name
        case ast.FunctionDef(name) | ast.ClassDef(name) | ast.ExceptHandler(name=str(name)):
            yield name
        case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)) | ast.MatchMapping(rest=str(name)):
            yield name
        case ast.alias(name, asname):
            yield asname or name.partition(".")[0]


def bound_names(statement: ast.stmt) -> set[str]:
    """The names that a statement binds in its own scope."""
    return {name for part in _of_scope(statement) for name in _bound(part)}


def _stored(node: ast.AST) -> set[str]:
    return {name for part in ast.walk(node) for name in _bound(part)}
