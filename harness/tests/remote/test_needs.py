"""What a remote device server needs: some packages, and this project's code as a zip file."""

import ast
import io
import subprocess
import sys
import zipfile

from tf_opdiff.harness.remote.bootstrap import NEEDED
from tf_opdiff.harness.remote.code_archive import archive
from tf_opdiff.harness.tests.test_rooms import MODULES, PASTED, arrows, tree


def imported(nodes):
    """The top-level names that statements import."""
    names = [a.name for n in nodes if isinstance(n, ast.Import) for a in n.names]
    names += [n.module for n in nodes if isinstance(n, ast.ImportFrom) and n.module]
    return {name.partition(".")[0] for name in names} - {*sys.stdlib_module_names, "tf_opdiff"}


def test_the_listed_packages_are_those_that_a_server_and_the_suites_import():
    suites = {m for m in MODULES if m.startswith("suites.") and m != "suites.test_ops"} - PASTED
    left, seen = ["harness.remote.serving", "harness.device.processes.preload", "harness.device.server", *suites], set()
    while left:
        name = left.pop()
        if name in MODULES and name not in seen:
            seen.add(name)
            left += arrows(MODULES[name], MODULES, top_only=True)
    assert {package for name in seen for package in imported(tree(MODULES[name]).body)} == set(NEEDED)


def test_the_code_works_from_its_zip_file_alone(tmp_path):
    """Every suite can be imported there, with the data that it reads; known failures and tests are not sent."""
    with zipfile.ZipFile(io.BytesIO(archive("tf_opdiff.suites"))) as file:
        file.extractall(tmp_path)
    assert not list(tmp_path.rglob("tests")) and not (tmp_path / "tf_opdiff" / "suites" / "known").exists()
    program = (
        "from tf_opdiff.harness.spec.catalog import Catalog\n"
        "import tf_opdiff.harness.remote.serving as s\n"
        "print(len(Catalog.load('tf_opdiff.suites').items), s.__file__)"
    )
    command = [sys.executable, "-c", program]
    done = subprocess.run(
        command, cwd=tmp_path, env={"PYTHONPATH": str(tmp_path)}, capture_output=True, text=True, check=False
    )
    count, place = done.stdout.split() or [0, done.stderr]
    assert int(count) > 1000 and place.startswith(str(tmp_path)), place


def test_suites_elsewhere_are_sent_with_their_package(tmp_path, monkeypatch):
    for name in ("own/__init__.py", "own/deep/__init__.py", "own/deep/suite.py", "own/helper.py", "other/__init__.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    with zipfile.ZipFile(io.BytesIO(archive("tf_opdiff.suites own.deep.suite"))) as file:
        names = {name for name in file.namelist() if not name.startswith("tf_opdiff/")}
    assert names == {"own/__init__.py", "own/deep/__init__.py", "own/deep/suite.py", "own/helper.py"}
