"""Override cell: the cells of a spec in the table of gradient overrides, and their expected states."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tf_opdiff.harness.spec.plan import MODES

APPLIED = "applied"
IGNORED = "ignored"
REFUSED = "refused"
INEXPRESSIBLE = "cannot be expressed"
#: The state of a program without an override: the op has the gradient that TensorFlow gives it.
OWN = "own gradient"
STATES = (APPLIED, IGNORED, REFUSED, INEXPRESSIBLE, OWN)


@dataclass(frozen=True)
class Expected:
    """The expected state of one mode, one of `STATES`, and the reason if the override is not applied."""

    state: str
    why: str = ""

    def __post_init__(self) -> None:
        """Checks the state.

        Raises:
          ValueError: there is no such state, or an override that is not applied lacks a reason.
        """
        if self.state not in STATES:
            raise ValueError(f"state {self.state!r} is none of {', '.join(STATES)}")
        if self.state not in (APPLIED, OWN) and not self.why:
            raise ValueError(f"state {self.state!r}: expected a reason")


@dataclass(frozen=True, kw_only=True)
class OverrideCell:
    """The cells of a spec in the table of gradient overrides: one for each mode.

    op, mechanism, place        the row, the column and the table of the cells, in words.
    gradient                    the gradient that the override puts in place of the op's own, as a formula.
    expected                    mode → the expected state, also for modes that can't express the program; with a
                                column, other modes may be missing.
    column                      the mode of the spec's cell, if the spec runs in another mode: Keras chooses how a model
                                is fitted, and the spec itself runs eagerly. Empty if modes are those of the run.
    absent                      mechanism → why no program of it exists for this op.
    """

    op: str
    mechanism: str
    place: str
    gradient: str
    expected: Mapping[str, Expected]
    column: str = ""
    absent: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Checks the modes.

        Raises:
          ValueError: a mode lacks its expected state.
        """
        wanted = (self.column,) if self.column else MODES
        if not set(wanted) <= set(self.expected) <= set(MODES):
            raise ValueError(f"expected a state for each of {', '.join(wanted)}, got {', '.join(self.expected)}")
