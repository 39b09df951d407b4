"""Distance limit: the largest distance from its promise that an entry of known failures explains for an element."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

import numpy as np

from tf_opdiff.harness.judge.differences.comparison import Elements
from tf_opdiff.harness.judge.known_failures.region import wide

#: The units of a limit, and their meanings.
UNITS = {
    "ulp": "units in the last place of the promise, in the dtype of the result",
    "relative": "parts of the magnitude of the promise",
    "absolute": "the distance itself; the only unit for integers",
}


@dataclass(frozen=True)
class DistanceLimit:
    """A number and its unit; without a limit, infinitely many ULPs."""

    largest: float = math.inf
    unit: str = "ulp"

    @classmethod
    def parse(cls, text: str) -> DistanceLimit:
        """Reads a text such as `4096 ulp`, `0.01 relative` or `1e-30 absolute`; the empty text is no limit.

        Raises:
          ValueError: the text has another form.
        """
        return _parsed(text)

    def allows(self, elements: Elements) -> np.ndarray:
        """The elements whose distance is at most the limit, a bool array of their shape."""
        if self.unit == "ulp":
            return np.asarray(~(elements.ulps > self.largest))
        with np.errstate(all="ignore"):
            scale = np.abs(wide(elements.want)) if self.unit == "relative" else 1.0
            return np.asarray(~(elements.absolute > self.largest * scale))


@cache
def _parsed(text: str) -> DistanceLimit:
    if not text:
        return DistanceLimit()
    number, _, unit = text.partition(" ")
    expected = f"within {text!r}: expected a number and a unit such as '4096 ulp', of {', '.join(UNITS)}"
    try:
        largest = float(number)
    except ValueError as error:
        raise ValueError(expected) from error
    if unit not in UNITS or not 0 < largest < math.inf:
        raise ValueError(expected)
    return DistanceLimit(largest, unit)
