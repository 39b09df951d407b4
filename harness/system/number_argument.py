"""Number argument: the type of an option that takes a number within limits, for argparse and for pytest."""

from __future__ import annotations

import argparse
import re
from dataclasses import dataclass

_WHOLE = re.compile(r"[+-]?[0-9]{1,30}")


@dataclass(frozen=True)
class Number:
    """Reads a number from `least` to `most`; neither NaN nor an infinity is one.

    Attributes:
      noun: what is counted or measured, in the plural: `seconds`.
      whole: whether the number is an integer.
    """

    noun: str
    least: float
    most: float
    whole: bool = True

    def __call__(self, text: str) -> float:
        """The number in a text.

        Raises:
          argparse.ArgumentTypeError: the text is no such number.
        """
        try:
            return self.checked(
                float(text) if not self.whole else int(text) if _WHOLE.fullmatch(text) else float("nan")
            )
        except ValueError:
            raise argparse.ArgumentTypeError(f"{self.expected}, got {text!r}") from None

    def checked(self, value: float) -> float:
        """The number, if it is within the limits.

        Raises:
          ValueError: it is not.
        """
        if not self.least <= value <= self.most:
            raise ValueError(f"{self.expected}, got {value}")
        return value

    @property
    def expected(self) -> str:
        """The limits in words."""
        kind = "a whole number" if self.whole else "a number"
        return f"expected {kind} of {self.noun} from {self.least:,g} to {self.most:,.15g}"


#: A time limit: up to 11 days.
SECONDS = Number("seconds", 0.001, 1e6, whole=False)
#: A distance between floats; float64 has fewer than 2e19 numbers.
ULPS = Number("ULPs", 0, 1e18, whole=False)
