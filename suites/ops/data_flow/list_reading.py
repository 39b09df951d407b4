"""TensorListElementShape to TensorListStack: what lists of tensors hold."""

from collections.abc import Callable
from typing import Any

import numpy as np

from tf_opdiff.harness.spec.spec import Spec
from tf_opdiff.suites.forms.list_elements import Elements
from tf_opdiff.suites.forms.lists import contents, no_gradient_kernel, no_kernel, small, steps, tensors

_ROWS = (5, 3)
_SECOND = (np.array(1, "int32"),)
_FOUR = np.array([4, 0, 2, 3], "int32")


def _gathered(tf: Any, x: Any, i: Any) -> Any:
    rows = Elements.rows(tf, x)
    return rows.gather(rows.of_rows(x), i)


def _item(tf: Any, x: Any, i: Any) -> Any:
    rows = Elements.rows(tf, x)
    return rows.item(rows.of_rows(x), i)


def _popped(tf: Any, x: Any, y: Any) -> Any:
    like = Elements.like(tf, x)
    handle, last = like.pop(like.push(like.empty(2), x, y))
    return last, like.pop(handle)[1]


def _set(tf: Any, x: Any, y: Any, i: Any) -> Any:
    rows = Elements.rows(tf, x)
    return rows.stack(rows.put(rows.of_rows(x), i, y))


def _set_behind(tf: Any, x: Any, y: Any) -> Any:
    rows = Elements.rows(tf, x)
    return rows.stack(rows.put(rows.of_rows(x), tf.shape(x)[0] + 2, y, resize=True))


def _set_twice(tf: Any, x: Any, y: Any, z: Any, i: Any) -> Any:
    rows = Elements.rows(tf, x)
    return rows.stack(rows.put(rows.put(rows.of_rows(x), i, y), i, z))


def _stacked(tf: Any, x: Any) -> Any:
    like = Elements.like(tf, x)
    return like.stack(like.put(like.reserve(3), 1, x), 3)


def _resized(*sizes: int) -> Callable[..., Any]:
    """A program that resizes a list to one size after the other."""

    def program(tf: Any, x: Any) -> Any:
        rows = Elements.rows(tf, x)
        handle = rows.of_rows(x)
        for size in sizes:
            handle = tf.raw_ops.TensorListResize(input_handle=handle, size=size)
        return rows.stack(handle)

    return program


def _length(tf: Any, x: Any) -> Any:
    rows = Elements.rows(tf, x)
    return tf.raw_ops.TensorListLength(input_handle=rows.of_rows(x))


def _shape(tf: Any, x: Any) -> Any:
    handle = Elements.rows(tf, x).of_rows(x)
    return tuple(
        tf.raw_ops.TensorListElementShape(input_handle=handle, shape_type=dtype) for dtype in (tf.int32, tf.int64)
    )


def _at(g: np.ndarray, i: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Zeros like `x`, with `g` at indices; each index is there once."""
    out = np.zeros(x.shape, g.dtype)
    out[i] = g
    return out


def _added(g: np.ndarray, i: np.ndarray, x: np.ndarray) -> np.ndarray:
    """The same where indices repeat: the sum of the rows of each index."""
    out = np.zeros(x.shape, g.dtype)
    np.add.at(out, i, g)
    return out


def _first(x: np.ndarray, count: int) -> np.ndarray:
    """The first rows; zeros behind the last one."""
    return np.concatenate([x, np.zeros((count, *x.shape[1:]), x.dtype)])[:count]


def replaced(x: np.ndarray, y: Any, i: np.ndarray) -> np.ndarray:
    """The rows of `x`, with `y` in place of one."""
    out = np.array(x)
    out[i] = y
    return out


def _rows_with(many, one, count=1):
    """Recipes of rows of small shapes, then of one row, then of an index for three rows, or for one."""
    shapes = {"one": (3,), "no_columns": (3, 0), "no_planes": (3, 0, 2), "one_row": (3, 1, 1), "one_by_one": (1, 1)}
    return {
        name: tensors(s, *(s[1:],) * (count - 1), then=(np.array(many if s[0] == 3 else one, "int32"),))
        for name, s in shapes.items()
    }


_GATHERED = no_gradient_kernel("TensorListScatterIntoExistingList", lambda x, i: x[i])
_REPEATED = {"twice": tensors(_ROWS, then=(np.array([4, 0, 4], "int32"),))}


SPECS = (
    *steps(
        "tensor-list-element-shape",
        "TensorListElementShape",
        program=_shape,
        reference=lambda x: (np.array(x.shape[1:], "int32"), np.array(x.shape[1:], "int64")),
        recipes={"plain": tensors(_ROWS), "planes": tensors((2, 1, 4)), "scalars": tensors((3,))},
        tiny=small(1),
        constant=("output[0]", "output[1]"),
    ),
    *steps(
        "tensor-list-gather",
        "TensorListGather",
        program=_gathered,
        reference=lambda x, i: x[i],
        vjp=lambda g, x, i: (_at(g, i, x), None),
        contract=_GATHERED,
        recipes=contents(_ROWS, then=(_FOUR,)),
        tiny=_rows_with([2, 0], [0]),
    ),
    Spec(
        name="tensor-list-gather-repeated",
        ops="TensorListGather",
        program=_gathered,
        reference=lambda x, i: x[i],
        vjp=lambda g, x, i: (_added(g, i, x), None),
        contract=_GATHERED,
        recipes=_REPEATED,
        ulp={"grad": 0.5},
    ),
    *steps(
        "tensor-list-get-item",
        "TensorListGetItem",
        program=_item,
        reference=lambda x, i: x[i],
        vjp=lambda g, x, i: (_at(g, i, x), None),
        recipes=contents(_ROWS, then=_SECOND) | {"last": tensors(_ROWS, then=(np.array(4, "int32"),))},
        tiny=_rows_with(1, 0),
    ),
    *steps(
        "tensor-list-length",
        "TensorListLength",
        program=_length,
        reference=lambda x: np.array(len(x), "int32"),
        recipes={"plain": tensors(_ROWS)},
        tiny=small(1),
        constant=("output[0]",),
    ),
    *steps(
        "tensor-list-pop-back",
        "TensorListPopBack",
        program=_popped,
        reference=lambda x, y: (y, x),
        vjp=lambda gs, x, y: (gs[1], gs[0]),
        recipes=contents(_ROWS, _ROWS),
        tiny=small(2),
        moving=(0, 1),
    ),
    *steps(
        "tensor-list-resize",
        "TensorListResize",
        program=_resized(7),
        reference=lambda x: _first(x, 7),
        vjp=lambda g, x: (_first(g, len(x)),),
        contract=no_kernel("TensorListResize"),
        recipes=contents(_ROWS),
        tiny=small(1),
    ),
    Spec(
        name="tensor-list-resize-smaller",
        ops="TensorListResize",
        program=_resized(2, 6, 4),
        reference=lambda x: _first(_first(x, 2), 4),
        vjp=lambda g, x: (_first(_first(g, 2), len(x)),),
        contract=no_kernel("TensorListResize"),
        recipes={"plain": tensors(_ROWS)},
    ),
    *steps(
        "tensor-list-set-item",
        "TensorListSetItem",
        program=_set,
        reference=replaced,
        vjp=lambda g, x, y, i: (replaced(g, 0, i), g[i], None),
        recipes=contents(_ROWS, (3,), then=_SECOND),
        tiny=_rows_with(1, 0, count=2),
        moving=(0, 1),
    ),
    Spec(
        name="tensor-list-set-item-resized",
        ops="TensorListSetItem",
        program=_set_behind,
        reference=lambda x, y: np.concatenate([x, np.zeros_like(x[:2]), y[None]]),
        vjp=lambda g, x, y: (g[: len(x)], g[-1]),
        recipes={"plain": tensors(_ROWS, (3,))},
    ),
    Spec(
        name="tensor-list-set-item-twice",
        ops="TensorListSetItem",
        program=_set_twice,
        reference=lambda x, y, z, i: replaced(x, z, i),
        vjp=lambda g, x, y, z, i: (replaced(g, 0, i), np.zeros_like(y), g[i], None),
        recipes={"plain": tensors(_ROWS, (3,), (3,), then=_SECOND)},
    ),
    *steps(
        "tensor-list-stack",
        "TensorListStack",
        program=_stacked,
        reference=lambda x: np.stack([np.zeros_like(x), x, np.zeros_like(x)]),
        vjp=lambda g, x: (g[1],),
        recipes=contents(_ROWS),
        tiny=small(1),
    ),
)
