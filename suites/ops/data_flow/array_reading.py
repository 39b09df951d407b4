"""TensorArrayConcat to TensorArraySizeV3: what arrays of tensors hold, in three versions."""

from typing import Any

import numpy as np

from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.part import part
from tf_opdiff.suites.forms.state.array_programs import V1, Array
from tf_opdiff.suites.forms.state.arrays import ONE, OUTSIDE, PLACES, ROWS, TWO, in_versions, refused, results, written
from tf_opdiff.suites.forms.state.lists import SMALL, clamped, contents, followed_by, small_rows, tensors


def _read(new: Array, x: Any, y: Any) -> Any:
    array = new.new(3).write(2, x).write(0, y)
    return array.read(0), array.read(2)


def _read_twice(new: Array, x: Any) -> Any:
    array = written(new, x)
    first = array.read(1)
    with array.tf.control_dependencies([first]):  # otherwise TensorFlow makes one read of two
        return first, array.read(1)


def _joined(new: Array, x: Any, y: Any, rows: Any) -> Any:
    """The elements of an array one after the other, whose rows have a shape that the op is told."""
    array = new.new(2).write(0, x).write(1, y)
    return array.call("Concat", handle=array.handle, flow_in=array.flow, dtype=array.dtype, element_shape_except0=rows)[
        0
    ]


SPECS = (
    *op(
        "tensor-array-concat",
        "TensorArrayConcat",
        in_versions(
            lambda new, x, y: new.new(2).write(1, x).write(0, y).concat()[0],
            results(*TWO, vjp=lambda g, x, y: (g[len(y) :], g[: len(y)])),
            refused(
                "-mismatched",
                lambda new, x, y: new.new(2).write(0, x).write(1, y).concat()[0],
                {"columns": tensors(ROWS, (5, 2))},
            ),
            lambda version: part(
                "-of-known-rows",
                program=version.program(lambda new, x, y: _joined(new, x, y, x.shape[1:])),
                reference=lambda x, y: np.concatenate([x, y]),
                recipes={"plain": tensors(ROWS, ROWS)},
            ),
            refused("-of-other-rows", lambda new, x, y: _joined(new, x, y, [4]), {"plain": tensors(ROWS, ROWS)}),
        ),
        reference=lambda x, y: np.concatenate([y, x]),
    ),
    *op(
        "tensor-array-gather",
        "TensorArrayGather",
        in_versions(
            lambda new, x, i: new.of_rows(x).gather(i),
            results(
                contents(ROWS, then=(PLACES,)), small_rows(5, PLACES), vjp=lambda g, x, i: (g[np.argsort(i)], None)
            ),
            refused(
                "-out-of-range",
                lambda new, x, i: new.new(5).scatter(list(range(5)), x).gather(i),
                followed_by((ROWS,), {"at_end": [0, 5], "negative": [-1, 0]}),
                contract=clamped(lambda x, i: x[np.clip(i, 0, 4)]),
            ),
        ),
        reference=lambda x, i: x[i],
    ),
    *op(
        "tensor-array-pack",
        "TensorArrayPack",
        in_versions(lambda new, x, y: new.new(2).write(1, x).write(0, y).pack(), results(*TWO), versions=(V1,)),
        reference=lambda x, y: np.stack([y, x]),
    ),
    *op(
        "tensor-array-read",
        "TensorArrayRead",
        in_versions(
            _read,
            results(*TWO, vjp=lambda gs, x, y: (gs[1], gs[0])),
            refused("-closed", lambda new, x: written(new, x).closed().read(1), ONE),
            refused(
                "-out-of-range",
                lambda new, x, i: written(new, x).read(i),
                followed_by((ROWS,), OUTSIDE),
                contract=clamped(lambda x, i: x if i > 0 else np.zeros_like(x)),
            ),
            refused("-twice", _read_twice, ONE),
            refused("-unwritten", lambda new, x: written(new, x).read(0), ONE),
        ),
        reference=lambda x, y: (y, x),
    ),
    *op(
        "tensor-array-size",
        "TensorArraySize",
        in_versions(
            lambda new, x, n: new.new(n).write(1, x).size(),
            results(
                followed_by((ROWS,), {"plain": 4, "two": 2}),
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
