"""A tenth of the tests with many subjects: which, by what seed, and with what the newest commit changed."""

import subprocess
import sys

import pytest

from tf_opdiff.harness.paths import ROOT
from tf_opdiff.harness.tests.patience import PATIENCE
from tf_opdiff.harness.tests.rotation import drawn, subject

NAMES = {f"a.py::test_many[{n}]": {f"{n}.py", "common.py"} for n in range(95)}
FILE = """
import pytest

@pytest.mark.rotating
@pytest.mark.parametrize("n", range(40))
def test_many(n):
    pass

def test_one():
    pass
"""


def test_a_tenth_is_drawn_rounded_up_and_at_least_one_of_each_function():
    others = {name: set() for name in ("a.py::test_few[x]", "a.py::test_few[y]", "b.py::test_alone")}
    chosen = drawn(NAMES | others, "seed")
    assert len(chosen & {*NAMES}) == 10
    assert len(chosen & {*others}) == 2
    assert "b.py::test_alone" in chosen


def test_a_seed_draws_the_same_again_in_any_order_and_another_seed_draws_others():
    assert drawn(NAMES, "seed") == drawn(dict(reversed(NAMES.items())), "seed") != drawn(NAMES, "other")


def test_every_subject_is_drawn_by_some_of_a_hundred_seeds():
    assert set().union(*(drawn(NAMES, str(seed)) for seed in range(100))) == {*NAMES}


def test_functions_with_the_same_subjects_draw_the_same():
    others = {name.replace("many", "others"): files for name, files in NAMES.items()}
    chosen = drawn(NAMES | others, "seed")
    assert {name.replace("many", "others") for name in chosen & {*NAMES}} == chosen & {*others}


def test_a_subject_whose_file_changed_is_in_every_run_unless_more_than_two_tenths_changed():
    few = {f"a.py::test_many[{n}]" for n in range(20)}
    files = {f"{n}.py" for n in range(20)}
    assert drawn(NAMES, "seed", files) == drawn(NAMES, "seed") | few
    assert len(drawn(NAMES, "seed", {"common.py"})) == 30
    assert drawn(NAMES, "seed", {"README.md"}) == drawn(NAMES, "seed")


@pytest.mark.parametrize(
    ("file", "path"),
    [
        ("harness/spec/plan.py", "harness/spec/plan.py"),
        ("tf_opdiff/harness/spec/plan.py", "harness/spec/plan.py"),
        ("tf_opdiff.suites.ops.math.zeta", "suites/ops/math/zeta.py"),
        ("tf_opdiff.model.worker", "tf_opdiff/model/worker.py"),
    ],
)
def test_files_of_a_subject_are_named_as_git_names_them(file, path):
    (mark,) = subject("value", file).marks
    assert mark.args == (path,)


@pytest.mark.parametrize(("options", "count"), [((), 41), (("--tenth=seed",), 5)])
def test_without_a_seed_all_run_and_with_one_the_output_says_how_to_repeat_it(tmp_path, options, count):
    file = tmp_path / "test_it.py"
    file.write_text(FILE)
    command = [sys.executable, "-m", "pytest", "-p", "tf_opdiff.harness.tests.rotation", *options, str(file)]
    command += ["-c", str(ROOT / "pyproject.toml"), "-p", "no:cacheprovider"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{count} passed" in done.stdout
    assert ("the same tenth: --tenth=seed" in done.stdout) == bool(options)


def test_a_revision_of_git_is_the_seed_of_its_commit():
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "tf_opdiff.harness.tests.rotation",
        "--tenth=HEAD",
        "--collect-only",
    ]
    done = subprocess.run([*command, __file__], cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE, check=False)
    commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert f"--tenth={commit.strip()}" in done.stdout
