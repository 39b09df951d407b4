"""TensorListScatter to TensorListSplit: lists made of the rows of a tensor."""

from typing import Any

import numpy as np

from tf_opdiff.harness.spec.spec import Spec
from tf_opdiff.suites.forms.list_elements import Elements
from tf_opdiff.suites.forms.lists import contents, no_kernel, one_length, steps, tensors
from tf_opdiff.suites.reference.subnormal import flushed_in

_ROWS = (5, 3)
_THREE = np.array([2, 0, 3], "int32")


def _scattered(tf: Any, x: Any, i: Any) -> Any:
    rows = Elements.rows(tf, x)
    return rows.stack(tf.raw_ops.TensorListScatter(tensor=x, indices=i, element_shape=rows.shape))


def _scattered_among(tf: Any, x: Any, i: Any) -> Any:
    rows = Elements.rows(tf, x)
    handle = tf.raw_ops.TensorListScatterV2(tensor=x, indices=i, element_shape=rows.shape, num_elements=6)
    return rows.stack(handle)


def _scattered_into(tf: Any, x: Any, y: Any, i: Any) -> Any:
    rows = Elements.rows(tf, x)
    handle = tf.raw_ops.TensorListScatterIntoExistingList(input_handle=rows.of_rows(x), tensor=y, indices=i)
    return rows.stack(handle)


def _split(tf: Any, x: Any, lengths: Any) -> Any:
    pieces = Elements.pieces(tf, x)
    handle = tf.raw_ops.TensorListSplit(tensor=x, element_shape=pieces.shape, lengths=lengths)
    return pieces.item(handle, 0), pieces.item(handle, 1), pieces.item(handle, 2)


def _placed(x: np.ndarray, i: np.ndarray, start: np.ndarray) -> np.ndarray:
    """The rows of `start`, with those of `x` at indices; the last one wins."""
    out = np.array(start)
    for row, place in zip(x, i, strict=True):
        out[place] = row
    return out


def _zeros(count: int, x: np.ndarray) -> np.ndarray:
    return np.zeros((count, *x.shape[1:]), x.dtype)


def _with_zeros(x: np.ndarray, count: int) -> np.ndarray:
    """The rows, and zeros behind them."""
    return np.concatenate([x, _zeros(count - len(x), x)])


def _cut(x: np.ndarray, lengths: np.ndarray) -> tuple[np.ndarray, ...]:
    return tuple(np.split(x, np.cumsum(lengths)[:-1]))


def _with_indices(count: int, places: np.ndarray):
    """Recipes of this many tensors of small rows, with places for them."""
    shapes = {"one": (3,), "no_columns": (3, 0), "no_planes": (3, 0, 2), "one_row": (3, 1, 1), "one_by_one": (1, 1)}
    first = np.array([0], "int32")
    return {
        name: tensors(*(shape,) * count, then=(places if shape[0] == 3 else first,)) for name, shape in shapes.items()
    }


def _flushed_sums(dtype: np.dtype, g: np.ndarray) -> list[np.ndarray]:
    """Upstreams, and their sums with zeros, of a processor that flushes subnormals: XLA adds the lists of elements."""
    flushed = flushed_in(dtype, g)
    return [flushed, flushed + 0.0]


_SPLIT: dict[str, Any] = {
    "program": _split,
    "reference": _cut,
    "vjp": lambda gs, x, lengths: (np.concatenate(gs), None),
    "alternatives": {"grad[0]": lambda dtype, gs, *inputs: _flushed_sums(dtype, np.concatenate(gs))},
}


def _lengths(shape: tuple[int, ...]) -> np.ndarray:
    """The lengths of three pieces: equal ones, or all in the middle."""
    return np.array([shape[0] // 3, shape[0] - 2 * (shape[0] // 3), shape[0] // 3], "int64")


_THIRDS = {"none": (0, 3), "one_by_one": (1, 1), "no_columns": (3, 0), "one_row": (3, 1, 1), "empty_planes": (0, 2, 1)}


SPECS = (
    *steps(
        "tensor-list-scatter",
        "TensorListScatter",
        program=_scattered,
        reference=lambda x, i: _placed(x, i, _zeros(int(i.max()) + 1, x)),
        vjp=lambda g, x, i: (g[i], None),
        contract=no_kernel("TensorListScatter"),
        recipes=contents((3, 5), then=(_THREE,)),
        tiny=_with_indices(1, _THREE),
    ),
    *steps(
        "tensor-list-scatter-into-existing-list",
        "TensorListScatterIntoExistingList",
        program=_scattered_into,
        reference=lambda x, y, i: _placed(y, i, x),
        vjp=lambda g, x, y, i: (_placed(np.zeros_like(y), i, g), g[i], None),
        contract=no_kernel("TensorListScatterIntoExistingList"),
        recipes=contents(_ROWS, (3, 3), then=(_THREE,)),
        tiny=_with_indices(2, np.array([2, 0, 1], "int32")),
        moving=(0, 1),
    ),
    Spec(
        name="tensor-list-scatter-into-existing-list-grown",
        ops="TensorListScatterIntoExistingList",
        program=_scattered_into,
        reference=lambda x, y, i: _placed(y, i, _with_zeros(x, 6)),
        vjp=lambda g, x, y, i: (_placed(np.zeros_like(y), i, g)[: len(x)], g[i], None),
        contract=no_kernel("TensorListScatterIntoExistingList"),
        recipes={"plain": tensors(_ROWS, (3, 3), then=(np.array([2, 0, 5], "int32"),))},
    ),
    Spec(
        name="tensor-list-scatter-into-existing-list-with-gap",  # the last row is not written, so it may be any number
        ops="TensorListScatterIntoExistingList",
        program=lambda tf, x, y, i: _scattered_into(tf, x, y, i)[:6],
        reference=lambda x, y, i: _placed(y, i, _with_zeros(x, 7))[:6],
        contract=no_kernel("TensorListScatterIntoExistingList"),
        recipes={"plain": tensors(_ROWS, (3, 3), then=(np.array([2, 0, 6], "int32"),))},
    ),
    *steps(
        "tensor-list-scatter-v2",
        "TensorListScatterV2",
        program=_scattered_among,
        reference=lambda x, i: _placed(x, i, _zeros(6, x)),
        vjp=lambda g, x, i: (g[i], None),
        contract=no_kernel("TensorListScatterV2"),
        recipes=contents((3, 5), then=(_THREE,)),
        tiny=_with_indices(1, _THREE),
    ),
    *steps(
        "tensor-list-split",
        "TensorListSplit",
        recipes=contents((6, 3), then=(np.array([2, 2, 2], "int64"),)),
        tiny={name: tensors(shape, then=(_lengths(shape),)) for name, shape in _THIRDS.items()},
        **_SPLIT,
    ),
    Spec(
        name="tensor-list-split-lengths",
        ops="TensorListSplit",
        recipes={"plain": tensors(_ROWS, then=(np.array([2, 0, 3], "int64"),))},
        contract=one_length("UNIMPLEMENTED", "All lengths have to be the same"),
        **_SPLIT,
    ),
)
