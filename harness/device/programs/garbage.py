"""Garbage: the memory of programs that a device server no longer needs."""

from __future__ import annotations

import gc

#: Frozen objects are collected too in every collection of this number.
WHOLE = 64


class Collector:
    """Collects the cycles that dropped programs leave, without walking the objects that stay.

    A collection walks every object that is not frozen: those of TensorFlow's modules, and what TensorFlow keeps of
    each program that it ever built. So each collection freezes its survivors; without that, a server's collections
    take as long as its programs are many. A frozen object that becomes part of a cycle of garbage stays until the
    next whole collection, which walks all objects.
    """

    def __init__(self, whole: int = WHOLE) -> None:
        """Freezes the objects that exist now; every collection of number `whole` is a whole one."""
        self._whole, self._count = whole, 0
        gc.freeze()

    def collect(self) -> None:
        """Frees the cycles of objects that are younger than the last collection; in a whole collection, all cycles."""
        self._count += 1
        if self._count % self._whole == 0:
            gc.unfreeze()
        gc.collect()
        gc.freeze()
