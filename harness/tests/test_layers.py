"""Imports point at the harness, and TensorFlow is imported in device servers only."""

import ast
from pathlib import Path

import pytest

from tf_opdiff.harness.paths import ROOT

ALLOWED = {
    "harness": {"harness"},
    "suites": {"suites", "harness"},
    "reports": {"reports", "harness"},
    "conftest.py": {"harness", "suites", "reports"},
}
SERVER_ONLY = {
    "harness/device/kernels.py",
    "harness/device/modes.py",
    "harness/device/server.py",
    "harness/device/preload.py",
}
#: `harness.device.server` at the top of these would bring TensorFlow along; `tensorflow` in `devices` stands in
#: functions that run in the child.
FILES = sorted(
    path
    for part in ALLOWED
    for path in ([ROOT / part] if part.endswith(".py") else (ROOT / part).rglob("*.py"))
    if "tests" not in path.parts
)


def imports(path: Path, *, top_only: bool = False) -> set[str]:
    tree = ast.parse(path.read_text())
    nodes = tree.body if top_only else list(ast.walk(tree))
    names = {a.name for n in nodes if isinstance(n, ast.Import) for a in n.names}
    return names | {n.module for n in nodes if isinstance(n, ast.ImportFrom) and n.module}


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT)))
def test_imports_point_at_the_harness(path):
    part = path.relative_to(ROOT).parts[0]
    ours = {name.split(".")[0] for name in imports(path)} & {"harness", "suites", "reports", "conftest"}
    assert ours <= ALLOWED[part]


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT)))
def test_tensorflow_is_imported_in_device_servers_only(path):
    name = str(path.relative_to(ROOT))
    if name in SERVER_ONLY:
        return
    heavy = {m for m in imports(path, top_only=True) if m.split(".")[0] in ("tensorflow", "keras")}
    heavy |= {m for m in imports(path, top_only=True) if f"{m.replace('.', '/')}.py" in SERVER_ONLY}
    assert not heavy
