"""Diagonals: what the declarations of ops on bands of matrices share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from tf_opdiff.harness.spec.inputs.attrs import Keywords
from tf_opdiff.suites.forms.array_ops.layout import LAID
from tf_opdiff.suites.forms.errors import IN_KERNEL, WHEN_BUILT
from tf_opdiff.suites.forms.of_xla import FLOAT8_OF_CPU, OF_XLA
from tf_opdiff.suites.forms.part import Part, part
from tf_opdiff.suites.forms.recipes.pairs import shaped
from tf_opdiff.suites.reference.arrays.placed import Placed

_ALIGNMENTS = ("RIGHT_LEFT", "LEFT_RIGHT", "LEFT_LEFT", "RIGHT_RIGHT")
_WRONG_K: dict[str, dict[str, Any]] = {
    "far_above": {"k": 5},
    "far_below": {"k": -4},
    "partly_outside": {"k": [0, 5]},
    "falling": {"k": [1, -1]},
    "three": {"k": [0, 1, 2]},
    "matrix": {"k": [[0, 1]]},
}
#: Other dtypes stand in the specs of one diagonal.
FLOAT32_ALONE = replace(LAID, smooth=(), rough=(), of_xla=(), quantized_of_xla=())
EVERY_DTYPE = replace(LAID, of_xla=(*OF_XLA, *FLOAT8_OF_CPU))
#: The dtypes of ops on tensors of any rank.
FEW_DTYPES = replace(
    LAID,
    smooth=("float16", "float64", "complex64", "complex128"),
    rough=("int32", "int64"),
    of_xla=("bfloat16",),
    quantized_of_xla=(),
)
#: Neither the constant that pads a result of other small floats can be made, nor one of 4 bits in each mode.
WITH_PADDING = replace(LAID, of_xla=FLOAT8_OF_CPU)


def aligned(views: Mapping[str, Keywords]) -> dict[str, Keywords]:
    """The attributes of a third version, each with another alignment."""
    return {label: {**view, "align": _ALIGNMENTS[i % 4]} for i, (label, view) in enumerate(views.items())}


def of_version(version: int, move: Callable[..., np.ndarray]) -> Placed:
    """The promise of the second or the third version of an op.

    The gradients of the second versions call the third versions, whose default alignment is another one:
    tensorflow/python/ops/array_grad.py.
    """
    return Placed(move, mistake=partial(move, align="RIGHT_LEFT") if version == 2 else None)


def padding_of(tf: Any, x: Any, padding: int) -> Any:
    """The number as a tensor of the dtype of x; there is a 0 in every dtype."""
    return tf.cast(padding, x.dtype) if padding else tf.zeros([], x.dtype)


#: A band at and below the main diagonal: every alignment places its vectors alike.
FALLING = [-2, 0]


def padded(shape: tuple[int, ...], program: Callable[..., Any], move: Callable[..., np.ndarray]) -> Part:
    """A part: the padding as an input, of the band `FALLING`.

    TensorFlow connects no gradient with it: tensorflow/python/ops/array_grad.py.

    Args:
      shape: the shape of the other input.
      program: program(tf, x, padding).
      move: move(x, padding=…) → the result.
    """

    def vjp(g: np.ndarray, x: np.ndarray, _: np.ndarray) -> tuple[np.ndarray, None]:
        sources = move(np.arange(1, x.size + 1).reshape(x.shape), padding=0).ravel()
        return np.bincount(sources, g.ravel(), x.size + 1)[1:].reshape(x.shape), None

    def result(x: np.ndarray, padding: np.ndarray) -> np.ndarray:
        return move(x, padding=padding)

    recipes = {"plain": shaped(shape, ())}
    return part("-padding", program=program, reference=result, vjp=vjp, recipes=recipes, dtypes=("float32",))


def refused(
    suffix: str, *shapes: tuple[int, ...], wrong: Mapping[str, Keywords], error: Mapping[str, Any] = WHEN_BUILT
) -> Part:
    """A part: attributes that the op refuses, with matrices of these shapes."""
    return part(suffix, recipes={"matrices": shaped(*shapes)}, attrs=wrong, dtypes=("float32",), **error)


#: Bands that an op refuses: shape inference finds each of them.
wrong_bands = partial(refused, "-wrong-band", wrong=_WRONG_K)
not_a_matrix = partial(refused, "-vector", (5,))
in_kernel = partial(refused, error=IN_KERNEL)
