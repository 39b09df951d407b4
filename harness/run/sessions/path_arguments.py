"""Path arguments: the paths on pytest's command line, and the part of the suites that they select."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

import pytest

from tf_opdiff.harness.paths import ROOT, SUITES
from tf_opdiff.harness.spec.similar import unknown


def scopes_of(config: pytest.Config) -> list[tuple[str, str]] | None:
    """The modules and names that the path arguments select, as `Catalog.select` takes them.

    An empty list selects all suites; None means that no path leads into the suites. A module of the suites, such as
    `suites/ops/math/elementary/sign.py` or `suites/ops/math/elementary/sign.py::sign`, is replaced in `config.args` by
    the generic test.

    Raises:
      pytest.UsageError: there is no such file.
    """
    suites = (ROOT / "suites").resolve()
    generic_test = suites / "test_ops.py"
    scopes: list[tuple[str, str]] = []
    for i, argument in enumerate(config.args):
        place, _, name = argument.partition("::")
        path = Path(config.invocation_params.dir, place).resolve()
        if path not in (suites, *suites.parents) and suites not in path.parents:
            continue
        if suites / "tests" in (path, *path.parents):  # tests of the project itself
            continue
        if not path.exists():
            raise pytest.UsageError(unknown("file", place, {str(p.relative_to(ROOT)) for p in suites.rglob("*.py")}))
        if suites in (path, *path.parents) or name:
            config.args[i] = str(generic_test)
        inner = suites in path.parents and path != generic_test
        scopes.append((_module(path) if inner else "", name))
    if ("", "") in scopes:
        return []
    return scopes or None


def _module(path: Path) -> str:
    """The name of the module or package at a path in the suites."""
    inner = path.relative_to(ROOT / "suites").with_suffix("").parts
    return ".".join((SUITES, *inner)).removesuffix(".__init__")


def joined(arguments: Iterable[str | os.PathLike[str]]) -> tuple[str, ...]:
    """The arguments with `--run-dir DIR`, and other options that take a directory, as one word: `--run-dir=DIR`.

    xdist's workers read the command line again, before they know the option. They would take a directory that exists
    for a path to collect, and move pytest's root there.
    """
    words = [str(a) for a in arguments]
    for option in ("--run-dir", "--recordings", "--resume"):
        while option in words:
            at = words.index(option)
            words[at : at + 2] = ["=".join(words[at : at + 2])]
    return tuple(words)
