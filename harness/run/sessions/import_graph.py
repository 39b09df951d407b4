"""Import graph: which modules of suites import a file that changed, directly or through others."""

from __future__ import annotations

import ast
import sys
from collections.abc import Collection, Iterable, Iterator
from functools import cache
from importlib.util import resolve_name
from pathlib import Path

from tf_opdiff.harness.paths import ROOT
from tf_opdiff.harness.store.run_directories.run_code import ROOMS


def dependents(modules: Collection[str], changed: Collection[str]) -> set[str]:
    """The modules among some loaded ones whose results may depend on files that changed.

    Every module depends on the harness, and on files that are not Python's, such as those of known failures. Otherwise
    a module depends on what it imports, also late and through other modules.

    Args:
      modules: names of modules.
      changed: paths of files; relative ones start at the repository.
    """
    if any(name.startswith(ROOMS) or not name.endswith(".py") for name in changed):
        return set(modules)
    loaded = {str(Path(file).resolve()): name for name, file in _files()}
    targets = {loaded.get(str((ROOT / name).resolve())) or _name(name) for name in changed}
    return {module for module in modules if targets & _reached(module)}


def _files() -> Iterator[tuple[str, str]]:
    """The name and the file of each loaded module."""
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if isinstance(file, str) and name != "__main__":
            yield name, file


def _name(path: str) -> str:
    """The name of the module in a file of the repository that is not loaded."""
    words = Path(path).with_suffix("").parts
    return ".".join(("tf_opdiff", *(words[:-1] if words[-1] == "__init__" else words)))


def _reached(module: str) -> set[str]:
    """The names that a module imports, directly or through others, and its own."""
    reached, left = set(), [module]
    while left:
        name = left.pop()
        if name not in reached:
            reached.add(name)
            left += _imported(name)
    return reached


@cache
def _imported(name: str) -> frozenset[str]:
    """The names in the import statements of a loaded module, each with the packages that it is in.

    A name that stands for a function is in the set too, and leads nowhere. Modules that are installed lead nowhere.
    """
    file = getattr(sys.modules.get(name), "__file__", None)
    if not isinstance(file, str) or not file.endswith(".py") or "site-packages" in file or _is_standard(name):
        return frozenset()
    package = name if Path(file).name == "__init__.py" else name.rpartition(".")[0]
    found: set[str] = {name.rpartition(".")[0]} - {""}
    for node in ast.walk(ast.parse(Path(file).read_bytes())):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = resolve_name("." * node.level + (node.module or ""), package) if node.level else node.module or ""
            found.update((base, *(f"{base}.{alias.name}" for alias in node.names)))
    return frozenset(_with_packages(found))


def _is_standard(name: str) -> bool:
    return name.partition(".")[0] in sys.stdlib_module_names


def _with_packages(names: Iterable[str]) -> Iterator[str]:
    for name in names:
        while name:
            yield name
            name = name.rpartition(".")[0]
