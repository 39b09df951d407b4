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

    where   where(*inputs) → bool array: these elements. Float inputs arrive as float64, as in a reference. None: the
            elements that are small beside the largest one, or that change much when the inputs change by an ULP of
            their largest number: sums that cancel, and solutions of an ill-conditioned matrix.
    reason  a sentence for readers: which digits the program loses there, and by which step.
    last    how many of the last axes the largest number is that of; None for all axes.
    dtype   the dtype in which the program computes, if it has fewer digits than the result; empty otherwise.
    size    the size of numbers that the program subtracts, whatever its inputs are: of 1 in 1 - y, for instance.
    roundings   how many such ULPs a bound may have, if more than half of the digits of the dtype.

    Raises:
      TypeError: `where` is not a function.
      ValueError: the reason is no sentence.
    """

    where: Callable[..., Any] | None = None
    reason: str = ""
    last: int | None = None
    dtype: str = ""
    size: float = 0.0
    roundings: float = 0.0

    def __post_init__(self) -> None:
        if self.where is not None and not callable(self.where):
            raise TypeError(f"loose: expected a function, got {self.where!r}")
        if len(self.reason.split()) < _WORDS:
            raise ValueError(f"loose: expected a sentence that says why the bound is wide, got {self.reason!r}")

    def __call__(self, *inputs: Any, **keywords: Any) -> Any:
        """The elements that `where` finds, as a bool array."""
        return self.where(*inputs, **keywords) if self.where else False
