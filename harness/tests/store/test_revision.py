"""A run says which commit of the suites it ran, and whether they were changed."""

import os
import subprocess
from pathlib import Path

import pytest

from tf_opdiff.harness.store.run_directories.revision import commit


def git(root: Path, *words: str) -> str:
    who = ("-c", "user.name=n", "-c", "user.email=n@example.org")
    return subprocess.run(["git", "-C", root, *who, *words], capture_output=True, text=True, check=True).stdout.strip()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    (tmp_path / "suites").mkdir()
    (tmp_path / "suites" / "sign.py").write_text("SPECS = ()\n")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "one")
    return tmp_path


def test_a_clean_checkout_is_its_short_hash(repository: Path) -> None:
    assert commit(repository) == git(repository, "rev-parse", "--short", "HEAD")


@pytest.mark.parametrize("name", ["suites/sign.py", "suites/new.py"])
def test_what_decides_a_verdict_and_differs_is_told(repository: Path, name: str) -> None:
    (repository / name).write_text("SPECS = (1,)\n")
    assert commit(repository).endswith(" with changes")


def test_changes_elsewhere_change_no_verdict(repository: Path) -> None:
    (repository / "notes.md").write_text("later")
    assert commit(repository) == git(repository, "rev-parse", "--short", "HEAD")


def test_asking_writes_nothing_into_the_repository(repository: Path) -> None:
    index = repository / ".git" / "index"
    os.utime(repository / "suites" / "sign.py", (1, 1))  # `git status` would note the new time
    before = index.read_bytes()
    assert commit(repository) != ""
    assert index.read_bytes() == before
    git(repository, "status")
    assert index.read_bytes() != before, "the test sees no write of git"


def test_a_folder_inside_of_another_repository_has_no_commit(repository: Path, tmp_path: Path) -> None:
    inside = repository / "unpacked"
    inside.mkdir()
    assert commit(inside) == ""


def test_a_repository_that_a_hook_names_is_not_asked(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_DIR", "/nowhere")
    assert commit(repository) != ""


def test_without_git_there_is_no_commit(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(repository))
    assert commit(repository) == ""
