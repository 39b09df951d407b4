"""The example of the guide gives what the guide says."""

import os
import re
import subprocess
import sys

from tf_opdiff.harness.paths import ROOT
from tf_opdiff.harness.tests.conftest import offer

GUIDE = ROOT / "docs" / "guides" / "find-the-op-in-your-model.md"


def test_the_example_of_the_guide_gives_its_answer(tmp_path):
    program, commands, answer = re.findall(r"```(?:python)?\n(.*?)```", GUIDE.read_text(), re.DOTALL)[:3]
    (tmp_path / "norms.py").write_text(program)
    make, model = commands.splitlines()
    env = os.environ | offer()
    python = f'"{sys.executable}"'
    subprocess.run(make.replace("python", python, 1), shell=True, check=True, cwd=tmp_path, env=env)
    command = model.replace("tf-opdiff", f"{python} -m tf_opdiff", 1)
    done = subprocess.run(command, shell=True, check=False, capture_output=True, text=True, cwd=tmp_path, env=env)
    assert done.returncode == 1, done.stderr
    assert done.stdout.endswith(answer)
    assert (tmp_path / "root.py").exists()
