"""Undefined names: what a written program uses without defining it, found before the program runs."""

from __future__ import annotations

import ast
import builtins
import importlib
import symtable
import sys
from collections.abc import Iterator, Sequence

#: The packages that a program may import, besides Python's own; TensorFlow requires ml_dtypes.
PACKAGES = frozenset({"numpy", "tensorflow", "ml_dtypes"})
#: Names that Python defines in every module.
_OF_MODULES = frozenset({"__name__", "__file__", "__doc__"})


def is_importable(module: str) -> bool:
    """Whether a program of TensorFlow and NumPy alone may import the module."""
    package = module.partition(".")[0]
    return package in PACKAGES or package in sys.stdlib_module_names


def top_level_names(text: str) -> frozenset[str]:
    """The names that a program binds at its top level, imports included."""
    table = symtable.symtable(text, "program", "exec")
    return frozenset(s.get_name() for s in table.get_symbols() if s.is_assigned() or s.is_imported())


def faults(text: str) -> list[str]:
    """The reasons why a program cannot run with TensorFlow and NumPy alone, in words; empty if none is known.

    The words name each name without a definition, in all functions and classes; each module that such a program may
    not import; and each attribute that a module of Python or NumPy lacks.
    """
    try:
        tree, table = ast.parse(text), symtable.symtable(text, "program", "exec")
    except SyntaxError as error:
        return [f"it is no Python: {error.msg} in line {error.lineno}"]
    defined = top_level_names(text) | _OF_MODULES
    undefined = {name for scope in _scopes(table) for name in _looked_up(scope) if name not in defined}
    modules = list(_imports(tree))
    others = sorted({module for _, module in modules if not is_importable(module)})
    return [
        *(f"it uses {name}, which it does not define" for name in sorted(undefined)),
        *(f"it imports {module}, which is not part of TensorFlow, NumPy or Python" for module in others),
        *([] if others else sorted(set(_lacking(tree, table, modules)))),
    ]


def _scopes(table: symtable.SymbolTable) -> Iterator[symtable.SymbolTable]:
    """A scope and all scopes in it."""
    yield table
    for inner in table.get_children():
        yield from _scopes(inner)


def _looked_up(scope: symtable.SymbolTable) -> Iterator[str]:
    """The names, without builtins, that a scope looks up at the top level."""
    for symbol in scope.get_symbols():
        outside = symbol.is_global() or scope.get_type() == "module"
        if outside and symbol.is_referenced() and not hasattr(builtins, symbol.get_name()):
            yield symbol.get_name()


def _imports(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """The (name, module) pairs of all imports; the name is empty if it does not stand for the module."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.asname or ("" if "." in alias.name else alias.name), alias.name
        elif isinstance(node, ast.ImportFrom):
            yield "", node.module or "."


def _lacking(tree: ast.Module, table: symtable.SymbolTable, modules: Sequence[tuple[str, str]]) -> Iterator[str]:
    """The attributes that modules of Python and NumPy lack; TensorFlow's are not known without importing it."""
    inner = {s.get_name() for scope in list(_scopes(table))[1:] for s in scope.get_symbols() if s.is_local()}
    loaded = {
        name: importlib.import_module(module)
        for name, module in modules
        if name and name not in inner and not module.startswith("tensorflow")
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in loaded:
            module = loaded[node.value.id]
            if not hasattr(module, node.attr):
                yield f"it uses {node.value.id}.{node.attr}, which {module.__name__} lacks"
