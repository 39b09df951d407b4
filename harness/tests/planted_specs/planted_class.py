"""A class that a program uses."""

from __future__ import annotations

from dataclasses import dataclass

_DOUBLE = 2.0


@dataclass(frozen=True)
class Line:
    """A line y = 2 slope x + offset."""

    slope: float
    offset: float = 1.0

    @classmethod
    def through(cls, x: float, y: float) -> Line:
        """The line with another offset."""
        return cls(y / x, _DOUBLE)

    @property
    def doubled(self) -> float:
        """Twice the slope."""
        return _DOUBLE * self.slope

    def at(self, x: float) -> float:
        """The height at x."""
        return self.doubled * x + self.offset
