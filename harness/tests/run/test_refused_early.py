"""A name that is wrong whatever TensorFlow lists is refused before TensorFlow is imported."""

import os
import subprocess
import sys

import numpy as np
import pytest

from tf_opdiff.harness.paths import ROOT

VERBS = {
    "sweep floor --device gpu-0": "device 'gpu-0': expected TYPE or TYPE:INDEX",
    "sweep flor": "no op 'flor'; there is",
    "repro flor-float32-edges": "no case 'flor-float32-edges'; there is",
    "repro floor-float32-edges --plan gpu-0/xla": "device 'gpu-0': expected TYPE or TYPE:INDEX",
    "model own:f --input x.npz --device gpu-0": "device 'gpu-0': expected TYPE or TYPE:INDEX",
    "check own:f --device gpu-0": "device 'gpu-0': expected TYPE or TYPE:INDEX",
}
RUNS = {
    "--device gpu-0": "device 'gpu-0': expected TYPE or TYPE:INDEX",
    "--mode jit": "no mode 'jit'; there is",
    "--op-timeout 0": "argument --op-timeout: expected a number of seconds",
}
COMMANDS = {f"tf_opdiff {words}": says for words, says in VERBS.items()}
COMMANDS |= {f"pytest {ROOT / 'suites'} {words}": says for words, says in RUNS.items()}


@pytest.mark.parametrize(("words", "says"), COMMANDS.items(), ids=[*VERBS, *RUNS])
def test_a_wrong_name_is_refused_before_tensorflow_is_imported(words, says, tmp_path):
    (tmp_path / "tensorflow.py").write_text(f"open({str(tmp_path / 'imported')!r}, 'w')")
    (tmp_path / "own.py").write_text("import tensorflow\ndef f(x): return x")
    np.savez(tmp_path / "x.npz", x=np.ones(3))
    env = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")}
    env |= {"PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT)])}
    command = [sys.executable, "-m", *words.split()]
    done = subprocess.run(command, check=False, cwd=tmp_path, env=env, capture_output=True, text=True)
    assert done.returncode == 4, done.stderr
    assert says in done.stderr and "Traceback" not in done.stderr
    assert not (tmp_path / "imported").exists()
