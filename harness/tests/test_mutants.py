"""No fault planted in the harness's judging code goes unnoticed by its tests; see `mutants.toml`."""

import subprocess
import sys
from collections import defaultdict

import pytest

from tf_opdiff.harness.tests.mutation import ROOT, Mutant, Outdated, copied, mutants, path_of, trouble
from tf_opdiff.harness.tests.rotation import subject

ALL = mutants()
#: file → the files of the tests that have to notice what is planted in it.
QUICK = defaultdict(set)
for _mutant in ALL:
    if not _mutant.real:
        QUICK[_mutant.file] |= {path_of(test).partition("::")[0] for test in _mutant.tests}


def test_every_mutant_is_of_todays_code():
    assert len({mutant.name for mutant in ALL}) == len(ALL)
    outdated = []
    for mutant in ALL:
        try:
            mutant.source()
            any(map(path_of, mutant.tests))
        except Outdated as why:
            outdated.append(str(why))
    assert not outdated, "\n".join(outdated)


@pytest.mark.parametrize("file", [subject(file, file, *tests) for file, tests in QUICK.items()])
def test_no_mutant_survives(file):
    done = subprocess.run(
        [sys.executable, "-m", "tf_opdiff.harness.tests.mutation", file],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.mutation
@pytest.mark.parametrize("mutant", [m for m in ALL if m.real], ids=lambda m: m.name)
def test_no_mutant_survives_a_real_run(mutant, tmp_path):
    assert trouble(mutant, *copied(mutant, tmp_path)) == ""


def test_an_outdated_mutant_says_how_to_mend_it():
    with pytest.raises(
        Outdated, match=r"harness/spec/plan.py has its `old` 0 times, expected once: in mutants.toml, copy"
    ):
        Mutant("gone", "harness/spec/plan.py", "no such text", "", []).source()


@pytest.mark.parametrize(("status", "says"), [(1, ""), (0, "survives: 'a' → 'b'"), (2, "ended with 2"), (-14, "-14")])
def test_a_mutant_is_killed_by_a_test_that_fails_and_by_nothing_else(status, says):
    found = trouble(Mutant("m", "f.py", "a", "b", ["test_x.py"]), status, "one\ntwo")
    assert says in found
    assert bool(found) is bool(says)
