"""Shrink: the smallest part of a program that still differs."""

from __future__ import annotations

from collections.abc import Callable, Sequence


def smallest(numbers: Sequence[int], differs: Callable[[Sequence[int]], bool]) -> tuple[int, ...]:
    """A part of the numbers that differs, and from which no number can be left out.

    Leaves out halves, then quarters, down to single numbers (Zeller and Hildebrandt, Simplifying and Isolating
    Failure-Inducing Input, IEEE Transactions on Software Engineering 28(2), 2002).

    Args:
      numbers: in order; all of them together differ.
      differs: whether a part, in order, differs.
    """
    part, size = tuple(numbers), max(1, len(numbers) // 2)
    while True:
        start, before = 0, len(part)
        while start < len(part):
            rest = part[:start] + part[start + size :]
            if rest and differs(rest):
                part = rest
            else:
                start += size
        if size == 1 and len(part) == before:
            return part
        size = max(1, min(size, len(part)) // 2)
