"""TensorListElementShape to TensorListStack: what lists of tensors hold."""

from typing import Any

import numpy as np

from tf_opdiff.suites.forms.errors import IN_KERNEL, WHEN_BUILT
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.part import part
from tf_opdiff.suites.forms.state.list_programs import TensorList, like, rows, unknown
from tf_opdiff.suites.forms.state.lists import (
    clamped,
    contents,
    followed_by,
    no_gradient_kernel,
    no_kernel,
    small,
    small_rows,
    steps,
    tensors,
)

_ROWS = (5, 3)
_ONE = {"plain": tensors(_ROWS)}
#: One tensor that a graph refuses when it is built, or that a kernel refuses.
_UNBUILT: dict[str, Any] = {"recipes": _ONE, **WHEN_BUILT}
_REFUSED: dict[str, Any] = {"recipes": _ONE, **IN_KERNEL}
_SECOND = (np.array(1, "int32"),)
_FOUR = np.array([4, 0, 2, 3], "int32")
_OUTSIDE = {"at_end": 5, "beyond": 2**31 - 1, "negative": -1}
_ONTO_END = clamped(lambda x, i: x[np.clip(i, 0, len(x) - 1)])


def _popped(like: TensorList, x: Any, y: Any) -> Any:
    handle, last = like.empty(2).push(x, y).pop()
    return last, like.at(handle).pop()[1]


def _resized(rows: TensorList, x: Any, size: Any) -> Any:
    return rows.unstack(x).resize(size).stack()


def _element_shapes(rows: TensorList, x: Any) -> Any:
    unstacked = rows.unstack(x)
    return tuple(unstacked.element_shape(dtype) for dtype in (rows.tf.int32, rows.tf.int64))


def _no_list(tf: Any, x: Any) -> Any:
    variant = tf.raw_ops.RaggedTensorToVariant(rt_nested_splits=[], rt_dense_values=x, batched_input=False)
    return tf.raw_ops.TensorListLength(input_handle=variant)


def _at(g: np.ndarray, i: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Zeros like `x`, with `g` at indices; each index is there once."""
    out = np.zeros(x.shape, g.dtype)
    out[i] = g
    return out


def _added(g: np.ndarray, i: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Zeros like `x`, with the sum of the rows of `g` at each index."""
    out = np.zeros(x.shape, g.dtype)
    np.add.at(out, i, g)
    return out


def _first(x: np.ndarray, count: int) -> np.ndarray:
    """The first rows; zeros behind the last one."""
    return np.concatenate([x, np.zeros((count, *x.shape[1:]), x.dtype)])[:count]


def _replaced(x: np.ndarray, y: Any, i: np.ndarray) -> np.ndarray:
    """The rows of `x`, with `y` in place of one."""
    out = np.array(x)
    out[i] = y
    return out


SPECS = (
    *op(
        "tensor-list-element-shape",
        "TensorListElementShape",
        steps({**_ONE, "planes": tensors((2, 1, 4)), "scalars": tensors((3,))}, small(1)),
        program=rows(_element_shapes),
        reference=lambda x: (np.array(x.shape[1:], "int32"), np.array(x.shape[1:], "int64")),
        constant=("output[0]", "output[1]"),
    ),
    *op(
        "tensor-list-gather",
        "TensorListGather",
        steps(contents(_ROWS, then=(_FOUR,)), small_rows(3, [2, 0]), vjp=lambda g, x, i: (_at(g, i, x), None)),
        part(
            "-repeated",
            recipes={"twice": tensors(_ROWS, then=(np.array([4, 0, 4], "int32"),))},
            vjp=lambda g, x, i: (_added(g, i, x), None),
            ulp={"grad": 0.5},
        ),
        part(
            "-out-of-range",
            recipes=followed_by((_ROWS,), {"at_end": [0, 5], "negative": [-1, 0]}),
            contract=_ONTO_END,
            **IN_KERNEL,
        ),
        program=rows(lambda new, x, i: new.unstack(x).gather(i)),
        reference=lambda x, i: x[i],
        contract=no_gradient_kernel("TensorListScatterIntoExistingList", lambda x, i: x[i]),
    ),
    *op(
        "tensor-list-get-item",
        "TensorListGetItem",
        steps(
            contents(_ROWS, then=_SECOND) | {"last": tensors(_ROWS, then=(np.array(4, "int32"),))},
            small_rows(3, 1, 0),
            vjp=lambda g, x, i: (_at(g, i, x), None),
        ),
        part("-other-dtype", program=rows(lambda new, x: new.unstack(x).typed(new.tf.float64).item(1)), **_UNBUILT),
        part("-out-of-range", recipes=followed_by((_ROWS,), _OUTSIDE), contract=_ONTO_END, **IN_KERNEL),
        part("-unknown-shape", program=unknown(lambda new, x: new.reserve(2).item(0) + x), **_REFUSED),
        program=rows(lambda new, x, i: new.unstack(x).item(i)),
        reference=lambda x, i: x[i],
    ),
    *op(
        "tensor-list-length",
        "TensorListLength",
        steps(_ONE, small(1), constant=("output[0]",)),
        part("-no-list", program=_no_list, **_REFUSED),
        program=rows(lambda new, x: new.unstack(x).length()),
        reference=lambda x: np.array(len(x), "int32"),
    ),
    *op(
        "tensor-list-pop-back",
        "TensorListPopBack",
        steps(contents(_ROWS, _ROWS), small(2), vjp=lambda gs, x, y: (gs[1], gs[0]), moving=(0, 1)),
        part("-empty", program=like(lambda new, x: new.at(new.empty(1).push(x).pop()[0]).pop()[1]), **_REFUSED),
        program=like(_popped),
        reference=lambda x, y: (y, x),
    ),
    *op(
        "tensor-list-resize",
        "TensorListResize",
        steps(contents(_ROWS), small(1), vjp=lambda g, x: (_first(g, len(x)),)),
        part(
            "-smaller",
            program=rows(lambda new, x: new.unstack(x).resize(2).resize(6).resize(4).stack()),
            reference=lambda x: _first(_first(x, 2), 4),
            vjp=lambda g, x: (_first(_first(g, 2), len(x)),),
            recipes=_ONE,
        ),
        part("-invalid", program=rows(_resized), recipes=followed_by((_ROWS,), {"negative": -1}), **IN_KERNEL),
        part("-vector", program=rows(_resized), recipes=followed_by((_ROWS,), {"vector": [2, 3]}), **WHEN_BUILT),
        program=rows(lambda new, x: new.unstack(x).resize(7).stack()),
        reference=lambda x: _first(x, 7),
        contract=no_kernel("TensorListResize"),
    ),
    *op(
        "tensor-list-set-item",
        "TensorListSetItem",
        steps(
            contents(_ROWS, (3,), then=_SECOND),
            small_rows(3, 1, 0, lambda shape: (shape[1:],)),
            vjp=lambda g, x, y, i: (_replaced(g, 0, i), g[i], None),
            moving=(0, 1),
        ),
        part(
            "-resized",
            program=rows(lambda new, x, y: new.unstack(x).set_item(new.tf.shape(x)[0] + 2, y, True).stack()),
            reference=lambda x, y: np.concatenate([x, np.zeros_like(x[:2]), y[None]]),
            vjp=lambda g, x, y: (g[: len(x)], g[-1]),
            recipes={"plain": tensors(_ROWS, (3,))},
        ),
        part(
            "-twice",
            program=rows(lambda new, x, y, z, i: new.unstack(x).put(i, y).put(i, z).stack()),
            reference=lambda x, y, z, i: _replaced(x, z, i),
            vjp=lambda g, x, y, z, i: (_replaced(g, 0, i), np.zeros_like(y), g[i], None),
            recipes={"plain": tensors(_ROWS, (3,), (3,), then=_SECOND)},
        ),
        part(
            "-other-dtype",
            program=rows(lambda new, x: new.unstack(x).put(1, new.tf.cast(x[0], new.tf.float64)).stack()),
            **_REFUSED,
        ),
        part(
            "-other-shape",
            program=rows(lambda new, x: new.unstack(x).put(1, new.tf.reshape(x[0], [-1, 1])).stack()),
            **_UNBUILT,
        ),
        part(
            "-out-of-range",
            recipes=followed_by((_ROWS, (3,)), _OUTSIDE),
            contract=clamped(lambda x, y, i: _replaced(x, y, np.clip(i, 0, len(x) - 1))),
            **IN_KERNEL,
        ),
        program=rows(lambda new, x, y, i: new.unstack(x).put(i, y).stack()),
        reference=_replaced,
        any_dtype="TensorListStack",
    ),
    *op(
        "tensor-list-stack",
        "TensorListStack",
        steps(contents(_ROWS), small(1), vjp=lambda g, x: (g[1],)),
        part("-other-count", program=rows(lambda new, x: new.unstack(x).stack(4)), **_REFUSED),
        part("-other-dtype", program=rows(lambda new, x: new.unstack(x).typed(new.tf.float64).stack()), **_UNBUILT),
        part(
            "-other-shape",
            program=rows(lambda new, x: new.typed(shape=new.shape + 1).at(new.unstack(x).handle).stack()),
            **_UNBUILT,
        ),
        part("-unknown-shape", program=unknown(lambda new, x: new.reserve(2).stack() + x), **_REFUSED),
        program=like(lambda new, x: new.reserve(3).put(1, x).stack(3)),
        reference=lambda x: np.stack([np.zeros_like(x), x, np.zeros_like(x)]),
    ),
)
