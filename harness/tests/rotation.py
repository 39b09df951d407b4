"""pytest's option `--tenth`: of tests that check the same for many subjects, a run has a tenth.

    pytest -p tf_opdiff.harness.tests.rotation --tenth=HEAD …

`@pytest.mark.rotating` marks such a test. The seed draws a tenth of its subjects, and at least one. A subject that the
test gives as `subject(…)` names the files that it is made of: where the newest commit changed one of them, the subject
is in the run too. A commit that changes more than two tenths of the subjects has two tenths of these. Without the
option, all subjects run.
"""

from __future__ import annotations

import hashlib
import subprocess
from collections import defaultdict
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import Any

import pytest

from tf_opdiff.harness.paths import ROOT

#: A run has one of so many subjects.
PARTS = 10


def subject(value: Any, *files: str, name: str = "") -> Any:
    """A parameter of a rotating test, with its name; files are paths from the root of the repository, or modules."""
    marker = pytest.mark.rotating(*map(_path_of, files))
    return pytest.param(value, id=name or value, marks=marker)


def _path_of(file: str) -> str:
    """The path that git gives a file or a module: `tf_opdiff/` has links to other folders."""
    path = file if "/" in file else f"{file.replace('.', '/')}.py"
    return str((ROOT / path).resolve().relative_to(ROOT.resolve()))


def pytest_addoption(parser: pytest.Parser) -> None:
    about = (
        "of each test marked `rotating`, run a tenth of its subjects, drawn by a seed: a revision of git, or any text"
    )
    parser.getgroup("rotation").addoption("--tenth", metavar="SEED", help=about)


def pytest_configure(config: pytest.Config) -> None:
    """Puts the commit in the place of the name of a revision."""
    if seed := config.option.tenth:
        config.option.tenth = "".join(_git("rev-parse", "--verify", "--quiet", f"{seed}^{{commit}}")) or seed


def pytest_report_header(config: pytest.Config) -> str | None:
    seed = config.option.tenth
    return f"a tenth of the rotating tests; the same tenth: --tenth={seed}" if seed else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    seed = config.option.tenth
    if not seed:
        return
    subjects = {item.nodeid: _files(item) for item in items if item.get_closest_marker("rotating")}
    left_out = subjects.keys() - drawn(subjects, seed, _changed())
    config.hook.pytest_deselected(items=[item for item in items if item.nodeid in left_out])
    items[:] = [item for item in items if item.nodeid not in left_out]


def drawn(subjects: Mapping[str, AbstractSet[str]], seed: str, changed: AbstractSet[str] = frozenset()) -> set[str]:
    """Of each function, a tenth of its tests, rounded up, and those of changed files, but at most two tenths of these.

    Functions with the same subjects draw the same.

    Args:
      subjects: the names of all tests, as `file::function[subject]`, with the files of their subjects.
      seed: another seed draws others.
      changed: the files that changed.
    """
    functions = defaultdict(list)
    for name in subjects:
        function, _, subject = name.partition("[")
        functions[function].append((hashlib.sha256(f"{seed} {subject}".encode()).digest(), name))
    chosen = set()
    for tests in functions.values():
        names = [name for _, name in sorted(tests)]
        tenth = -(-len(names) // PARTS)
        chosen |= {*names[:tenth], *[name for name in names[tenth:] if subjects[name] & changed][: 2 * tenth]}
    return chosen


def _files(item: pytest.Item) -> set[str]:
    return {file for marker in item.iter_markers("rotating") for file in marker.args}


def _changed() -> set[str]:
    """The files that differ from the parent of the newest commit; none where git has no parent of it."""
    return {*_git("diff", "--name-only", "HEAD^")}


def _git(*words: str) -> list[str]:
    """The lines that git prints; none where it fails or is absent."""
    try:
        return subprocess.run(
            ["git", *words], cwd=ROOT, capture_output=True, text=True, check=False
        ).stdout.splitlines()
    except OSError:
        return []
