"""Strip labels: the ticks of a strip, and the numbers of its tables, in words."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from tf_opdiff.reports.analysis.ops.error_pictures import PlanErrors, Slot
from tf_opdiff.reports.text.sentences.sentence import number

#: The most lines of the table of numbers.
_LINES = 12
_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def share(edge: float, budget: float) -> float:
    """The share of a bin of the histogram that is within the budget: 0 to 1, on the scale of logarithms."""
    if math.isnan(edge) or math.isnan(budget):
        return 0.0
    if edge <= budget:
        return 1.0
    below = edge / 2 if edge > 0.5 else 0.0
    return 0.0 if budget <= below or not below else min(1.0, math.log2(budget / below))


def edge_label(edge: float) -> str:
    """An edge of the histogram in words: a number, a power of two, `more`, or `class` for a wrong class."""
    if not math.isfinite(edge):
        return "class" if math.isnan(edge) else "more"
    return _power(round(math.log2(edge))) if edge > 1000 else number(edge)


def _power(exponent: int) -> str:
    """A power of two: `2⁻³`, `1`."""
    return f"2{str(exponent).translate(_SUPERSCRIPTS)}" if exponent else "1"


def slot_label(slot: Slot, slots: int) -> str:
    """The label of a slot: infinities, zeros, NaN, and powers of two at even distances; else empty."""
    sign = "−" if slot.sign < 0 else ""
    if not slot.step:
        return {"nan": "NaN", "inf": f"{sign}∞", "zero": f"{sign}0"}[slot.name]
    each = 1 << max(0, round(math.log2(slots / 12)))
    return sign + _power(slot.exponent) if (slot.exponent // slot.step) % each == 0 else ""


def ranges(slots: Sequence[Slot]) -> list[list[int]]:
    """The positions of slots in groups of neighbours, for a table; zeros, infinities and NaN stand alone."""
    size = max(1, math.ceil(len(slots) / _LINES))
    groups: list[list[int]] = []
    for i, slot in enumerate(slots):
        last = slots[groups[-1][0]] if groups else None
        if last and slot.step and last.step and last.sign == slot.sign and len(groups[-1]) < size:
            groups[-1].append(i)
        else:
            groups.append([i])
    return groups


def range_label(slots: Sequence[Slot]) -> str:
    """The arguments in neighbouring slots: `−∞`, `2⁻⁸ to 1`."""
    if not slots[0].step:
        return slot_label(slots[0], len(slots))
    sign = "−" if slots[0].sign < 0 else ""
    low, high = min(slot.exponent for slot in slots), max(slot.exponent + slot.step for slot in slots)
    return f"{sign}{_power(low)} to {sign}{_power(high)}"


def cell(row: PlanErrors, some: list[int]) -> str:
    """The largest distance in some slots, and how many elements are wrong; empty without elements."""
    elements, wrong, off = (int(counts[some].sum()) for counts in (row.elements, row.wrong, row.mismatched))
    if not elements:
        return ""
    text = number(float(np.fmax.reduce(row.max_ulp[some])))
    text += f", {wrong:,} of a wrong class" if wrong else ""
    return text + (f", {off:,} beyond the budget" if off else "")
