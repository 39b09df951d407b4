"""The archive of programs: many programs of known failures become one file, and every other program stays a file."""

import lzma
import tarfile
from dataclasses import fields, replace
from pathlib import Path

import pytest

from tf_opdiff.harness.repro import archive
from tf_opdiff.harness.repro.script_runs.outcome import Outcome
from tf_opdiff.harness.store.formats import untrusted

BLANK = Outcome(**{field.name: "" for field in fields(Outcome)[:10]})


def written(folder: Path, many: int, *, verdict: str = "known") -> list[Outcome]:
    """Outcomes with a program each, in a folder."""
    folder.mkdir(exist_ok=True)
    names = [f"{verdict}-{n}.py" for n in range(many)]
    for name in names:
        (folder / name).write_text(f"print('{name}: é')\n")
    return [replace(BLANK, verdict=verdict, status="reproduced", script=f"repro/{name}") for name in names]


def test_many_programs_of_known_failures_become_one_file_and_other_programs_stay(tmp_path: Path) -> None:
    folder = tmp_path / "repro"
    outcomes = [*written(folder, archive.LEAST), *written(folder, 2, verdict="mismatch")]
    texts = {path.name: path.read_text() for path in folder.iterdir()}
    packed = archive.pack([*outcomes, BLANK], folder)
    assert {path.name for path in folder.iterdir()} == {archive.NAME, "mismatch-0.py", "mismatch-1.py"}
    assert packed[0].script == f"repro/{archive.NAME}/known-0.py" and packed[-2:] == [outcomes[-1], BLANK]
    programs = archive.read(folder / archive.NAME)
    assert programs == {name: text for name, text in texts.items() if name.startswith("known")}
    with tarfile.open(folder / archive.NAME) as tar:  # as `tar -xf` does
        tar.extract("known-7.py", tmp_path, filter="data")
    assert (tmp_path / "known-7.py").read_text() == texts["known-7.py"]


def test_few_programs_stay_files(tmp_path: Path) -> None:
    outcomes = written(tmp_path, archive.LEAST - 1)
    assert archive.pack(outcomes, tmp_path) == outcomes
    assert not (tmp_path / archive.NAME).exists()


def test_equal_programs_give_equal_archives(tmp_path: Path) -> None:
    for name in ("a", "b"):
        archive.pack(written(tmp_path / name, archive.LEAST), tmp_path / name)
    a, b = (tmp_path / name / archive.NAME for name in ("a", "b"))
    assert a.read_bytes() == b.read_bytes()


def test_a_damaged_archive_is_one_line(tmp_path: Path) -> None:
    archive.pack(written(tmp_path, archive.LEAST), tmp_path)
    path = tmp_path / archive.NAME
    for data in (b"no archive", path.read_bytes()[:-200], lzma.compress(b"no tar")):
        path.write_bytes(data)
        with pytest.raises(ValueError, match="is damaged") as why:
            archive.read(path)
        assert "\n" not in str(why.value)


def test_an_archive_does_not_expand_without_bound(tmp_path: Path) -> None:
    path = tmp_path / archive.NAME
    path.write_bytes(lzma.compress(bytes(untrusted.TEXT + 1000), preset=1))
    with pytest.raises(ValueError, match="expected programs of at most"):
        archive.read(path)
