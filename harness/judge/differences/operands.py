"""Operands: the arrays of which a result is computed, under the names that regions of known failures give them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

#: Names of the first inputs; `input[3]` is the fourth.
INPUTS = ("x", "y", "z")


@dataclass(frozen=True)
class Operands:
    """The arrays of which a result is computed.

    Attributes:
      inputs: the inputs of the op.
      upstreams: the upstream of each output, None for an output without one; empty where no gradient is taken.
      own: the number of the input that a gradient belongs to; None if the result is no gradient.
      mistaken: gives the wrong result that the spec says TensorFlow computes; see `harness.judge.promises.mistaken`.
    """

    inputs: Sequence[np.ndarray] = ()
    upstreams: Sequence[np.ndarray | None] = ()
    own: int | None = None
    mistaken: Callable[[], np.ndarray] | None = None

    def named(self, name: str) -> np.ndarray:
        """The array of a name of a condition without a number: `x`, `own`, `upstream`, `mistaken`.

        Raises:
          LookupError: there is no such array.
        """
        if name == "mistaken":
            if self.mistaken is None:
                raise LookupError("there is no spec with mistaken results")
            return self.mistaken()
        if name in INPUTS:
            return self.numbered("input", INPUTS.index(name))
        if name == "upstream":
            return self.numbered(name, next((i for i, g in enumerate(self.upstreams) if g is not None), 0))
        if self.own is None:
            raise IndexError("the result is no gradient, which alone has an input of its own")
        return self.numbered("input", self.own)

    def numbered(self, name: str, number: int) -> np.ndarray:
        """The array of a name of a condition with a number: `input[1]`, `upstream[1]`.

        Raises:
          IndexError: there is no such array.
        """
        arrays = self.upstreams if name == "upstream" else self.inputs
        array = arrays[number] if number < len(arrays) else None
        if array is None:
            raise IndexError(f"{name}[{number}] is out of range: there are {len(arrays)}")
        return array
