"""Claim: a sentence that people believe about a spec's program, and the result that would confirm it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tf_opdiff.harness.spec.plan import Plan
from tf_opdiff.harness.spec.quantity import family_of
from tf_opdiff.harness.spec.tolerances.budget import Budgets

TRUE_THEN = "true then, not now"
INEXPRESSIBLE = "cannot be expressed there"
#: The words that a claim can state for plans under which it does not hold.
WORDS = (TRUE_THEN, INEXPRESSIBLE)


@dataclass(frozen=True, kw_only=True)
class Topic:
    """The subject of several claims.

    id                          its number, such as `C08`.
    title                       its title.
    program                     one sentence that describes the program.
    origin                      where people make the claims: the kind of text and its subject.
    link                        a link to the origin, or to the paper that the origin is about.
    says                        the statement of the origin, restated in a sentence or two.
    restated                    the part of the origin that could not be read: the topic rests on a restatement of it.
    post                        the core of the origin's own program, for recognition; it may be of TensorFlow 1.
    today                       whether the statement is true, provided that every claim has its expected verdict.
    instead                     the recommended way.
    paste                       the file with a complete program of that way, which runs as it is. The last lines of the
                                file are comments: `# Prints:` and the lines that the program prints.
    """

    id: str
    title: str
    program: str
    origin: str
    link: str = ""
    says: str = ""
    restated: str = ""
    post: str = ""
    today: str = ""
    instead: str = ""
    paste: Path | None = None

    def claim(self, letter: str, says: str, *about: str, **fields: Any) -> Claim:
        """A claim of this topic about these quantities; `fields` are further fields of `Claim`."""
        return Claim(topic=self, letter=letter, says=says, about=about, **fields)


@dataclass(frozen=True, kw_only=True)
class Claim:
    """A sentence that people believe about a spec's program, and the result that would confirm it.

    topic, letter               the two parts of the claim's id: topic `C08` and letter `b` give `C08b`.
    says                        the sentence.
    about                       the quantities, or families of quantities, that the sentence is about (`output[0]`,
                                `grad`).
    reference, vjp              the predicted result; same form as the spec's `reference` and `vjp`. Without them, the
                                claim predicts the spec's own promise, without its contract.
    denies                      the claim says that the program does *not* give the predicted result.
    ulp                         budgets that replace those of the spec; same form.
    plans                       patterns of the plans that the sentence is about.
    refuted                     pattern of plans → one line that says why the claim does not hold there. Under all other
                                plans the claim is expected to hold. Runs are checked against both expectations.
    words                       pattern of plans, one of `refuted` → one of `WORDS`, where the records of a run cannot
                                show that this word says more than `false`.
    instead                     the name of the spec whose program does behave in the way that people expected.
    """

    topic: Topic
    letter: str
    says: str
    about: tuple[str, ...]
    reference: Callable[..., Any] | None = None
    vjp: Callable[..., Any] | None = None
    denies: bool = False
    ulp: Budgets | None = None
    plans: tuple[str, ...] = ("*/*",)
    refuted: Mapping[str, str] = field(default_factory=dict)
    words: Mapping[str, str] = field(default_factory=dict)
    instead: str = ""

    def __post_init__(self) -> None:
        """Checks `words`.

        Raises:
          ValueError: a word is none of `WORDS`, or its pattern is none of `refuted`.
        """
        for pattern, word in self.words.items():
            if pattern not in self.refuted or word not in WORDS:
                raise ValueError(f"claim {self.id}: words: expected a pattern of refuted → one of {', '.join(WORDS)}")

    @property
    def id(self) -> str:
        return self.topic.id + self.letter

    def why_refuted(self, plan: Plan) -> str:
        """The reason why the claim is expected not to hold under a plan; empty if it is expected to hold."""
        return next((why for pattern, why in self.refuted.items() if plan.matches(pattern)), "")

    def concerns(self, quantity: str) -> bool:
        """Whether the claim is about a quantity."""
        return quantity in self.about or family_of(quantity) in self.about
