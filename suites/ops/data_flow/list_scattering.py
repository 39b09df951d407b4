"""TensorListScatter to TensorListSplit: lists made of the rows of a tensor."""

from typing import Any

import numpy as np

from tf_opdiff.suites.forms.errors import IN_KERNEL, WHEN_BUILT
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.part import part
from tf_opdiff.suites.forms.state.list_programs import TensorList, pieces, rows
from tf_opdiff.suites.forms.state.lists import contents, followed_by, no_kernel, one_length, small_rows, steps, tensors
from tf_opdiff.suites.reference.promises.subnormal import Others, flushed_in, wholes

_ROWS = (5, 3)
_THREE = np.array([2, 0, 3], "int32")


def _split(pieces: TensorList, x: Any, lengths: Any) -> Any:
    made = pieces.split(x, lengths)
    return made.item(0), made.item(1), made.item(2)


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


def _flushed_sums(dtype: np.dtype, g: np.ndarray) -> Others:
    """Upstreams, and their sums with zeros, of a processor that flushes subnormals: XLA adds the lists of elements."""
    flushed = flushed_in(dtype, g)
    return wholes(flushed, flushed + 0.0)


def _lengths(shape: tuple[int, ...]) -> np.ndarray:
    """The lengths of three pieces: equal ones, or all in the middle."""
    return np.array([shape[0] // 3, shape[0] - 2 * (shape[0] // 3), shape[0] // 3], "int64")


_THIRDS = {"none": (0, 3), "one_by_one": (1, 1), "no_columns": (3, 0), "one_row": (3, 1, 1), "empty_planes": (0, 2, 1)}


def _put_vjp(g: np.ndarray, x: np.ndarray, y: np.ndarray, i: np.ndarray) -> tuple[Any, ...]:
    """The VJP of rows that are put into a list, which may grow."""
    return _placed(np.zeros_like(y), i, g)[: len(x)], g[i], None


_WRONG = {"negative": [2, -1, 3], "fewer": [2, 0], "more": [2, 0, 1, 3]}
_SPLIT: dict[str, Any] = {
    "vjp": lambda gs, x, lengths: (np.concatenate(gs), None),
    "alternatives": {"grad[0]": lambda dtype, gs, *inputs: _flushed_sums(dtype, np.concatenate(gs))},
}

SPECS = (
    *op(
        "tensor-list-scatter",
        "TensorListScatter",
        steps(contents((3, 5), then=(_THREE,)), small_rows(3, _THREE), vjp=lambda g, x, i: (g[i], None)),
        part("-invalid", recipes=followed_by(((3, 5),), _WRONG), **IN_KERNEL),
        program=rows(lambda new, x, i: new.scatter(x, i).stack()),
        reference=lambda x, i: _placed(x, i, _zeros(int(i.max()) + 1, x)),
        any_dtype=True,
        contract=no_kernel("TensorListScatter"),
    ),
    *op(
        "tensor-list-scatter-into-existing-list",
        "TensorListScatterIntoExistingList",
        steps(
            contents(_ROWS, (3, 3), then=(_THREE,)),
            small_rows(3, [2, 0, 1], more=lambda shape: (shape,)),
            vjp=_put_vjp,
            moving=(0, 1),
        ),
        part(
            "-grown",
            reference=lambda x, y, i: _placed(y, i, _with_zeros(x, 6)),
            vjp=_put_vjp,
            recipes={"plain": tensors(_ROWS, (3, 3), then=(np.array([2, 0, 5], "int32"),))},
        ),
        part(
            "-with-gap",  # the last row is not written, so it may be any number
            program=rows(lambda new, x, y, i: new.unstack(x).put_rows(y, i).stack()[:6]),
            reference=lambda x, y, i: _placed(y, i, _with_zeros(x, 7))[:6],
            recipes={"plain": tensors(_ROWS, (3, 3), then=(np.array([2, 0, 6], "int32"),))},
        ),
        part("-invalid", recipes=followed_by((_ROWS, (3, 3)), _WRONG), **IN_KERNEL),
        program=rows(lambda new, x, y, i: new.unstack(x).put_rows(y, i).stack()),
        reference=lambda x, y, i: _placed(y, i, x),
        any_dtype=True,
        contract=no_kernel("TensorListScatterIntoExistingList"),
    ),
    *op(
        "tensor-list-scatter-v2",
        "TensorListScatterV2",
        steps(contents((3, 5), then=(_THREE,)), small_rows(3, _THREE), vjp=lambda g, x, i: (g[i], None)),
        part("-invalid", recipes=followed_by(((3, 5),), {**_WRONG, "at_end": [2, 0, 6]}), **IN_KERNEL),
        program=rows(lambda new, x, i: new.scatter_v2(x, i, 6).stack()),
        reference=lambda x, i: _placed(x, i, _zeros(6, x)),
        any_dtype=True,
        contract=no_kernel("TensorListScatterV2"),
    ),
    *op(
        "tensor-list-split",
        "TensorListSplit",
        steps(
            contents((6, 3), then=(np.array([2, 2, 2], "int64"),)),
            {name: tensors(shape, then=(_lengths(shape),)) for name, shape in _THIRDS.items()},
            **_SPLIT,
        ),
        part(
            "-lengths",
            recipes={"plain": tensors(_ROWS, then=(np.array([2, 0, 3], "int64"),))},
            contract=one_length("UNIMPLEMENTED", "All lengths have to be the same"),
            **_SPLIT,
        ),
        part("-fewer", recipes=followed_by((_ROWS,), {"fewer": [1, 1, 1]}, "int64"), **IN_KERNEL),
        part(
            "-invalid",
            recipes=followed_by((_ROWS,), {"negative": [3, -1, 3], "more": [2, 2, 2]}, "int64"),
            contract=one_length("UNIMPLEMENTED", ""),
            **IN_KERNEL,
        ),
        part("-matrix", recipes=followed_by((_ROWS,), {"matrix": [[2, 0, 3]]}, "int64"), **WHEN_BUILT),
        any_dtype=True,
        program=pieces(_split),
        reference=lambda x, lengths: tuple(np.split(x, np.cumsum(lengths)[:-1])),
    ),
)
