"""The command line: its verbs in groups, its version, and one line for a verb that does not exist."""

from __future__ import annotations

import pytest

from tf_opdiff.command_line import main
from tf_opdiff.harness.spec.plan import Device
from tf_opdiff.harness.store.run_directories.open_run import require
from tf_opdiff.verbs import GROUPS, VERBS


def test_each_verb_stands_in_one_group() -> None:
    assert sorted(name for names in GROUPS.values() for name in names) == sorted(VERBS)


def test_the_help_lists_each_verb_once_in_its_group(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    text = capsys.readouterr().out
    first = [line.split()[0] for line in text.splitlines() if line[:2] == "  " and line[2:3].isalpha()]
    assert [name for name in first if name in VERBS] == [name for names in GROUPS.values() for name in names]
    assert [title for title in GROUPS if f"\n{title}:\n" in text] == [*GROUPS]


def test_the_version_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("tf-opdiff ")


@pytest.mark.parametrize(("word", "near"), [("chek", "check"), ("diffs", "diff"), ("models", "model")])
def test_a_verb_that_does_not_exist_gets_one_line_with_the_nearest(
    word: str, near: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([word, "x"]) == 4
    (line,) = capsys.readouterr().err.splitlines()
    assert f"no verb {word!r}; there is {near}" in line


def test_an_option_before_the_verb_gets_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--device", "cpu"]) == 4
    (line,) = capsys.readouterr().err.splitlines()
    assert line.endswith("expected a verb first, got '--device'; --help lists them all")


def test_a_missing_file_is_named_without_a_number(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["table", "by_op", "/nowhere/at/all"]) == 4
    (line,) = capsys.readouterr().err.splitlines()
    assert "/nowhere/at/all" in line and "Errno" not in line


def test_cuda_is_told_the_name_of_the_device() -> None:
    with pytest.raises(LookupError, match=r"device cuda:0 is not there; TensorFlow lists cpu.* gpu:0"):
        require([Device.parse("cuda")], ["cpu"])
