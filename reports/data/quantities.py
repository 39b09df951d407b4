"""Quantities: the names of quantities in records, such as `grad[1]`."""

from __future__ import annotations

#: Families of quantities, in the order in which reports list them.
FAMILIES = ("output", "grad", "jvp", "hvp")


def family(quantity: object) -> str:
    """The family of a quantity: `grad` of `grad[1]`."""
    return str(quantity).partition("[")[0]
