"""Known failures stand where a reader looks for them: entries in their cause, causes in the file of their family."""

import re
import tomllib
from collections import Counter

import pytest

from tf_opdiff.harness.judge.known_failures import known_files
from tf_opdiff.harness.paths import KNOWN, ROOT, SUITES
from tf_opdiff.harness.spec.catalog import Catalog
from tf_opdiff.reports.analysis.known_failures import known_line
from tf_opdiff.reports.analysis.known_failures.known_layout import layout

FOLDER = ROOT / KNOWN
#: A page shows a title in one line of this many characters.
LINE = 110
#: Where the source files stand that causes cite.
PROJECTS = ("tensorflow/", "third_party/xla/", "xla/", "Eigen/", "unsupported/Eigen/", "sysdeps/")


@pytest.fixture(scope="module")
def known():
    return known_files.load(FOLDER, Catalog.load(SUITES))


def test_causes_stand_in_alphabetical_order():
    for path in FOLDER.iterdir():
        ids = list(tomllib.loads(path.read_text("utf-8")).get("cause", {}))
        assert ids == sorted(ids), path.name


def test_an_entry_stands_on_one_line_and_a_longer_one_fills_its_lines():
    for path in FOLDER.iterdir():
        text = path.read_text("utf-8")
        items = [text[span.start : span.end] for cause in layout(text) for span in cause.entries]
        for item in items:
            (fields,) = tomllib.loads(f"x = [{item}]")["x"]
            assert f"    {item}," == known_line.entry(fields), f"{path.name}: {item}"


def test_all_files_together_have_at_most_9000_lines_and_a_cause_with_its_entries_fits_a_screen():
    texts = [path.read_text("utf-8") for path in FOLDER.glob("*.toml")]
    assert sum(len(text.splitlines()) for text in texts) <= 9000
    lines = {c.id: text.count("\n", *c.whole) + 1 for text in texts for c in layout(text)}
    assert len(lines) > 500
    assert {id: count for id, count in lines.items() if count > 50} == {}


def test_a_source_names_its_project(known):
    sources = {entry.cause.source for entry in known.entries} - {""}
    assert sources and not [source for source in sources if not source.startswith(PROJECTS)]


def test_no_cause_cites_a_commit_without_its_year(known):
    texts = [text for cause in known.causes.values() for text in (cause.source, cause.link)]
    assert not [text for text in texts if re.search(r"\b[0-9a-f]{8,40}\b(?! \(\d{4}\))", text)]


@pytest.fixture(scope="module")
def titles(known):
    return {cause.title for cause in known.causes.values()}


def test_every_cause_has_its_own_title(known):
    count = Counter(cause.title for cause in known.causes.values())
    assert not [title for title, number in count.items() if number > 1]


def test_a_title_is_a_short_sentence_without_a_full_stop(titles):
    assert not [title for title in titles if not re.match(r"[A-Z]|`", title)]
    assert not [title for title in titles if title.endswith(".") or title != " ".join(title.split())]
    assert not [title for title in titles if len(title) > LINE]


def test_a_title_names_a_function_and_marks_every_one_as_code(titles):
    assert not [title for title in titles if not re.search(r"`tf\.\w", title) or title.count("`") % 2]
    assert not [title for title in titles if re.search(r"\b(tf|raw_ops|math)\.", re.sub(r"`[^`]*`", "", title))]


def test_a_reason_of_a_severity_is_a_clause_like_the_reason_of_a_cause(known):
    reasons = [cause.severity_reason for cause in known.causes.values()]
    assert not [reason for reason in reasons if reason.endswith(".") or len(reason) > 160]


def test_a_kind_that_decides_alone_has_the_severity_of_its_cause(known):
    """A crash, a hang and memory that differs from run to run are nothing milder.

    A value in place of a promised error can be a wrong value, and an error can tell of an illegal memory access.
    """
    for entry in known.entries:
        if entry.kind in ("crash", "hang", "input_mutated"):
            assert entry.cause.severity == "memory", entry.cause.id
        if entry.kind == "status":
            assert entry.cause.severity in ("memory", "wrong_value", "wrong_gradient", "error"), entry.cause.id
        if entry.kind == "error_code":
            assert entry.cause.severity in ("memory", "error", "convention"), entry.cause.id


def test_a_title_names_the_public_function_or_says_that_it_is_about_a_raw_op(known):
    causes = known.causes.values()
    named = [
        cause.id for cause in causes if cause.function and cause.function.split(".")[-1].strip("_") not in cause.title
    ]
    assert set(named) <= {"xla-equal-refuses-incompatible-shapes"}  # its title writes the method as the operator `==`
    assert not [cause.id for cause in causes if not cause.function and "raw" not in cause.title]
