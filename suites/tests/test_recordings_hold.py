"""What is recorded of other devices still holds: a shard of each recording is judged again, without TensorFlow."""

import subprocess
import sys
from collections import Counter

import pytest

from tf_opdiff.harness.paths import ROOT
from tf_opdiff.harness.store.merged import merge
from tf_opdiff.harness.store.run_info import RunInfo
from tf_opdiff.harness.tests.patience import PATIENCE

#: Recordings of whole devices, and the least share of their results that today's code must be able to judge.
RECORDINGS = {"h200@2.21.0": 0.9}


@pytest.mark.parametrize("name", RECORDINGS)
def test_nothing_recorded_is_red(name, tmp_path):
    directory = tmp_path / "run"
    command = [sys.executable, "-m", "pytest", "-q", "--device", name, "--shard", "7/64", f"--run-dir={directory}"]
    done = subprocess.run(
        [*command, "--repro=none"], check=False, cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE
    )
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr
    assert "partial" in RunInfo.load(directory).devices[name]  # its run was stopped after a quarter of an hour
    verdicts = Counter(record.verdict for record in merge([directory]).records)
    judged = sum(count for verdict, count in verdicts.items() if verdict != "unavailable")
    assert judged > 2000
    assert judged > RECORDINGS[name] * sum(verdicts.values()), verdicts
