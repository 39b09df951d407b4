"""The documents say what the code says."""

import re
import subprocess
import sys
from dataclasses import fields

import pytest

from docs.generate import FILES
from tf_opdiff.harness.paths import ROOT
from tf_opdiff.harness.store.records import columns
from tf_opdiff.harness.store.records.record import Record

ARCHITECTURE = ROOT / "docs" / "explanations" / "architecture.md"


def section(path, heading):
    """The text of a document from a heading to the next one of the same level."""
    level = heading.partition(" ")[0]
    return re.search(rf"^{heading}\n(.*?)(?=^{level} |\Z)", path.read_text(), re.MULTILINE | re.DOTALL)[1]


@pytest.mark.parametrize("name", sorted(FILES))
def test_a_generated_part_is_that_of_todays_code(name):
    assert (ROOT / name).read_text() == FILES[name](), "run `make reference`"


def test_every_column_has_a_meaning():
    assert list(columns.COLUMNS) == [field.name for field in fields(Record)]


def test_the_readme_is_short():
    assert len((ROOT / "README.md").read_text().splitlines()) <= 120


def test_the_readme_defines_the_nine_nouns():
    nouns = re.findall(r"^\| \*\*(\w+)\*\*", section(ROOT / "README.md", "## Nine nouns"), re.MULTILINE)
    assert nouns == [*("spec", "case", "plan", "observation", "comparison", "verdict", "record", "report", "recording")]


def test_every_path_of_the_table_of_places_exists():
    table = section(ARCHITECTURE, "## Where is what")
    paths = [
        path for row in re.findall(r"^\| .*?\| (.*?) \|$", table, re.MULTILINE) for path in re.findall("`(.*?)`", row)
    ]
    assert len(paths) > 20
    assert [path for path in paths if not (ROOT / path).exists()] == []


@pytest.mark.parametrize("subject", ["budget", "mode", "table of a page", "known failure", "exit status"])
def test_the_table_of_places_has(subject):
    assert re.search(rf"^\| [^|]*\b{subject}\b", section(ARCHITECTURE, "## Where is what"), re.MULTILINE)


def site(folder, target, link):
    """What Sphinx says when it builds a site of two pages, the second with a link to this target of the first."""
    docs = folder / link / "docs"
    (docs / "site").mkdir(parents=True)
    (docs / "conf.py").write_text((ROOT / "docs" / "conf.py").read_text())
    (docs / "index.md").write_text("# Title\n\n```{toctree}\npage\n```\n")
    (docs / "page.md").write_text(f"# Page\n\n[link](index.md{target})\n")
    options = ["--builder", "html", "--fail-on-warning", "--quiet", "--conf-dir", str(docs)]
    command = [sys.executable, "-m", "sphinx", *options, str(docs.parent), str(docs.parent / "site")]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_site_loads_nothing_from_elsewhere(tmp_path):
    done = site(tmp_path, "#title", "good")
    assert done.returncode == 0, done.stderr
    pages = [page.read_text() for page in (tmp_path / "good" / "site").rglob("*.html")]
    tags = r"<(?:script|link|img)[^>]*(?:src|href)=\"([^\"]*)\""
    loaded = [address for page in pages for address in re.findall(tags, page)]
    assert loaded
    assert [address for address in loaded if re.match(r"(https?:)?//", address)] == []


def test_a_broken_link_fails_the_site(tmp_path):
    done = site(tmp_path, "#absent", "bad")
    assert done.returncode != 0
    assert "absent" in done.stderr
