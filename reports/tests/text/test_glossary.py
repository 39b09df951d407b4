"""The glossary explains the words of a page, and its tooltips hold them."""

from __future__ import annotations

import pytest

from tf_opdiff.reports.text.glossary import TERMS, glossed


@pytest.mark.parametrize(
    "term", ["plan", "contract", "stale", "quantity", "cell", "spec", "case", "known", "severity", "discrepancy"]
)
def test_the_words_that_readers_ask_for_are_explained_in_sentences(term: str) -> None:
    assert TERMS[term].endswith(".") and len(TERMS[term].split()) > 6


def test_the_first_occurrence_of_a_term_has_its_meaning() -> None:
    text = str(glossed("two plans, one plan and a special case", "plan", "case"))
    assert text.count("<abbr") == 2
    assert (
        text.startswith('two <abbr class="term" tabindex="0" title="A device together')
        and ">plans</abbr>, one plan" in text
    )
    assert ">case</abbr>" in text and "special <abbr" in text


def test_a_plural_in_ies_and_a_part_of_a_word_are_told_apart() -> None:
    assert ">discrepancies</abbr>" in glossed("141 discrepancies", "discrepancy")
    assert "<abbr" not in glossed("a showcase of planets", "case", "plan")


@pytest.mark.parametrize("text", ['<b title="plan">plan</b>', "plan & <script>plan</script>", "plan\" onclick='case'"])
def test_text_is_escaped_before_it_is_marked(text: str) -> None:
    marked = str(glossed(text, "plan", "case"))
    assert "<b" not in marked and "<script" not in marked and "onclick='" not in marked
    assert marked.count("<abbr") == marked.count("</abbr>") <= 2


def test_a_word_without_a_meaning_is_refused() -> None:
    with pytest.raises(KeyError):
        glossed("a word", "word")
