"""Glossary: the words of declarations, each with one meaning. Readers of reports have `reports.text.glossary`."""

from __future__ import annotations

from collections.abc import Mapping

#: word → its meaning, in the order in which an author needs them.
WORDS: Mapping[str, str] = {
    "form": "A module of `suites/forms`: functions that turn the declaration of an op into specs.",
    "part": (
        "A function from the declaration of an op to some of its specs, such as `part(…)` or `floats(…)`. An author "
        "gives parts to `op` for what no aspect says."
    ),
    "aspect": (
        "A part that `op` adds by itself, such as sizes, batches or second order. `without={ASPECT: REASON}` leaves "
        "one out."
    ),
    "call": (
        "One use of an OpDef: the shapes of its inputs, and its attributes. One program makes all calls of an op, "
        "because a program takes longer to build than to run."
    ),
    "twin": (
        "A spec that is made from another spec and differs in a few fields. Its name is the name of the other spec "
        "with an ending. `spec.but(…)` makes one."
    ),
    "side": "What the plans of a pattern promise in place of the reference: one side of a contract.",
    "upstream": "The gradient of the loss with respect to an output: the argument `g` of a VJP.",
    "region": (
        "A condition that selects elements: by their inputs in `aside`, and also by results and promises in the "
        "`where` of a known failure."
    ),
    "aside": (
        "The regions of a unary op that have a recipe of their own. No other recipe draws from them, so that a known "
        "failure there excuses nothing else."
    ),
    "loose": (
        "The elements at which a bound may allow more than half of the digits, with the reason. A bound as wide at any "
        "other element is an error of the spec."
    ),
    "lost": (
        "The inputs at which the formula of TensorFlow loses more than half of the digits of a result. They are loose, "
        "and a twin tests them with a narrow budget, so that the loss is a known failure."
    ),
    "ceiling": (
        "The largest error that was measured near an input, with a margin. It narrows the budget and the bound on the "
        "CPU of this machine."
    ),
    "view": "Only the word of NumPy: an array that shares its memory with another array.",
}
