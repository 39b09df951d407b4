"""TensorArrayConcat to TensorArraySizeV3: what arrays of tensors hold, in three versions."""

from typing import Any

import numpy as np

from tf_opdiff.suites.forms.array_programs import V1, Array
from tf_opdiff.suites.forms.arrays import in_versions, refused, results
from tf_opdiff.suites.forms.lists import SMALL, clamped, contents, followed_by, small, small_rows, tensors
from tf_opdiff.suites.forms.op import op

_ROWS = (5, 3)
_PLACES = np.array([4, 0, 2, 3, 1], "int32")
_OUTSIDE = {"at_end": 2, "beyond": 2**31 - 1, "negative": -1}


def _one(new: Array, x: Any) -> Array:
    """An array of two elements, of which the second one was written."""
    return new.new(2).write(1, x)


def _read(new: Array, x: Any, y: Any) -> Any:
    array = new.new(3).write(2, x).write(0, y)
    return array.read(0), array.read(2)


def _read_twice(new: Array, x: Any) -> Any:
    array = _one(new, x)
    first = array.read(1)
    with array.tf.control_dependencies([first]):  # otherwise TensorFlow makes one read of two
        return first, array.read(1)


_ONE = {"plain": tensors(_ROWS)}
_TWO = (contents(_ROWS, _ROWS), small(2))

SPECS = (
    *op(
        "tensor-array-concat",
        "TensorArrayConcat",
        in_versions(
            lambda new, x, y: new.new(2).write(1, x).write(0, y).concat()[0],
            results(*_TWO, vjp=lambda g, x, y: (g[len(y) :], g[: len(y)])),
            refused(
                "-mismatched",
                lambda new, x, y: new.new(2).write(0, x).write(1, y).concat()[0],
                {"columns": tensors(_ROWS, (5, 2))},
            ),
        ),
        reference=lambda x, y: np.concatenate([y, x]),
    ),
    *op(
        "tensor-array-gather",
        "TensorArrayGather",
        in_versions(
            lambda new, x, i: new.of_rows(x).gather(i),
            results(
                contents(_ROWS, then=(_PLACES,)), small_rows(5, _PLACES), vjp=lambda g, x, i: (g[np.argsort(i)], None)
            ),
            refused(
                "-out-of-range",
                lambda new, x, i: new.new(5).scatter(list(range(5)), x).gather(i),
                followed_by((_ROWS,), {"at_end": [0, 5], "negative": [-1, 0]}),
                contract=clamped(lambda x, i: x[np.clip(i, 0, 4)]),
            ),
        ),
        reference=lambda x, i: x[i],
    ),
    *op(
        "tensor-array-pack",
        "TensorArrayPack",
        in_versions(lambda new, x, y: new.new(2).write(1, x).write(0, y).pack(), results(*_TWO), versions=(V1,)),
        reference=lambda x, y: np.stack([y, x]),
    ),
    *op(
        "tensor-array-read",
        "TensorArrayRead",
        in_versions(
            _read,
            results(*_TWO, vjp=lambda gs, x, y: (gs[1], gs[0])),
            refused("-closed", lambda new, x: _one(new, x).closed().read(1), _ONE),
            refused(
                "-out-of-range",
                lambda new, x, i: _one(new, x).read(i),
                followed_by((_ROWS,), _OUTSIDE),
                contract=clamped(lambda x, i: x if i > 0 else np.zeros_like(x)),
            ),
            refused("-twice", _read_twice, _ONE),
            refused("-unwritten", lambda new, x: _one(new, x).read(0), _ONE),
        ),
        reference=lambda x, y: (y, x),
    ),
    *op(
        "tensor-array-size",
        "TensorArraySize",
        in_versions(
            lambda new, x, n: new.new(n).write(1, x).size(),
            results(
                followed_by((_ROWS,), {"plain": 4, "two": 2}),
                {
                    name: tensors(shape, then=(np.array(2, "int32"),))
                    for name, shape in SMALL.items()
                    if name in ("none", "one_by_one", "no_rows")
                },
            ),
        ),
        reference=lambda x, n: np.array(n, "int32"),
    ),
)
