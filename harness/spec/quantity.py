"""Quantity: one result that a spec promises: `output[i]`, `grad[i]`, `jvp[i]` or `hvp[i]`."""

from __future__ import annotations

import re
from typing import NamedTuple

FAMILIES = ("output", "grad", "jvp", "hvp")
_ONE = re.compile(rf"({'|'.join(FAMILIES)})\[(\d{{1,9}})\]")


class Quantity(NamedTuple):
    """A family of quantities, and a number in that family, counted from 0; written `grad[1]`."""

    family: str
    number: int

    @classmethod
    def parse(cls, text: str) -> Quantity:
        """Reads `FAMILY[NUMBER]`.

        Raises:
          ValueError: the text has another form.
        """
        match = _ONE.fullmatch(text)
        if not match:
            raise ValueError(f"quantity {text!r}: expected {', '.join(f'{family}[i]' for family in FAMILIES)}")
        return cls(match[1], int(match[2]))

    def __str__(self) -> str:
        return f"{self.family}[{self.number}]"


def is_quantity(text: str) -> bool:
    """Whether a text names one quantity: `grad[1]`."""
    return bool(_ONE.fullmatch(text))


def family_of(text: str) -> str:
    """The family in the name of a quantity or of a family: `grad` for `grad[1]` and for `grad`."""
    return text.partition("[")[0]


def number_of(text: str) -> int:
    """The number of a quantity or an input: 1 for `grad[1]` and for `input[1]`."""
    return int(text.partition("[")[2].removesuffix("]"))


def named(family: str, count: int) -> list[str]:
    """The names of the first `count` quantities of a family: `output[0]`, `output[1]`, …"""
    return [str(Quantity(family, number)) for number in range(count)]
