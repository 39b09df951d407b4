"""The package: a wheel of this repository brings one importable name, and the command line works from it."""

import os
import re
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


@pytest.mark.parametrize("verb", [[], ["check"], ["diff"], ["coverage"]])
def test_the_command_line_works_from_a_wheel(site, tmp_path, verb):
    command = [sys.executable, "-m", "tf_opdiff", *verb, "--help"]
    env = {**os.environ, "PYTHONPATH": str(site)}
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "usage: " in done.stdout


def test_what_is_imported_there_is_the_wheels_own(site, tmp_path):
    names = "import tf_opdiff.harness.judge.differences.compare as m, tf_opdiff.suites"
    program = f"{names}; print(m.__file__, tf_opdiff.suites.__file__)"
    env = {**os.environ, "PYTHONPATH": str(site)}
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, check=True)
    assert all(path.startswith(str(site)) for path in done.stdout.split())


@pytest.mark.parametrize("shell", ["bash", "zsh", "tcsh"])
def test_a_shell_completes_verbs_and_options(site, tmp_path, shell):
    command = [sys.executable, "-m", "tf_opdiff", "completion", shell]
    env = {**os.environ, "PYTHONPATH": str(site)}
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, check=True)
    assert all(word in done.stdout for word in ("coverage", "reference", "workers", "tf-opdiff"))


PROJECT = """
import numpy as np
import tensorflow as tf
from tf_opdiff import uniform


class Scaled(tf.keras.layers.Layer):
    def build(self, shape):
        self.factor = self.add_weight(shape=(), initializer=tf.keras.initializers.Constant(3.0))

    def call(self, x):
        @tf.custom_gradient
        def scaled(y):
            return y * self.factor, lambda g, variables=None: (g, [tf.zeros([])])

        return scaled(x)


def layer():
    made = Scaled()
    made(np.ones((2, 3), np.float32))
    return made


def test_the_gradient_passes_through(opdiff):
    checked = opdiff(layer(), uniform(-1, 1, (2, 3)), reference=lambda x: 3 * x, vjp=lambda g, x: g)
    assert {"cpu/eager", "cpu/function", "cpu/xla"} <= set(checked.plans)


def test_the_gradient_is_scaled(opdiff):
    opdiff(layer(), uniform(-1, 1, (2, 3)), reference=lambda x: 3 * x, vjp=lambda g, x: 3 * g)


def plus_one(x):
    return x + 1
"""


@pytest.fixture
def project(tmp_path):
    """A folder with a module of tests, which has nothing to do with this repository."""
    (tmp_path / "test_layer.py").write_text(PROJECT)
    return tmp_path


def test_another_project_checks_its_layer_by_the_fixture(site, project):
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:xdist", "-q"]
    env = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")} | {"PYTHONPATH": str(site)}
    done = subprocess.run(command, cwd=project, env=env, capture_output=True, text=True, check=False)
    assert "1 failed, 1 passed" in done.stdout, done.stdout + done.stderr
    assert "Differs: mismatch: Scaled-float32-drawn on cpu/eager, cpu/function, cpu/xla against numpy" in done.stdout
    assert "rerun: pytest 'test_layer.py::test_the_gradient_is_scaled'" in done.stdout


def test_another_project_checks_a_function_from_the_shell(site, project):
    (entry,) = re.findall(
        r"^tf-opdiff *= *([\w.]+):(\w+)$", next(site.glob("*.dist-info/entry_points.txt")).read_text(), re.MULTILINE
    )[:1]
    script = project / "tf-opdiff"
    script.write_text(f"import sys\nfrom {entry[0]} import {entry[1]}\nsys.exit({entry[1]}())\n")
    env = {**os.environ, "PYTHONPATH": str(site)}

    def run(*words):
        command = [sys.executable, str(script), "check", *words]
        return subprocess.run(command, cwd=project, env=env, capture_output=True, text=True, check=False)

    done = run("test_layer:plus_one", "--device", "cpu", "--mode", "eager", "--mode", "function")
    assert (done.returncode, done.stdout.partition(":")[0]) == (0, "test_layer"), done.stdout + done.stderr
    done = run("test_layer:minus_one")
    assert (done.returncode, done.stdout) == (4, "")
    assert done.stderr.splitlines()[-1].startswith("tf-opdiff check: test_layer:minus_one: module 'test_layer' has no")
