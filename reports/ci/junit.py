"""JUnit: pytest's XML, adapted to the tools of CI that show it.

GitLab reads `classname` (its column "Suite"), `name`, `file`, `time`, and the text, not the message, of a `failure`,
`error` or `skipped`; of several tests with the same name it keeps the first
(https://docs.gitlab.com/ci/testing/unit_test_reports/). The common actions on GitHub read `classname`, `name`, `time`,
`file` and `line`, the first `failure` or `error`, and its message, which they show before the text. No tool shows
properties. pytest writes these attributes with `junit_family = xunit1`. The schema of Jenkins has neither `file` and
`line` nor properties of a single test, and Jenkins ignores them.
"""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import pandas as pd

from tf_opdiff.harness.spec.plan import PlanName
from tf_opdiff.harness.store.run_directories.run_info import RunInfo
from tf_opdiff.harness.system.processor import described
from tf_opdiff.reports.data.figures import tables
from tf_opdiff.reports.data.names import spec_lines
from tf_opdiff.reports.data.run_data import files, run_environment
from tf_opdiff.reports.text.sentences import sentence

#: The test that fails if the run is partial, for tools that show only tests.
WHOLE = {"classname": "tf-opdiff", "name": "the run is whole"}
OURS = "opdiff."
LISTED = 50
_ILLEGAL = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def finish(path: Path, records: pd.DataFrame, info: RunInfo) -> None:
    """Rewrites pytest's XML.

    Each item gets the name of its family and the file and line of its spec. The message of a failure is cut to its
    first line. The run's facts become properties. One more test says whether the run is whole.

    Does nothing if the file does not exist. A second time it changes nothing.

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
        if not case.get("name"):  # pytest died during the test and recorded nothing else
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
    """Gives a test of the suites the name of its family and the file and line of its spec."""
    generic = re.fullmatch(r"test_op\[(.+)\]", case.get("name", ""))
    if not generic or generic[1] not in items:
        return
    suite, spec = items[generic[1]]
    file, line = spec_lines.place(suite, spec)
    case.attrib.update(classname=f"suites.{legal(suite)}", name=generic[1], file=file, line=str(line))


def _shorten(case: Element) -> None:
    """Cuts the message of a failure to its first line."""
    for failure in (*case.iterfind("failure"), *case.iterfind("error")):
        lines = failure.get("message", "").removeprefix("Failed: ").splitlines()
        failure.set("message", lines[0] if lines else "")


def _facts(suite: Element, records: pd.DataFrame, info: RunInfo) -> None:
    """Writes the run's facts as properties, in place of our earlier ones."""
    properties = suite.find("properties")
    if properties is None:
        properties = Element("properties")
        suite.insert(0, properties)
    for old in [p for p in properties if p.get("name", "").startswith(OURS)]:
        properties.remove(old)
    requested = [name for name, about in info.devices.items() if run_environment.requested(about)]
    facts: dict[str, object] = {"run": info.run, "tensorflow": info.tf, "cuda": info.cuda, "host": info.host}
    facts["processor"] = described(info.machine)
    facts["tier"] = info.tier
    facts |= {"devices": " ".join(requested), "not_asked": " ".join(sorted(set(info.devices) - set(requested)))}
    facts |= {"modes": " ".join(info.modes), "state": info.state, "planned": info.planned, "recorded": info.recorded}
    facts |= {f"records.{verdict}": n for verdict, n in tables.counts(records).items()}
    for name, value in facts.items():
        properties.append(Element("property", name=OURS + name, value=legal(str(value))))


def _whole(suite: Element, records: pd.DataFrame, info: RunInfo) -> None:
    """Writes the test that says whether the run is whole, in place of an earlier one."""
    for old in [c for c in suite.iterfind("testcase") if WHOLE.items() <= c.attrib.items()]:
        _count(suite, -1, error=old.find("error") is not None)
        suite.remove(old)
    case = Element("testcase", WHOLE, time="0.000")
    missing = sentence.shortfalls(info)
    if missing:
        message = legal(sentence.of_run(info, tables.counts(records)))
        error = Element("error", message=message)
        cells = [f"{c['case']} on {PlanName(c['device'], c['mode'])}: {c['why']}" for c in info.not_run[:LISTED]]
        cells += [f"and {len(info.not_run) - LISTED:,} more cells"] if len(info.not_run) > LISTED else []
        error.text = "\n".join([message, *map(legal, cells)])
        case.append(error)
    suite.append(case)
    _count(suite, 1, error=bool(missing))


def _count(suite: Element, n: int, *, error: bool) -> None:
    """Adds `n` to the count of tests, and to that of errors if the test is one."""
    for name in ("tests", "errors") if error else ("tests",):
        suite.set(name, str(int(suite.get(name, "0")) + n))


def legal(text: str) -> str:
    """A text in which a replacement character stands for each character that XML can't hold."""
    return _ILLEGAL.sub("\ufffd", text)
