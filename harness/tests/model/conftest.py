"""Analyses of planted programs, one at a time."""

from contextlib import contextmanager
from pathlib import Path

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
    """run(NAME, OPTION, …) → the exit status of an analysis of a planted program."""
    monkeypatch.chdir(Path(__file__).parent)
    np.savez(tmp_path / "x.npz", x=np.float32([[0, 1, 2, 3]]))

    def run(subject, *options):
        return main(["model", subject, "--input", str(tmp_path / "x.npz"), "--device", "cpu", *options])

    return run
