"""A module has at most 250 lines: past that, it holds two nouns. A folder has at most 15 modules."""

from collections import Counter

from tf_opdiff.harness.paths import ROOT
from tf_opdiff.harness.tests.test_rooms import MODULES

LINES = 250
#: The most modules of a folder, besides `__init__`.
FOLDER = 15


def test_a_module_has_few_lines():
    long = {name for name, path in MODULES.items() if len(path.read_text("utf-8").splitlines()) > LINES}
    assert long == set()


def test_a_folder_has_few_modules():
    folders = ("bench", "docs", "harness", "reports", "suites", "tf_opdiff")
    files = [path for folder in folders for path in (ROOT / folder).rglob("*.py") if path.name != "__init__.py"]
    counts = Counter(str(path.parent.relative_to(ROOT)) for path in files)
    assert len(counts) > 100 and {folder: count for folder, count in counts.items() if count > FOLDER} == {}
