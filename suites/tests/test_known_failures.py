"""Known failures stand where a reader looks for them: causes in one file, entries in the file of their family."""

import tomllib
from collections import defaultdict

import pytest

from tf_opdiff.harness.judge import known_files
from tf_opdiff.harness.judge.selectors import listed
from tf_opdiff.harness.paths import KNOWN, ROOT, SUITES
from tf_opdiff.harness.spec.catalog import Catalog

FOLDER = ROOT / KNOWN
#: Where the source files stand that causes cite.
PROJECTS = ("tensorflow/", "third_party/xla/", "xla/", "Eigen/", "unsupported/Eigen/")


@pytest.fixture(scope="module")
def known():
    return known_files.load(FOLDER, Catalog.load(SUITES))


def test_causes_stand_in_one_file_in_alphabetical_order_and_entries_in_the_others():
    for path in FOLDER.iterdir():
        tables = tomllib.loads(path.read_text("utf-8"))
        assert set(tables) == ({"cause"} if path.name == "causes.toml" else {"entry"}), path.name
    ids = [cause["id"] for cause in tomllib.loads((FOLDER / "causes.toml").read_text("utf-8"))["cause"]]
    assert ids == sorted(ids)


def test_all_entries_about_a_spec_stand_in_one_file(known):
    files = defaultdict(set)
    for number, entry in enumerate(known.entries, 1):
        for spec in listed(entry.spec):
            files[spec].add(known.stands(number).file)
    assert not {spec: found for spec, found in files.items() if len(found) > 1}


def test_a_source_names_its_project(known):
    sources = {entry.cause.source for entry in known.entries} - {""}
    assert sources and not [source for source in sources if not source.startswith(PROJECTS)]
