"""JUnit: pytest's XML, made fit for the places where CI shows it.

What is read there: GitLab takes `classname` (its column "Suite"), `name`, `file`, `time`, and of a
`failure`, `error` or `skipped` the text, not the message; of tests with the same names it keeps the first
(https://docs.gitlab.com/ci/testing/unit_test_reports/). The usual actions on GitHub take `classname`, `name`, `time`,
`file` and `line`, the first `failure` or `error`, and its message, which stands in front of the text. Nobody shows
properties; they are for tools. pytest says with `junit_family = xunit1` what these read; Jenkins' schema knows neither
`file` and `line` nor properties of a single test, and ignores them.
"""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import pandas as pd

from tf_opdiff.harness.store.processor import described
from tf_opdiff.harness.store.rundir import RunInfo
from tf_opdiff.reports.data import files, spec_lines, tables
from tf_opdiff.reports.text import sentence

#: The test that fails where the run itself is not whole, so that it shows where only tests are shown.
WHOLE = {"classname": "tf-opdiff", "name": "the run is whole"}
OURS = "opdiff."
LISTED = 50
_ILLEGAL = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def finish(path: Path, records: pd.DataFrame, info: RunInfo) -> None:
    """Rewrites pytest's XML: each item is named by its family and stands where its spec does; a failure's message is
    its first line; the run's facts are properties; a test more says whether the run is whole.

    Does nothing where there is no such file. Doing it again changes nothing.

    Raises:
      ValueError: the file is no JUnit XML.
    """
    if not path.is_file():
        return
    try:
        root = ElementTree.parse(path).getroot()
    except ElementTree.ParseError as why:
        raise ValueError(f"{path} is no XML ({why})") from why
    suite = root if root.tag == "testsuite" else root.find("testsuite")
    if suite is None:
        raise ValueError(f"{path} is no JUnit XML: it has no testsuite")
    items = _items(records)
    for case in suite.findall("testcase"):
        if not case.get("name"):  # pytest died before the test was through, and knows nothing more of it
            suite.remove(case)
        _place(case, items)
        _shorten(case)
    _facts(suite, records, info)
    _whole(suite, records, info)
    text = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    files.replace(path, lambda file: file.write(text))


def _items(records: pd.DataFrame) -> dict[str, tuple[str, str]]:
    """The suite and spec of each item, by the item's id."""
    some = records[["suite", "spec", "dtype"]].astype("str").drop_duplicates()
    return {f"{row.spec}-{row.dtype}": (str(row.suite), str(row.spec)) for row in some.itertuples()}


def _place(case: Element, items: dict[str, tuple[str, str]]) -> None:
    generic = re.fullmatch(r"test_op\[(.+)\]", case.get("name", ""))
    if not generic or generic[1] not in items:
        return
    suite, spec = items[generic[1]]
    file, line = spec_lines.place(suite, spec)
    case.attrib.update(classname=f"suites.{legal(suite)}", name=generic[1], file=file, line=str(line))


def _shorten(case: Element) -> None:
    for found in (*case.iterfind("failure"), *case.iterfind("error")):
        lines = found.get("message", "").removeprefix("Failed: ").splitlines()
        found.set("message", lines[0] if lines else "")


def _facts(suite: Element, records: pd.DataFrame, info: RunInfo) -> None:
    """The run's facts as properties, in place of those that stand there."""
    there = suite.find("properties")
    if there is None:
        there = Element("properties")
        suite.insert(0, there)
    for old in [p for p in there if p.get("name", "").startswith(OURS)]:
        there.remove(old)
    asked = [name for name, about in info.devices.items() if about.get("asked")]
    facts: dict[str, object] = {"run": info.run, "tensorflow": info.tf, "cuda": info.cuda, "host": info.host}
    facts["processor"] = described(info.machine)
    facts["tier"] = info.tier
    facts |= {"devices": " ".join(asked), "not_asked": " ".join(sorted(set(info.devices) - set(asked)))}
    facts |= {"modes": " ".join(info.modes), "state": info.state, "planned": info.planned, "recorded": info.recorded}
    facts |= {f"records.{verdict}": n for verdict, n in tables.counts(records).items()}
    for name, value in facts.items():
        there.append(Element("property", name=OURS + name, value=legal(str(value))))


def _whole(suite: Element, records: pd.DataFrame, info: RunInfo) -> None:
    for old in [c for c in suite.iterfind("testcase") if WHOLE.items() <= c.attrib.items()]:
        _count(suite, -1, error=old.find("error") is not None)
        suite.remove(old)
    case = Element("testcase", WHOLE, time="0.000")
    missing = sentence.shortfalls(info)
    if missing:
        said = legal(sentence.of_run(info, tables.counts(records)))
        error = Element("error", message=said)
        lost = [f"{cell['case']} on {cell['device']}/{cell['mode']}: {cell['why']}" for cell in info.not_run[:LISTED]]
        lost += [f"and {len(info.not_run) - LISTED:,} more cells"] if len(info.not_run) > LISTED else []
        error.text = "\n".join([said, *map(legal, lost)])
        case.append(error)
    suite.append(case)
    _count(suite, 1, error=bool(missing))


def _count(suite: Element, n: int, *, error: bool) -> None:
    for name in ("tests", "errors") if error else ("tests",):
        suite.set(name, str(int(suite.get(name, "0")) + n))


def legal(text: str) -> str:
    """A text without the characters that XML has no way to hold."""
    return _ILLEGAL.sub("\ufffd", text)
