"""Loose: the elements of a quantity at which a bound may allow much, and the reason."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

#: The words of the shortest sentence that can say why.
_WORDS = 4


@dataclass(frozen=True)
class Loose:
    """The elements at which a bound may allow more than half of the digits, or more than 2^12 ULPs, and the reason.

    where   where(*inputs) → bool array: these elements. Float inputs arrive as float64, as in a reference.
    reason  a sentence for readers: which digits the program loses there, and by which step.
    along   axes along which an error in one element reaches all others: only those elements are loose whose bound is
            half of the digits of the norm along these axes, or less. None if each element stands for itself.

    Raises:
      TypeError: `where` is not a function.
      ValueError: the reason is no sentence.
    """

    where: Callable[..., Any]
    reason: str
    along: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        if not callable(self.where):
            raise TypeError(f"loose: expected a function, got {self.where!r}")
        if len(self.reason.split()) < _WORDS:
            raise ValueError(f"loose: expected a sentence that says why the bound is wide, got {self.reason!r}")

    def __call__(self, *inputs: Any, **keywords: Any) -> Any:
        """The elements, as a bool array."""
        return self.where(*inputs, **keywords)
