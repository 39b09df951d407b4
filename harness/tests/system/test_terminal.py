"""Texts from anywhere go to a terminal and to a CI's log as text: nothing in them is obeyed."""

import io
import subprocess
import sys
from dataclasses import replace
from types import SimpleNamespace

import pytest

from tf_opdiff.harness.paths import ROOT
from tf_opdiff.harness.run.sessions import session_hooks
from tf_opdiff.harness.store.records.record import Record
from tf_opdiff.harness.store.run_directories.run_info import RunInfo
from tf_opdiff.harness.sweep import progress
from tf_opdiff.harness.system.terminal import Guarded, guarded, safe
from tf_opdiff.harness.tests.patience import PATIENCE

ODD = "a\x1b[31mred\x1b]0;title\x07\x9b2J\r##[error]no\n::error file=x::no\n  ::set-output name=a::b\n"
ODD += "##vso[task.x]\u202e\ud800é\t."


def obeyed(text):
    """What of a text a terminal or a CI would obey."""
    lines = [line for line in text.splitlines() if line.lstrip().startswith("::") or "##[" in line or "##vso[" in line]
    return lines + [c for c in text if not c.isprintable() and c not in "\n\t"]


def test_what_a_terminal_or_a_ci_would_obey_is_written_out():
    assert obeyed(ODD)
    assert not obeyed(safe(ODD))
    assert safe(ODD).startswith(r"a\x1b[31mred\x1b]0;title\x07\x9b2J\r## [error]no" + "\n: :error file=x::no\n")
    assert safe(ODD).endswith("\\u202e\\ud800é\t.")
    assert safe(safe(ODD)) == safe(ODD)


@pytest.mark.parametrize("text", ["", "plain\n\ttext, ×: ±0\n", "std::vector at 3::4", "# ## [1]"])
def test_other_texts_stay_as_they_are(text):
    assert safe(text) == text


def test_a_guarded_stream_writes_safe_texts_and_is_the_stream_otherwise():
    stream = io.StringIO()
    guarded = Guarded(stream)
    print(ODD, "::error::", file=guarded)
    assert not obeyed(stream.getvalue()) and not guarded.closed


@pytest.mark.parametrize("verdict", ["mismatch", "unavailable"])
def test_a_failing_item_and_one_that_is_skipped_say_nothing_that_is_obeyed(verdict):
    record = Record(case=ODD, verdict=verdict, kind="crash", detail=ODD, got=ODD, rerun=ODD, device="cpu", mode="xla")
    runner = SimpleNamespace(run=lambda item: [record, replace(record, quantity=ODD)])
    request = SimpleNamespace(
        config=SimpleNamespace(stash={session_hooks.SESSION: SimpleNamespace(runner=runner, unsaved="")})
    )
    check = session_hooks.check._get_wrapped_function()(request, lambda *_: None)
    with pytest.raises((pytest.fail.Exception, pytest.skip.Exception)) as ended:
        check(None)
    assert "red" in str(ended.value) and not obeyed(str(ended.value))


@pytest.mark.parametrize(
    "words",
    [["reports"], ["harness", "merge"], ["harness", "table", "by_op"], ["harness", "diff", "."], ["harness", "sweep"]],
)
def test_no_command_prints_what_is_obeyed(tmp_path, words):
    (tmp_path / "shards").mkdir()
    path = tmp_path / "a\x1b[31m##[error]b"
    path.mkdir()
    (path / "run.json").write_text('{"run": 3}')
    done = subprocess.run(
        [sys.executable, "-m", *words, str(path)],
        check=False,
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert done.returncode == 4 and done.stderr.count("\n") == 1
    assert not obeyed(done.stderr + done.stdout)


def test_a_refusal_to_run_quotes_a_run_from_anywhere_without_what_is_obeyed(tmp_path):
    RunInfo(run="r", started="s", suites=ODD).save(tmp_path)
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--color=no", f"--resume={tmp_path}", "suites"]
    done = subprocess.run(command, check=False, cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 4 and "it is a run of a\\x1b[31mred" in done.stderr, done.stderr
    assert not obeyed(done.stderr + done.stdout)


class Screen(io.StringIO):
    """A terminal that keeps what it is sent."""

    def isatty(self):
        return True


def test_a_sweep_draws_its_bar_on_a_guarded_terminal_and_prints_beside_it_nothing_that_is_obeyed(monkeypatch):
    screen = Screen()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("TERM", "xterm")
    with guarded(), progress.shown("floor", 2) as step:
        step(1)
        assert "\x1b[" in screen.getvalue()
        before = len(screen.getvalue())
        print("\x1b]0;title\x07 ##[error]no", file=sys.stderr)
    assert "\\x1b]0;title\\x07 ## [error]no" in screen.getvalue()[before:]
    assert "\x1b]0;" not in screen.getvalue()
