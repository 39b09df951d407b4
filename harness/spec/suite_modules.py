"""Suite modules: the modules of a package that declare specs."""

from __future__ import annotations

import pkgutil
import traceback
from collections.abc import Iterator
from importlib import import_module
from types import ModuleType

#: Packages and modules that are not searched for specs: tests, and programs for readers, which import TensorFlow.
_WITHOUT_SPECS = ("tests", "paste")


def modules_with_specs(name: str) -> Iterator[str]:
    """The names of the modules with `SPECS`: this module, or else the modules in this package.

    Those named in `_WITHOUT_SPECS`, and modules of tests, are left out.
    """
    module = imported(name)
    if hasattr(module, "SPECS"):
        yield name
    else:
        for inner in pkgutil.iter_modules(getattr(module, "__path__", ())):
            if inner.name not in _WITHOUT_SPECS and not inner.name.startswith("test_"):
                yield from modules_with_specs(f"{name}.{inner.name}")


def imported(module: str) -> ModuleType:
    """Imports a module of the suites.

    Raises:
      ValueError: the import fails; the message names the line of the module that failed.
    """
    try:
        return import_module(module)
    except Exception as error:
        lines = [f for f in traceback.extract_tb(error.__traceback__) if f.name == "<module>"]
        at = f", at {lines[-1].filename}, line {lines[-1].lineno}" if lines else ""  # a syntax error names its place
        why = f"{type(error).__name__}: {error}"
        raise ValueError(f"{module} can't be imported{at}: {why}") from error
