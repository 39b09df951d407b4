"""Device servers can run under another Python than the tests, such as one in an emulator."""

import json
import os
import subprocess
import sys

import pytest

from tf_opdiff.harness.device.processes.server_python import VARIABLE
from tf_opdiff.harness.paths import ROOT
from tf_opdiff.harness.tests.device.processes.test_isolation import light
from tf_opdiff.harness.tests.patience import PATIENCE

#: A Python whose processor differs, as far as Python code can tell.
SITE = """
import platform
platform.platform = lambda *arguments, **options: "planted system"
"""
CHILDREN = """
import sys
from pathlib import Path
from tf_opdiff.harness.device.processes.process import Child
from tf_opdiff.harness.tests.planted_servers.planted_children import import_path

sys.path.append("/parent/only" if sys.argv[2] == "inside" else sys.prefix + "/parent/only")
for settings in (None, {"PLANTED": "1"}):  # forks of two fork servers
    child = Child(import_path, log=Path(sys.argv[1]) / "log", settings=settings)
    path, wrapped = child.receive(600)
    child.kill()
    print(wrapped, [entry for entry in path if entry.endswith(("/parent/only", "/wrapped"))])
"""


@pytest.fixture
def wrapper(tmp_path):
    """The path of a Python that finds modules in a folder of its own, and sets a variable."""
    site = tmp_path / "wrapped"
    site.mkdir()
    (site / "sitecustomize.py").write_text(SITE)
    script = tmp_path / "python"
    script.write_text(
        f'#!/bin/sh\nWRAPPED=yes PYTHONPATH={site}${{PYTHONPATH:+:$PYTHONPATH}} exec {sys.executable} "$@"\n'
    )
    script.chmod(0o755)
    return script


def children(tmp_path, wrapper, place):
    folder = tmp_path / "light"
    folder.mkdir()
    return subprocess.run(
        [sys.executable, "-c", CHILDREN, str(folder), place],
        cwd=ROOT,
        env=light(folder) | {VARIABLE: str(wrapper)},
        capture_output=True,
        text=True,
        check=True,
        timeout=PATIENCE,
    ).stdout.splitlines()


def test_children_run_under_the_named_python_with_its_own_packages(tmp_path, wrapper):
    expected = f"yes ['{tmp_path}/wrapped']"
    assert children(tmp_path, wrapper, "outside") == [expected] * 2


def test_children_still_find_modules_that_are_not_installed(tmp_path, wrapper):
    expected = f"yes ['{tmp_path}/wrapped', '/parent/only']"
    assert children(tmp_path, wrapper, "inside") == [expected] * 2


def test_run_json_describes_the_machine_that_device_servers_see(run_pytest, wrapper):
    outcome = run_pytest(
        "-n", "0", "--repro", "none", "--mode", "eager", "--op", "floor",
        suites="tf_opdiff.harness.tests.planted_specs.planted_onednn", env={VARIABLE: str(wrapper)},
    )  # fmt: skip
    assert outcome.status == 0, outcome.output
    assert json.loads((outcome.directory / "run.json").read_text())["machine"]["system"] == "planted system"


@pytest.mark.parametrize("path", ["/nowhere/python", os.curdir])
def test_a_python_that_is_none_is_refused_in_one_line(run_pytest, path):
    outcome = run_pytest("-n", "0", env={VARIABLE: path})
    assert outcome.status == 4
    assert outcome.output.count(f"{VARIABLE}: expected the path of a Python, got {path}") == 1


def test_a_python_of_another_version_is_refused(run_pytest, wrapper):
    site = wrapper.parent / "wrapped" / "sitecustomize.py"
    site.write_text('import platform\nplatform.python_version = lambda: "3.99.1"\n')
    outcome = run_pytest("-n", "0", env={VARIABLE: str(wrapper)})
    assert outcome.status == 4
    assert f"{VARIABLE}: expected Python {sys.version_info.major}.{sys.version_info.minor}" in outcome.output
    assert outcome.output.count("got 3.99.1") == 1
