"""Glossary: the words of this project, each with a sentence for readers who have never seen it.

Pages show the sentences as tooltips and at their end; the documentation has them as a page.
"""

from __future__ import annotations

import re

from markupsafe import Markup, escape

#: term → its meaning, in the order in which a reader needs them.
TERMS = {
    "discrepancy": "One way in which TensorFlow does not do what it should, with all the places where this happens.",
    "known": (
        "A person has examined this discrepancy and recorded its cause. TensorFlow still gives the wrong result. The "
        "run stays green only as long as exactly this happens."
    ),
    "severity": (
        "How much a discrepancy can cost a user, in seven steps from memory errors and crashes down to conventions. A "
        "written rule assigns it, never the number of records."
    ),
    "spec": "A short description of an op or a small program: its inputs, and the outputs and gradients it must give.",
    "case": "One set of inputs of a spec: a dtype, attributes, and a recipe for the numbers.",
    "dtype": "The type of the numbers in a tensor, such as float32 or int4.",
    "device": "A processor that runs the ops: the CPU, or a GPU such as gpu:0.",
    "mode": (
        "A way to run TensorFlow: eager (op by op), function (tf.function), xla (tf.function compiled by XLA) or graph "
        "(a graph and a session, as in TensorFlow 1)."
    ),
    "plan": "A device together with a mode: cpu/xla runs a case on the CPU, compiled by XLA.",
    "cell": "One case under one plan. Each planned cell must end with a result, or the page names it as not run.",
    "item": "A spec with one dtype: the smallest part of a run that can be selected.",
    "quantity": (
        "One of the results that are compared: output[0] is the first output, grad[0] the gradient with respect to the "
        "first input. jvp and hvp are forward-mode and second derivatives."
    ),
    "record": "One comparison of one quantity: with NumPy, with another plan, or with a second run of the same plan.",
    "NumPy": "The independent reference: the same mathematics in NumPy, with more digits than TensorFlow uses.",
    "ULP": (
        "Unit in the last place: the distance between two neighbouring numbers of a dtype. A correctly rounded result "
        "is at most half a ULP off."
    ),
    "budget": "The largest distance in ULPs that still counts as correct.",
    "contract": (
        "A documented difference between plans, with both sides stated and checked. It passes only as long as both "
        "sides do what the documentation says. Results that nothing documents have this verdict too, and so have two "
        "plans that differ where the promise allows several values; the record has both results."
    ),
    "stale": "A known discrepancy that no longer happens. The run fails until a person deletes its entry.",
    "unavailable": "The comparison was impossible: TensorFlow has no kernel, or the machine has no such device.",
}


def anchor(term: str) -> str:
    """The id of a term on a page."""
    return f"term-{term.lower()}"


def tooltip(text: str, meaning: str) -> Markup:
    """A text with a meaning that the mouse, the keyboard and a screen reader reach."""
    return Markup('<abbr class="term" tabindex="0" title="{}">{}</abbr>').format(meaning, text)


def glossed(text: str, *terms: str) -> Markup:
    """The text, escaped, with a tooltip at the first occurrence of each of these terms, in singular or plural.

    Raises:
      KeyError: a term is not in `TERMS`.
    """
    marked = str(escape(text))
    for term in terms:
        meaning = TERMS[term]
        plural = f"{term[:-1]}ies" if term.endswith("y") else f"{term}s"
        pattern = rf"(?<![\w>])({re.escape(plural)}|{re.escape(term)})(?![\w<])(?![^<]*</abbr>)(?![^<>]*>)"
        marked = re.sub(pattern, lambda word, meaning=meaning: str(tooltip(word[1], meaning)), marked, count=1)  # type: ignore[misc]
    return Markup(marked)
