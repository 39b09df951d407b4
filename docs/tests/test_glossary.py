"""The words of declarations have one meaning each, which the reference of specs gives."""

import ast

from tf_opdiff.harness.paths import ROOT
from tf_opdiff.reports.text.glossary import TERMS
from tf_opdiff.suites.glossary import WORDS

#: The words that declarations and their docstrings use in a sense of their own.
USED = (
    "twin",
    "form",
    "call",
    "view",
    "part",
    "side",
    "region",
    "upstream",
    "aside",
    "lost",
    "loose",
    "ceiling",
    "aspect",
)


def test_the_reference_of_specs_explains_every_word_once():
    page = (ROOT / "docs" / "reference" / "spec.md").read_text()
    assert {*USED} == {*WORDS}
    assert [page.count(f"| `{word}` | {meaning} |") for word, meaning in WORDS.items()] == [1] * len(WORDS)


def test_no_word_has_another_meaning_for_readers_of_reports():
    assert not WORDS.keys() & {term.lower() for term in TERMS}


def test_nothing_of_the_suites_is_called_a_view():
    named = {
        f"{path.relative_to(ROOT)}: {node.name}"
        for path in (ROOT / "suites").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)) and "view" in node.name.lower().split("_")
    }
    assert named == set()
