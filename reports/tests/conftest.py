"""What the reports' tests share: made-up runs, and a browser."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tf_opdiff import reports
from tf_opdiff.harness.store.records.record import Record
from tf_opdiff.harness.tests.conftest import run_pytest, shared_run  # noqa: F401  fixtures
from tf_opdiff.reports.tests.browser import Browser
from tf_opdiff.reports.tests.planted import synthetic


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers", "browser: drives Chromium; fails where there is none, `-m 'not browser'` leaves it out"
    )


@pytest.fixture(scope="session")
def rows() -> list[Record]:
    """3,904 records of 61 specs in 8 suites, with every verdict."""
    return synthetic.records(synthetic.ops(), ["cpu", "gpu:0"], ["edges", "bits", "plain", "halves"])


@pytest.fixture(scope="session")
def run(rows: list[Record], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory of a whole run with its report; tests only read it."""
    directory = tmp_path_factory.mktemp("run")
    info = synthetic.write(directory, rows, observed=True)
    taken = [{"T": ["float32", "bfloat16"], "Tidx": ["int32"]}, {"T": ["int64"]}]
    kernels = {op: {"GPU": taken, "CPU": [{}]} for row in rows for op in row.raw_op.split(";")}
    (directory / "kernels.json").write_text(json.dumps(kernels))
    reports.write(directory, info)
    return directory


HOSTILE = (
    "</script><script>window.pwned=1</script>",
    "<img src=x onerror=window.pwned=1>",
    '" onmouseover="window.pwned=1" x=\'',
    "'\"><svg/onload=window.pwned=1>",
    "{{ 7*7 }}{% raw %} ${7*7} <!-- ]]>",
    "a\u2028b\u2029c\u202ed\x00e\x1b[31mf\ud800g",
)


@pytest.fixture(scope="session")
def hostile_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of a run whose every text is hostile, `run.json` included."""
    directory = tmp_path_factory.mktemp("hostile")
    first = ("suite", "spec", "raw_op", "case", "recipe", "device", "mode", "ran_on", "against", "quantity")
    fields = (*first, "worst_index", "input", "got", "want")
    found = []
    for i, text in enumerate(HOSTILE):
        for j, verdict in enumerate(("mismatch", "known", "match")):
            row = replace(synthetic.records([("s", "op")], ["cpu"], ["edges"])[0], verdict=verdict)
            texts: dict[str, Any] = dict.fromkeys(fields, f"{text}{i}{j}")
            row = replace(row, **texts, kind="" if verdict == "match" else "value")
            row = replace(row, detail=text, owner=text, reason=text, rerun=text, dtype=text, seed=text)
            found.append(replace(row, link=("javascript:window.pwned=1", f"https://example.org/{text}", text)[j]))
    clean = [text.encode("utf-8", "replace").decode() for text in HOSTILE]
    facts = dict.fromkeys(clean, clean[0])
    info = synthetic.write(
        directory, found, run=clean[0], host=clean[1], tf=clean[2], cuda=clean[3], state=clean[1], deselected=clean,
        versions=facts, flags=facts, machine=facts, arguments=clean, modes=clean, planned=99, tier=clean[0],
        devices={text: {"asked": i % 2 == 0, text: text} for i, text in enumerate(clean)},
        not_run=[{"case": text, "device": text, "mode": text, "why": text} for text in clean],
    )  # fmt: skip
    types = [{text: [text, clean[0]]} for text in HOSTILE]
    (directory / "kernels.json").write_text(json.dumps({row.raw_op: dict.fromkeys(HOSTILE, types) for row in found}))
    reports.write(directory, info)
    return directory


@pytest.fixture(scope="session")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """A browser; a test that wants one fails where there is none."""
    program = shutil.which("chromium")
    if not program:
        pytest.fail(
            "no chromium on the PATH: install Debian's chromium, or leave these out by -m 'not browser'", pytrace=False
        )
    browser = Browser(program, tmp_path_factory.mktemp("browser") / "profile")
    yield browser
    browser.close()


@pytest.fixture
def browser(chromium: Browser) -> Browser:
    """The browser with a window of ordinary size, light colours, and nothing said or asked yet."""
    chromium.look()
    chromium.said.clear()
    chromium.asked.clear()
    return chromium


@pytest.fixture
def github(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a stand-in for gh, which is the first on the PATH; see `reports.tests.fake_gh`."""
    folder = tmp_path / "github"
    (folder / "bin").mkdir(parents=True)
    program = folder / "bin" / "gh"
    program.write_text(f"#!/bin/sh\nexec '{sys.executable}' '{Path(__file__).with_name('fake_gh.py')}' \"$@\"\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("FAKE_GH", str(folder))
    return folder
