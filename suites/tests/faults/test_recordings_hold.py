"""What is recorded of other devices still holds: a shard of each recording is judged again, without TensorFlow."""

import subprocess
import sys
from collections import Counter

import pytest

from tf_opdiff.harness.paths import ROOT
from tf_opdiff.harness.store.run_directories.run_info import RunInfo
from tf_opdiff.harness.store.shards.merged import merge
from tf_opdiff.harness.tests.patience import PATIENCE

#: The least share of the results of a recording that today's code must be able to judge.
LEAST = 0.9


@pytest.mark.rotating
@pytest.mark.parametrize(
    ("name", "options", "records"), [("h200@2.21.0", [], 2000), ("arm64@2.21.0", ["--mode", "eager"], 200)]
)
def test_nothing_recorded_is_red(name, options, records, tmp_path):
    directory = tmp_path / "run"
    command = [sys.executable, "-m", "pytest", "-q", "--device", name, "--shard", "7/64", f"--run-dir={directory}"]
    command += ["--repro=none", *options]
    done = subprocess.run(command, check=False, cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr
    assert "partial" in RunInfo.load(directory).devices[name]  # neither run has all cases
    verdicts = Counter(record.verdict for record in merge([directory]).records)
    judged = sum(count for verdict, count in verdicts.items() if verdict != "unavailable")
    assert judged > records
    assert judged > LEAST * sum(verdicts.values()), verdicts
