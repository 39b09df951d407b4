"""The code digest changes with all that inputs and promises depend on; a process that runs other code says so."""

import os
import subprocess
import sys
import time

import pytest

from tf_opdiff.harness.paths import ROOT

#: Prints the digest of the package `planted`, and why it does not hold; `then` is Python that runs in between.
SCRIPT = """
import sys
sys.path.insert(0, {folder!r})
import planted.specs
from tf_opdiff.harness.store.run_directories.code_digest import CodeDigest
code = CodeDigest("planted")
{then}
print(code.digest)
print(code.change())
"""
FILES = {
    "planted/__init__.py": "",
    "planted/specs.py": "from planted.inner import value\nimport outside_planted\n",
    "planted/inner.py": "value = 1\n",
    "planted/table.txt": "1\n",
    "outside_planted.py": "import outside_further\n",
    "outside_further.py": "value = 1\n",
    "later.py": "",
}


@pytest.fixture
def digest(tmp_path):
    """digest(then) → the digest and the reason, in a new process, of a package planted in `tmp_path`."""
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)

    def run(then="", **env):
        changed = max(path.stat().st_ctime for path in tmp_path.rglob("*"))
        while time.time() < changed + 0.05:  # the clocks of files and of processes are coarse
            os.sched_yield()
        script = SCRIPT.format(folder=str(tmp_path), then=then)
        command, bytecode = [sys.executable, "-c", script], {"PYTHONDONTWRITEBYTECODE": ""}
        done = subprocess.run(
            command, check=True, cwd=ROOT, capture_output=True, text=True, env=os.environ | bytecode | env
        )
        first, reason = done.stdout.split("\n")[:2]
        return first, reason

    return run


def test_two_processes_have_the_same_digest(digest):
    (first, reason), (second, _) = digest(), digest()
    assert (first, reason) == (second, "")


@pytest.mark.parametrize("name", ["planted/specs.py", "planted/inner.py", "planted/table.txt", "outside_further.py"])
def test_the_digest_changes_with_every_module_that_is_used_however_far_away(digest, tmp_path, name):
    before, _ = digest()
    with (tmp_path / name).open("a") as file:
        file.write("# changed\n")
    assert digest()[0] != before


def test_a_new_module_of_the_package_changes_the_digest(digest, tmp_path):
    before, _ = digest()
    (tmp_path / "planted" / "new.py").write_text("")
    assert digest()[0] != before


def test_a_change_of_the_same_size_within_a_second_of_the_last_import_changes_the_digest(digest, tmp_path):
    """Python runs the old bytecode then, as it goes by size and second: the digest must be neither the old nor new."""
    path = tmp_path / "planted" / "inner.py"
    old, _ = digest()
    facts = path.stat()
    path.write_text("value = 2\n")
    os.utime(path, ns=(facts.st_atime_ns, facts.st_mtime_ns))
    stale, _ = digest()
    os.utime(path, ns=(facts.st_atime_ns, facts.st_mtime_ns + 10**10))
    new, _ = digest()
    assert len({old, stale, new}) == 3


@pytest.mark.parametrize(
    ("name", "one", "other"),
    [
        ("OMP_NUM_THREADS", "2", "3"),
        ("NPY_DISABLE_CPU_FEATURES", "AVX512_ICL", ""),
        ("OPENBLAS_CORETYPE", "Haswell", "Sandybridge"),
    ],
)
def test_the_digest_changes_with_variables_that_numeric_libraries_read(digest, name, one, other):
    assert digest(**{name: one})[0] != digest(**{name: other})[0]


def test_the_digest_changes_with_an_installed_package_but_not_with_tensorflow(digest, tmp_path):
    before, _ = digest()
    (tmp_path / "tensorflow-9.0.dist-info").mkdir()
    (tmp_path / "keras-9.0.dist-info").mkdir()
    assert digest()[0] == before
    (tmp_path / "numpy-9.0.dist-info").mkdir()
    with_numpy, _ = digest()
    (tmp_path / "numpy-9.0.dist-info" / "RECORD").write_text("numpy/core.py,sha256=0,1\n")
    assert len({before, with_numpy, digest()[0]}) == 3


@pytest.mark.parametrize(
    ("then", "reason"),
    [
        ("open({inner!r}, 'a').write('# changed')", "inner.py changed during the run"),
        ("open({new!r}, 'w')", "new.py changed during the run"),
        ("import os; os.remove({inner!r})", "inner.py changed during the run"),
        ("import later", "later.py was imported later"),
    ],
)
def test_a_process_whose_code_may_differ_from_its_files_says_so(digest, tmp_path, then, reason):
    folder = tmp_path / "planted"
    before, _ = digest()
    same, why = digest(then.format(inner=str(folder / "inner.py"), new=str(folder / "new.py")))
    assert same == before
    assert why.endswith(reason)
