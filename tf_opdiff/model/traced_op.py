"""Traced op: an op of the graph that a `tf.function` traces, as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tf_opdiff.model.recorded import Place

#: Ops that give one value to all elements: eager mode runs them, a trace can have a constant in their place.
FILLS = frozenset({"Fill", "OnesLike", "ZerosLike"})
#: Ops that bring a value into a program or hand it on: a trace has more of them.
SOURCES = FILLS | {
    *("Const", "Placeholder", "PlaceholderWithDefault", "Identity", "IdentityN", "ReadVariableOp", "StopGradient")
}

#: Ops that compute nothing where they leave the number of elements as it is; gradients of broadcasts have them where
#: shapes are not known in time.
_KEEPERS = frozenset({"Sum", "Mean", "Reshape", "Squeeze", "ExpandDims", "BroadcastTo", "Tile"})


def computes(kind: str, taken: int | None, given: int | None) -> bool:
    """Whether an op of this type computes something.

    `taken` and `given` are the numbers of elements of its first input and its first output; None for an unknown number.
    """
    return kind not in SOURCES and not (kind in _KEEPERS and taken is not None and taken == given)


@dataclass(frozen=True)
class TracedOp:
    """An op with a result of numbers other than integers.

    Attributes:
      type: the name of its OpDef.
      attrs: its attributes that are numbers, texts, booleans, or lists of these.
      constants: its operands that are constants of the graph, by position.
      place: the user's line.
    """

    type: str
    attrs: Mapping[str, Any]
    constants: Mapping[int, np.ndarray]
    place: Place


def plain_attr(value: Any) -> Any:
    """An attribute's value in one form, whether eager mode or a graph gave it; None for a value of another kind.

    A graph keeps floats as float32, eager mode gives those of Python.
    """
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, (list, tuple)):
        entries = [plain_attr(entry) for entry in value]
        return None if None in entries else entries
    if isinstance(value, float):
        return float(str(np.float32(value)))  # the shortest number: messages show it
    return value if isinstance(value, (bool, int, str)) else None
