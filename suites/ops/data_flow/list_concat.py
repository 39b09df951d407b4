"""TensorListConcat and TensorListConcatV2: the elements of a list, one behind the other."""

from typing import Any

import numpy as np

from tf_opdiff.harness.spec.spec import Spec
from tf_opdiff.suites.forms.list_elements import Elements
from tf_opdiff.suites.forms.lists import contents, no_kernel, one_length, small, steps, tensors

_ROWS = (5, 3)


def _concatenated(tf: Any, x: Any, y: Any) -> Any:
    pieces = Elements.pieces(tf, x)
    return tf.raw_ops.TensorListConcat(input_handle=pieces.push(pieces.empty(2), x, y), element_dtype=x.dtype)


def _concatenated_like(tf: Any, x: Any, y: Any) -> Any:
    like = Elements.like(tf, x)
    return tf.raw_ops.TensorListConcat(input_handle=like.push(like.empty(2), x, y), element_dtype=x.dtype)[0]


def _concatenated_with_gap(tf: Any, x: Any, y: Any) -> Any:
    pieces = Elements.pieces(tf, x)
    handle = pieces.put(pieces.put(pieces.reserve(3), 0, x), 2, y)
    return pieces.concat(handle, tf.stack([0, tf.shape(x, tf.int64)[0], 0]))


_CONCAT: dict[str, Any] = {
    "program": lambda tf, x, y: _concatenated(tf, x, y)[0],
    "reference": lambda x, y: np.concatenate([x, y]),
    "vjp": lambda g, x, y: (g[: len(x)], g[len(x) :]),
    "contract": no_kernel("TensorListConcat"),
}
_GAP: dict[str, Any] = {
    "program": lambda tf, x, y: _concatenated_with_gap(tf, x, y)[0],
    "reference": lambda x, y: np.concatenate([x, np.zeros_like(x), y]),
    "vjp": lambda g, x, y: (g[: len(x)], g[2 * len(x) :]),
}
_SEVERAL = {"plain": tensors(_ROWS, (2, 3)), "none": tensors((4, 3), (0, 3))}
_ONE_LENGTH = one_length("INTERNAL", "Invalid TensorList shape")


SPECS = (
    *steps(
        "tensor-list-concat",
        "TensorListConcat",
        recipes=contents(_ROWS, (2, 3)),
        tiny=small(2),
        moving=(0, 1),
        **_CONCAT,
    ),
    Spec(
        name="tensor-list-concat-known-shape",
        ops="TensorListConcat",
        recipes={"plain": tensors(_ROWS, _ROWS)},
        **_CONCAT | {"program": _concatenated_like},
    ),
    Spec(
        name="tensor-list-concat-lengths",
        ops="TensorListConcat",
        program=lambda tf, x, y: _concatenated(tf, x, y)[1],
        reference=lambda x, y: np.array([len(x), len(y)]),
        recipes=_SEVERAL,
        constant=("output[0]",),
        contract=no_kernel("TensorListConcat"),
    ),
    *steps(
        "tensor-list-concat-v2",
        "TensorListConcatV2",
        recipes=contents(_ROWS, _ROWS),
        tiny=small(2),
        moving=(0, 1),
        **_GAP,
    ),
    Spec(
        name="tensor-list-concat-v2-lengths",
        ops="TensorListConcatV2",
        program=lambda tf, x, y: _concatenated_with_gap(tf, x, y)[1],
        reference=lambda x, y: np.array([len(x), len(x), len(y)]),
        recipes=_SEVERAL,
        constant=("output[0]",),
        contract=_ONE_LENGTH,
    ),
    Spec(
        name="tensor-list-concat-v2-several-lengths",
        ops="TensorListConcatV2",
        recipes=_SEVERAL,
        contract=_ONE_LENGTH,
        **_GAP,
    ),
)
