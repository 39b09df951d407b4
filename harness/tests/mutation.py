"""Mutation: faults planted in the harness's own judging code, one at a time; some test has to notice each of them.

    python -m tf_opdiff.harness.tests.mutation              # all of `mutants.toml` that need no TensorFlow
    python -m tf_opdiff.harness.tests.mutation verdict.py   # those of a file, or of a name

Where a mutant has `real = true`, its tests start TensorFlow: they run in a copy of the tree (`make mutants`). Others
are imported in place of their module by forks of one process, which has imported the libraries and nothing of ours.
"""

from __future__ import annotations

import gc
import importlib
import io
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType
from typing import NamedTuple

from tf_opdiff.harness.paths import ROOT

LIST = Path(__file__).with_name("mutants.toml")
#: Imported before the forks, as far as they are installed.
LIBRARIES = ("numpy", "ml_dtypes", "msgspec", "pytest", "packaging.specifiers", "jinja2", "mpmath", "rich.progress")
#: Seconds after which the tests of a mutant count as hung; they take about one.
PATIENCE = 120


class Outdated(Exception):
    """A mutant's old text does not stand once in its file."""


class Mutant(NamedTuple):
    """One fault: in `file`, the fragment `old` becomes `new`, and one of `tests` must fail; see `path_of`."""

    name: str
    file: str
    old: str
    new: str
    tests: list[str]
    real: bool = False

    def source(self) -> str:
        """The mutated text of the file.

        Raises:
          Outdated: the old text does not stand there exactly once.
        """
        text = (ROOT / self.file).read_text()
        count = text.count(self.old)
        if count != 1:
            raise Outdated(
                f"mutant {self.name!r}: {self.file} has its `old` {count} times, expected once: in mutants.toml, copy "
                f"a fragment of today's code that stands there once, or delete the mutant. old = {self.old!r}"
            )
        return text.replace(self.old, self.new)


def mutants() -> list[Mutant]:
    """All mutants of the list, in order."""
    return [Mutant(**table) for table in tomllib.loads(LIST.read_text())["mutant"]]


class _Mutated(SourceFileLoader):
    """Loads a module from another text than that of its file."""

    def __init__(self, name: str, path: str, text: str) -> None:
        super().__init__(name, path)
        self._text = text

    def get_code(self, fullname: str) -> CodeType:
        return compile(self._text, self.get_filename(fullname), "exec", dont_inherit=True)


class _Hook(MetaPathFinder):
    def __init__(self, mutant: Mutant) -> None:
        self._module = "tf_opdiff." + mutant.file.removesuffix(".py").replace("/", ".")
        self._text = mutant.source()

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: object = None) -> ModuleSpec | None:
        if fullname != self._module:
            return None
        found = PathFinder.find_spec(fullname, path)
        assert found is not None and found.origin is not None
        found.loader = _Mutated(fullname, found.origin, self._text)
        return found


@cache
def _test_files() -> dict[str, list[str]]:
    """The name of each file of the tests → the paths of the files with that name, from the root of the repository."""
    files: dict[str, list[str]] = {}
    for path in sorted(LIST.parent.rglob("test_*.py")):
        files.setdefault(path.name, []).append(str(path.relative_to(ROOT)))
    return files


def path_of(test: str) -> str:
    """The path, from the root of the repository, of a test in `mutants.toml`: `test_x.py`, or `test_x.py::test_y`.

    Raises:
      Outdated: no folder of the tests has such a file, or more than one has.
    """
    file, *name = test.split("::", 1)
    paths = _test_files().get(file, [])
    if len(paths) != 1:
        raise Outdated(f"harness/tests has {len(paths)} files {file!r}, expected one")
    return "::".join([paths[0], *name])


def _arguments(tests: Sequence[str]) -> list[str]:
    folder = ROOT / "harness" / "tests"
    chosen = [str(ROOT / path_of(test)) for test in dict.fromkeys(tests)]
    spared = [
        word for name in ("cacheprovider", "unraisableexception", "threadexception") for word in ("-p", f"no:{name}")
    ]
    plain = ("--assert=plain", "--tb=line")  # only the exit status counts: rewriting assertions would take most time
    return ["-q", "-x", *spared, "-o", "addopts=", "--confcutdir", str(folder), *plain, *chosen]


def _child(mutant: Mutant | None, tests: Sequence[str], log: int, scratch: str) -> int:
    """Runs tests in this process, with a mutant in place of its module; pytest's exit status."""
    signal.alarm(PATIENCE)
    os.dup2(log, 1)
    os.dup2(log, 2)
    sys.stdout = sys.stderr = io.TextIOWrapper(os.fdopen(1, "wb", closefd=False), write_through=True)
    if mutant is not None:
        sys.meta_path.insert(0, _Hook(mutant))
    import pytest

    return int(pytest.main([*_arguments(tests), f"--basetemp={scratch}/tests"]))


def forked(mutant: Mutant | None, tests: Sequence[str]) -> tuple[int, str]:
    """Runs tests in a fork of this process: pytest's exit status (of a signal, its number below 0), and the output."""
    with tempfile.TemporaryFile() as log, tempfile.TemporaryDirectory() as scratch:
        child = os.fork()
        if not child:
            status = 70
            try:
                status = _child(mutant, tests, log.fileno(), scratch)
            finally:
                os._exit(status)
        _, ended = os.waitpid(child, 0)
        log.seek(0)
        return os.waitstatus_to_exitcode(ended), log.read().decode("utf-8", "replace")


def copy_tree(folder: Path) -> None:
    """Copies the files of the repository, without recordings of CPUs, into a folder."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in listed.splitlines():
        source = ROOT / name
        if (source.is_file() or source.is_symlink()) and not name.startswith("recordings/cpu@"):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, folder / name, follow_symlinks=False)


def copied(mutant: Mutant, folder: Path) -> tuple[int, str]:
    """Runs the tests of a mutant in a copy of the tree, in which it is planted: the exit status, and the output."""
    copy_tree(folder)
    (folder / mutant.file).write_text(mutant.source())
    tests = [path_of(test) for test in mutant.tests]
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "--tb=short", *tests]
    env = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, env=env)
    return done.returncode, done.stdout + done.stderr


def trouble(mutant: Mutant, status: int, output: str) -> str:
    """Why a mutant is not killed, in a line; nothing where it is: where a test failed, and did so by an assertion."""
    tests = ", ".join(mutant.tests)
    if status == 1:
        return ""
    if status == 0:
        change = f"{mutant.old!r} → {mutant.new!r}"
        return f"mutant {mutant.name!r} survives: {change} in {mutant.file}, and {tests} pass: write a test that fails"
    end = " | ".join(output.strip().splitlines()[-3:])
    return f"mutant {mutant.name!r}: {tests} ended with {status}, expected a failing test (status 1): {end}"


def survivors(chosen: Sequence[Mutant]) -> Iterator[str]:
    """A line for each mutant that is outdated or that its tests do not kill; first, one if they fail without any."""
    for name in LIBRARIES:
        importlib.import_module(name)
    gc.freeze()  # a collection in a fork need not walk them, nor copy their pages
    every = [test for mutant in chosen for test in mutant.tests]
    status, output = forked(None, every)
    if status:
        yield f"without any mutant, the tests end with {status}, expected 0: {output[-2000:]}"
        return
    for mutant in chosen:
        try:
            why = trouble(mutant, *forked(mutant, mutant.tests))
        except Outdated as outdated:
            why = str(outdated)
        if why:
            yield why


def main(names: Sequence[str]) -> int:
    """Prints what survives of the mutants whose file or name holds one of these words; 1 where one does."""
    chosen = [m for m in mutants() if not m.real and (not names or any(n in m.file or n in m.name for n in names))]
    os.environ |= {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "OPENBLAS_NUM_THREADS": "1"}  # threads do not survive a fork
    os.chdir(ROOT)
    count = 0
    for line in survivors(chosen):
        print(line, flush=True)
        count += 1
    print(f"{len(chosen)} mutants, {count} of them alive or outdated")
    return int(bool(count))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
