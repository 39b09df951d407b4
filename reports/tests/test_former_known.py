"""Known failures of the former format are printed in that of today."""

from pathlib import Path

import pytest

from tf_opdiff.harness.judge.known_failures.known_files import load
from tf_opdiff.harness.spec.catalog import Catalog
from tf_opdiff.reports.verbs.former_known import main

CAUSES = """\
# about the driver
[[cause]]
id = "floor-zero"
title = "A planted failure"
severity = "accuracy"
severity_reason = "planted for this test"
owner = "us"
reason = "said for \\"this\\" test of 1"
measured = "in this test alone"
numbers = [
    ["1", "f32(1)"],
]
"""
ENTRIES = """\
[[entry]]
cause = "floor-zero"
spec = ["floor", "ceil"]
device = "toy"
kind = "value"
within = "4 ulp"

[[entry]]
cause = "floor-zero"
spec = "rint"
kind = "nan"
"""


def test_a_folder_of_the_former_format_becomes_a_file_that_loads(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, own = tmp_path / "known", tmp_path / "known.toml"
    folder.mkdir()
    (folder / "causes.toml").write_text(CAUSES)
    (folder / "math.toml").write_text(ENTRIES)
    assert main([str(folder)]) == 0
    own.write_text(capsys.readouterr().out)
    first, second = load(own, Catalog.load("tf_opdiff.suites")).entries
    assert (first.spec, first.device, first.kind, first.within) == (["floor", "ceil"], "toy", "value", "4 ulp")
    assert (second.spec, second.device, second.kind) == ("rint", "*", "nan")
    assert first.cause == second.cause
    assert (first.cause.id, first.cause.reason) == ("floor-zero", 'said for "this" test of 1')
    assert (first.cause.severity, first.cause.severity_reason) == ("accuracy", "planted for this test")
    assert first.cause.numbers == (("1", "f32(1)"),)


def test_an_entry_without_its_cause_is_named_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "known.toml").write_text(ENTRIES)
    assert main([str(tmp_path / "known.toml")]) == 4
    error = capsys.readouterr().err
    assert "entry 1: expected the id of a cause in these files, got 'floor-zero'" in error and error.count("\n") == 1
