"""Verdicts: each verdict's symbol, letter, emoji, meaning, colours, severity and sentences, in one table.

Pages, summaries, grids, badges, JUnit, annotations and pages of claims read this table. This module imports nothing of
`reports`, so that `reports.data` can sort by it.
"""

from __future__ import annotations

from dataclasses import dataclass

from tf_opdiff.harness.spec.claim import INEXPRESSIBLE, TRUE_THEN
from tf_opdiff.harness.store.records.record import FAILING


@dataclass(frozen=True)
class Colours:
    """The background and the text colour of a verdict, on a light and on a dark page; CSS colours."""

    background: str
    text: str
    dark_background: str
    dark_text: str


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """One verdict on a record.

    Attributes:
      name: as in a record's column `verdict`.
      symbol: what a page shows besides the colour.
      letter: the one character that the terminal shows.
      emoji: what Markdown shows.
      meaning: a few words for readers of a page.
      colours: those of pages.
      against_other: the sentence about a record that is compared with NumPy or with another plan, `{against}`.
      against_itself: the sentence about a record that compares a plan with itself; empty where there is no such record.
      against_claim: the sentence about a record that is compared with a claim, `{against}`; empty where there is none.
      claim: what such a record says of the claim: `held`, `refuted`, `unavailable` or `faulty`; empty where there is
        no such record.
      outcome: what TensorFlow gave, whatever the known failures say: `agrees`, `differs`, `fault` or `unavailable`.
    """

    name: str
    symbol: str
    letter: str
    emoji: str
    meaning: str
    colours: Colours
    against_other: str
    against_itself: str = ""
    against_claim: str = ""
    claim: str = ""
    outcome: str

    @property
    def fails(self) -> bool:
        """Whether a record with this verdict fails the run."""
        return self.name in FAILING

    @property
    def prominent(self) -> bool:
        """Whether a reader has to look at records with this verdict, so that a grid counts them."""
        return self.fails or self.name == "known"


_TABLE = (
    Verdict(
        name="mismatch",
        symbol="✗",
        letter="X",
        emoji="❌",
        meaning="differs, and nobody expected it",
        colours=Colours("#b3261e", "#fff", "#e5534b", "#160302"),
        against_other="differs from {against}",
        against_itself="differs between its runs",
        against_claim="refutes {against}, which was expected to hold",
        claim="refuted",
        outcome="differs",
    ),
    Verdict(
        name="error",
        symbol="!",
        letter="E",
        emoji="⛔",
        meaning="the suite itself is at fault",
        colours=Colours("#8a4100", "#fff", "#e89a4d", "#1f1000"),
        against_other="proves nothing about {against}: the suite itself is at fault",
        against_itself="proves nothing: the suite itself is at fault",
        against_claim="proves nothing about {against}: the suite itself is at fault",
        claim="faulty",
        outcome="fault",
    ),
    Verdict(
        name="stale",
        symbol="S",
        letter="S",
        emoji="🧹",
        meaning="a known failure that no longer fails",
        colours=Colours("#7b2d96", "#fff", "#c58ae0", "#1b0624"),
        against_other="no longer differs from {against}, though an entry says so",
        against_itself="gives the same again, though a known failure says that it does not",
        against_claim="bears out {against}, which was expected to be refuted",
        claim="held",
        outcome="agrees",
    ),
    Verdict(
        name="known",
        symbol="K",
        letter="k",
        emoji="🟡",
        meaning="differs, as recorded",
        colours=Colours("#fbeecb", "#6d4700", "#43350f", "#f2cf7a"),
        against_other="differs, as known, from {against}",
        against_itself="differs between its runs",
        outcome="differs",
    ),
    Verdict(
        name="unavailable",
        symbol="∅",
        letter="u",
        emoji="⬜",
        meaning="no kernel or no device there",
        colours=Colours("#e9ecf0", "#4c5765", "#2a323b", "#b3bec9"),
        against_other="can't run, so it was not compared with {against}",
        against_itself="can't run",
        against_claim="can't run, so it says nothing about {against}",
        claim="unavailable",
        outcome="unavailable",
    ),
    Verdict(
        name="contract",
        symbol="§",
        letter="c",
        emoji="🔷",
        meaning="documented divergence, held",
        colours=Colours("#e1edfa", "#174e8c", "#17324f", "#9ccbfa"),
        against_other="keeps its documented divergence, against {against}",
        against_claim="refutes {against}, as expected",
        claim="refuted",
        outcome="agrees",
    ),
    Verdict(
        name="match",
        symbol="✓",
        letter=".",
        emoji="✅",
        meaning="as promised",
        colours=Colours("#e4f3e9", "#17602f", "#173522", "#86d7a0"),
        against_other="matches {against}",
        against_itself="gives the same bits again, in smaller tensors too, and leaves its inputs as they are",
        against_claim="bears out {against}",
        claim="held",
        outcome="agrees",
    ),
)

#: Verdicts by name; the one that a reader has to see first stands first.
VERDICTS = {verdict.name: verdict for verdict in _TABLE}
#: Their names, the most severe first.
SEVERITY = tuple(VERDICTS)
#: Verdicts that say that TensorFlow, or the suite, is not as it should be.
FAILING_OR_KNOWN = (*FAILING, "known")


#: The verdict on a claim by what its records say; the columns of claims.csv are in this order.
CLAIM_VERDICT_OF = {"held": "confirmed", "refuted": "refuted", "unavailable": "unavailable", "faulty": "faulty"}
#: What a record with each verdict says of the claim that it is compared with.
CLAIM_COLUMN_OF = {verdict.name: verdict.claim for verdict in _TABLE if verdict.claim}


@dataclass(frozen=True)
class ClaimWord:
    """A verdict on a claim in a word for readers; `reports.analysis.claim_tables.claim_words` has the rule.

    `style` names the colours: those of a record's verdict, or `refuted`. `meaning` is a few words for readers.
    """

    name: str
    symbol: str
    meaning: str
    style: str


FALSE, BY_MODE, BY_DEVICE = "false", "true in this mode only", "true on this device only"
BY_CASE, NOT_RUN = "true in some cases only", "not run in this run"
_WORD_TABLE = (
    ClaimWord("confirmed", "✓", "right wherever it can be expressed", "match"),
    ClaimWord(BY_MODE, "◐", "right in some modes, wrong in the others", "known"),
    ClaimWord(BY_DEVICE, "◧", "right on some devices, wrong on the others", "known"),
    ClaimWord(BY_CASE, "◔", "it depends on the program or on the case", "known"),
    ClaimWord(TRUE_THEN, "↶", "right with an older TensorFlow, wrong with this one", "stale"),
    ClaimWord(FALSE, "✗", "wrong wherever it can be expressed", "refuted"),
    ClaimWord(INEXPRESSIBLE, "⊘", "the mode has no such program, or XLA refuses to compile it", "unavailable"),
    ClaimWord("unavailable", "∅", "this machine lacks a kernel or a device for it", "unavailable"),
    ClaimWord("faulty", "!", "the suite itself is at fault", "error"),
    ClaimWord(NOT_RUN, "?", "this run has no record of it", "unavailable"),
)
#: Words on claims by name, in the order in which a page lists them.
CLAIM_WORDS = {word.name: word for word in _WORD_TABLE}
#: The word for a verdict that the records of one plan give.
CLAIM_WORD_OF = {"refuted": FALSE, "true only where": BY_CASE} | {
    name: name for name in ("confirmed", "unavailable", "faulty")
}
#: The colours of each class of a page, such as `v-match`.
STYLES = {v.name: v.colours for v in _TABLE} | {"refuted": Colours("#fbe3e1", "#8f1d17", "#4a1c1a", "#ffb4ad")}


def style_sheet() -> str:
    """The colours of verdicts as CSS: the variables `--NAME` and `--NAME-bg`, and the classes `v-NAME`."""
    light = " ".join(f"--{name}-bg: {c.background}; --{name}: {c.text};" for name, c in STYLES.items())
    dark = " ".join(f"--{name}-bg: {c.dark_background}; --{name}: {c.dark_text};" for name, c in STYLES.items())
    rules = [f":root {{ {light} }}", "@media screen and (prefers-color-scheme: dark) {", f"  :root {{ {dark} }}", "}"]
    for name in STYLES:
        colours = f"{{ background: var(--{name}-bg); color: var(--{name}); }}"
        rules += [f".v-{name} {colours}", f".tile.v-{name} .symbol {colours}"]
    return "\n".join(rules) + "\n"
