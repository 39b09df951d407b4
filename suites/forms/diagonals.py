"""Diagonals: parts of the declarations of ops on bands of matrices."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from tf_opdiff.harness.spec.attrs import Keywords
from tf_opdiff.harness.spec.spec import Spec
from tf_opdiff.suites.forms.errors import REFUSED_BY_KERNEL, raises
from tf_opdiff.suites.forms.layout import Shapes, all_values
from tf_opdiff.suites.forms.of_xla import FLOAT8_OF_CPU, OF_XLA

ALIGNMENTS = ("RIGHT_LEFT", "LEFT_RIGHT", "LEFT_LEFT", "RIGHT_RIGHT")
WRONG_K: dict[str, dict[str, Any]] = {
    "far_above": {"k": 5},
    "far_below": {"k": -4},
    "partly_outside": {"k": [0, 5]},
    "falling": {"k": [1, -1]},
    "three": {"k": [0, 1, 2]},
    "matrix": {"k": [[0, 1]]},
}
#: Other dtypes stand in the specs of one diagonal.
FLOAT32_ALONE: dict[str, Any] = {"smooth": (), "rough": (), "of_xla": (), "quantized": ()}
EVERY_DTYPE: dict[str, Any] = {"of_xla": (*OF_XLA, *FLOAT8_OF_CPU)}
#: Neither the constant that pads a result of other small floats can be made, nor one of 4 bits in each mode.
WITH_PADDING: dict[str, Any] = {"of_xla": FLOAT8_OF_CPU}


def aligned(views: Mapping[str, Keywords]) -> dict[str, Keywords]:
    """The calls of a third version, each with another alignment."""
    return {label: {**view, "align": ALIGNMENTS[i % 4]} for i, (label, view) in enumerate(views.items())}


def gradient_of_v2(op: str, move: Callable[..., np.ndarray]) -> Callable[..., np.ndarray] | None:
    """The move whose gradient TensorFlow has in place of that of a second version; None for another version.

    The gradients of the second versions call the third versions, whose default alignment is another one:
    tensorflow/python/ops/array_grad.py.
    """
    return partial(move, align="RIGHT_LEFT") if op.endswith("V2") else None


def padding_of(tf: Any, x: Any, padding: int) -> Any:
    """The number as a tensor of the dtype of x; there is a 0 in every dtype."""
    return tf.cast(padding, x.dtype) if padding else tf.zeros([], x.dtype)


def refused(
    name: str, op: str, program: Callable[..., Any], wrong: Mapping[str, Keywords], shapes: Shapes, code: str = ""
) -> Spec:
    """The spec of an op with arguments that it refuses: those that shape inference refuses have a ValueError."""
    return Spec(
        name=name,
        ops=op,
        program=program,
        reference=raises(code or "INVALID_ARGUMENT"),
        recipes={"matrices": all_values(shapes)},
        attrs=wrong,
        contract=REFUSED_BY_KERNEL if code == "ValueError" else {},
    )
