"""A command in a folder from anywhere imports nothing from it; programs of device servers keep their environment."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tf_opdiff.harness.device.processes import fork_server
from tf_opdiff.harness.device.processes.process import Child
from tf_opdiff.harness.paths import ROOT
from tf_opdiff.harness.tests.patience import PATIENCE
from tf_opdiff.harness.tests.planted_servers.planted_children import planted, safe_path

#: Modules that the command line, multiprocessing and TensorFlow import.
PLANTED = ("argparse", "msgspec", "numpy", "pandas", "pickle", "selectors", "socket", "tensorflow", "typing")


@pytest.fixture
def foreign(tmp_path):
    """A folder with a planted module of each of these names, which leaves a file when it is imported."""
    for name in PLANTED:
        (tmp_path / f"{name}.py").write_text(f"open('imported-{name}', 'w')\nraise ImportError('planted')\n")
    return tmp_path


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (["-m", "tf_opdiff", "table"], 0),
        (["-m", "harness", "table"], 0),
        (["-m", "reports", "."], 4),
        (["-m", "tf_opdiff.reports", "."], 4),
        (["-m", "tf_opdiff", "devices"], 0),
    ],
    ids=lambda x: " ".join(x) if isinstance(x, list) else "",
)
def test_a_command_imports_nothing_from_the_current_folder(words, status, foreign):
    env = {k: v for k, v in os.environ.items() if k != "PYTHONSAFEPATH"} | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, *words], check=False, cwd=foreign, env=env, capture_output=True, text=True)
    assert [path.name for path in foreign.glob("imported-*")] == []
    assert done.returncode == status, done.stderr


def test_a_module_of_the_user_still_finds_its_folder(tmp_path):
    (tmp_path / "beside.py").write_text("print('beside')")
    (tmp_path / "own.py").write_text("import tf_opdiff, beside")
    command = [sys.executable, "-m", "own"]
    done = subprocess.run(command, check=True, cwd=tmp_path, env=os.environ | {"PYTHONPATH": str(ROOT)}, stdout=-1)
    assert done.stdout == b"beside\n"


@pytest.mark.parametrize("settings", [{}, {"TF_OPDIFF_PLANTED": "1"}], ids=["a fork", "with settings"])
def test_a_child_has_the_users_environment(settings, tmp_path):
    with fork_server.uninterrupted():
        child = Child(safe_path, log=Path(tmp_path, "log"), settings=settings)
    try:
        assert child.receive(PATIENCE) == os.environ.get(fork_server.SAFE_PATH)
    finally:
        child.kill()


def test_a_child_with_settings_has_the_environment_of_its_start_not_that_of_an_earlier_child(tmp_path):
    seen = []
    for value in ("first", "second"):
        with fork_server.environment({"OPDIFF_PLANTED": value}), fork_server.uninterrupted():
            child = Child(planted, log=Path(tmp_path, "log"), settings={"TF_OPDIFF_PLANTED": "1"})
        try:
            seen.append(child.receive(PATIENCE))
        finally:
            child.kill()
    assert seen == ["first", "second"]


def test_threads_that_start_processes_leave_the_environment_as_it_was():
    """Each thread sees its own variable while it is in the context; without turns, one restores another's value."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)

    def starts(value):
        for _ in range(5_000):
            with fork_server.environment({"OPDIFF_PLANTED": value}):
                seen = [os.environ["OPDIFF_PLANTED"] for _ in range(5)]
            if set(seen) != {value}:
                return seen
        return []

    try:
        with ThreadPoolExecutor(4) as pool:
            assert list(pool.map(starts, "abcd")) == [[]] * 4
    finally:
        sys.setswitchinterval(interval)
    assert "OPDIFF_PLANTED" not in os.environ
