"""The package: a wheel of this repository brings one importable name, and the command line works from it."""

import os
import subprocess
import sys
import zipfile

import pytest

from tf_opdiff.harness.paths import ROOT


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A folder that holds what a wheel of this repository would install."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "-w", str(folder)]
    subprocess.run([*command, str(ROOT)], check=True, cwd=folder)
    (wheel,) = folder.glob("*.whl")
    zipfile.ZipFile(wheel).extractall(folder / "site")
    return folder / "site"


def test_a_wheel_brings_one_importable_name(site):
    assert [path.name for path in site.iterdir() if path.suffix != ".dist-info"] == ["tf_opdiff"]
    assert not list(site.rglob("tests"))
    templates = {path.name for path in (ROOT / "reports" / "pages" / "templates").iterdir()}
    assert {path.name for path in (site / "tf_opdiff" / "reports" / "pages" / "templates").iterdir()} == templates


@pytest.mark.parametrize("verb", [[], ["diff"], ["coverage"]])
def test_the_command_line_works_from_a_wheel(site, tmp_path, verb):
    command = [sys.executable, "-m", "tf_opdiff", *verb, "--help"]
    env = {**os.environ, "PYTHONPATH": str(site)}
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "usage: " in done.stdout


def test_what_is_imported_there_is_the_wheels_own(site, tmp_path):
    program = (
        "import tf_opdiff.harness.judge.compare as m, tf_opdiff.suites; print(m.__file__, tf_opdiff.suites.__file__)"
    )
    env = {**os.environ, "PYTHONPATH": str(site)}
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, check=True)
    assert all(path.startswith(str(site)) for path in done.stdout.split())
