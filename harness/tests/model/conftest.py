"""Analyses of planted programs, one at a time."""

import io
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from tf_opdiff.command_line import main
from tf_opdiff.harness.spec.plan import Device, Plan
from tf_opdiff.model.analysis import Analysis
from tf_opdiff.model.request import ModelRequest

INPUTS = {"x": np.float32([[0, 1, 2, 3], [-1, 0.5, 100, 60], [0.25, -3, 7, 1e-3]])}


@pytest.fixture
def analysis_of(tmp_path):
    """analysis_of(name, **inputs) → a context with the analysis of a planted program."""

    @contextmanager
    def analysis(name, steps=1, **inputs):
        file = tmp_path / "inputs.npz"
        np.savez(file, **(inputs or INPUTS))
        request = ModelRequest(str(Path(__file__).parent), "planted_programs", name, str(file))
        with Analysis(request, tmp_path, steps, timeout=300.0) as made:
            yield made

    return analysis


@pytest.fixture
def answer_of(analysis_of):
    """answer_of(name, mode) → the recording of a planted program, and the answer about a mode of the CPU."""

    def answer(name, mode="xla", device="cpu", **options):
        with analysis_of(name, **options) as made:
            return made.recording, made.answer(Plan(Device.parse(device), mode))

    return answer


@pytest.fixture
def run(monkeypatch, tmp_path):
    """run(NAME, OPTION, …) → the exit status of an analysis of a planted program; `tmp_path` has its inputs."""
    return analyses(monkeypatch, tmp_path)


def analyses(patch, folder):
    """The function behind the fixture `run`."""
    patch.chdir(Path(__file__).parent)
    np.savez(folder / "x.npz", x=np.float32([[0, 1, 2, 3]]))

    def run(subject, *options):
        return main(["model", subject, "--input", str(folder / "x.npz"), "--device", "cpu", *options])

    return run


class ModelRun(NamedTuple):
    """The exit status of an analysis, its output, its table and its page."""

    status: int
    output: str
    table: str
    page: str


@pytest.fixture(scope="session")
def masked_root(tmp_path_factory):
    """The analysis of a program whose gradient is wrong under XLA; each setting that it tries imports TensorFlow."""
    folder, output = tmp_path_factory.mktemp("masked_root"), io.StringIO()
    files = [folder / "ops.csv", folder / "page.html"]
    options = ("--mode", "xla", "--table", str(files[0]), "--page", str(files[1]))
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(output):
        status = analyses(patch, folder)("planted_programs:masked_root", *options)
    return ModelRun(status, output.getvalue(), *(file.read_text() for file in files))
