"""Claim: a sentence that people believe about a spec's program, and the result that would confirm it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tf_opdiff.harness.spec.plan import Plan
from tf_opdiff.harness.spec.quantity import family_of


@dataclass(frozen=True, kw_only=True)
class Topic:
    """The subject of several claims: its number, its title, its program in a sentence, and where people claim it."""

    id: str
    title: str
    program: str
    origin: str
    link: str = ""


@dataclass(frozen=True, kw_only=True)
class Claim:
    """A sentence that people believe about a spec's program, and the result that would confirm it.

    topic, letter               together the claim's id: `C08` and `b` make `C08b`.
    says                        the sentence.
    about                       the quantities of which the sentence speaks, or their families (`output[0]`, `grad`).
    reference, vjp              the prediction, in the form of those of the spec. Without them, the claim predicts what
                                the spec itself promises, contracts aside.
    denies                      the claim says that the program does *not* give the prediction.
    ulp                         budgets, as in the spec, in place of the spec's.
    plans                       patterns of the plans of which the sentence speaks.
    refuted                     pattern of plans → why the claim does not hold there, in a line. Elsewhere the claim is
                                expected to hold. The results of a run are checked against this, both ways.
    instead                     the name of the spec whose program does what people wanted.
    """

    topic: Topic
    letter: str
    says: str
    about: tuple[str, ...]
    reference: Callable[..., Any] | None = None
    vjp: Callable[..., Any] | None = None
    denies: bool = False
    ulp: Mapping[str, float | Mapping[str, float]] | None = None
    plans: tuple[str, ...] = ("*/*",)
    refuted: Mapping[str, str] = field(default_factory=dict)
    instead: str = ""

    @property
    def id(self) -> str:
        return self.topic.id + self.letter

    def why_refuted(self, plan: Plan) -> str:
        """Why the claim is expected not to hold under a plan; empty where it is expected to hold."""
        return next((why for pattern, why in self.refuted.items() if plan.matches(pattern)), "")

    def concerns(self, quantity: str) -> bool:
        """Whether the claim speaks of a quantity."""
        return quantity in self.about or family_of(quantity) in self.about
