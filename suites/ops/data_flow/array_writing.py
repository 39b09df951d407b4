"""TensorArray to TensorArrayWriteV3: arrays of tensors that programs make, write and close, in three versions."""

from typing import Any

import numpy as np

from tf_opdiff.harness.spec.contract import Side
from tf_opdiff.harness.spec.spec import Raises
from tf_opdiff.suites.forms.errors import WHEN_BUILT
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.part import Part, part
from tf_opdiff.suites.forms.programs.control_flow import XLA
from tf_opdiff.suites.forms.state.array_programs import V1, V2, V3, Array, Version
from tf_opdiff.suites.forms.state.arrays import (
    ONE,
    OUTSIDE,
    PLACES,
    ROWS,
    TWO,
    in_versions,
    refused,
    removed,
    results,
    written,
)
from tf_opdiff.suites.forms.state.lists import SMALL, contents, followed_by, no_kernel, small, small_rows, tensors

_FIVE = np.arange(5, dtype="int32")


def _kept(new: Array, x: Any, y: Any) -> Any:
    array = new.new(2, clear_after_read=False).write(0, x).write(1, y)
    return array.read(1), array.read(0), array.gather([0, 1, 0])


def _split(new: Array, x: Any, lengths: Any) -> Any:
    return tuple(new.new(new.tf.size(lengths)).split(x, lengths).concat())


def _closed(new: Array, x: Any) -> Any:
    array = written(new, x)
    y = array.read(1)
    twice = array.closed(y).closed(y)
    with array.tf.control_dependencies([twice.flow]):
        return array.tf.identity(y)


def _added(new: Array, x: Any, y: Any) -> Any:
    gradient = new.new(3).write(0, x).write(1, y).gradient()
    gradient = gradient.write(1, x).write(1, y).write(0, y)
    return gradient.read(1), gradient.read(0)


def _gradient_with_shape(new: Array, x: Any, y: Any) -> Any:
    array = new.new(2).write(0, x).write(1, x)
    where = {"shape_to_prepend": new.tf.constant([2]), "source": "gradients"}
    made = new.tf.raw_ops.TensorArrayGradWithShape(handle=array.handle, flow_in=array.flow, **where)
    gradient = array.at(*made).write(1, y)
    return gradient.read(1), gradient.read(0)


def _grown(new: Array, x: Any) -> Any:
    array = new.new(1, dynamic_size=True).write(3, x)
    return array.size(), array.read(3)


def _scattered(new: Array, x: Any, i: Any) -> Any:
    count = new.tf.shape(x)[0]
    return new.new(count).scatter(i, x).gather(new.tf.range(count))


def _scattered_at(new: Array, x: Any, i: Any) -> Any:
    return new.new(5).scatter(i, x).size()


def _written_flat(new: Array, x: Any) -> Any:
    return new.new(2, element_shape=ROWS).write(0, x).write(1, new.tf.reshape(x, [-1])).read(0)


def _every_op(new: Array, x: Any) -> Any:
    """A program with all ops that the three versions share."""
    array = new.new(10).split(x, [1] * 5).scatter(_FIVE + 5, x)
    gradient = array.gradient().write(0, x[0])
    results = (array.gather(_FIVE), array.concat()[0], gradient.read(0), array.size())
    with new.tf.control_dependencies([array.closed(*results).flow]):
        return tuple(new.tf.identity(y) for y in results)


def _every_op_of_v1(new: Array, x: Any) -> Any:
    """A program with all ops of version 1."""
    packed = new.new(5).unpack(x).pack()
    return (*_every_op(new, x), packed)


def _lengths(*shapes: tuple[int, ...]) -> list[Any]:
    """Recipes of tensors of these shapes, and of the lengths of three equal pieces, or of one."""
    counts = [np.full(3, shape[0] // 3, "int64") if shape[0] != 1 else np.array([1], "int64") for shape in shapes]
    return [tensors(shape, then=(count,)) for shape, count in zip(shapes, counts, strict=True)]


_SHARED = ("", "Close", "Concat", "Gather", "Grad", "Read", "Scatter", "Size", "Split", "Write")
_FIXED = Side(
    reference=lambda *inputs: Raises("UNIMPLEMENTED", "dynamic size"),
    why="XLA compiles for static shapes, so an array has one size",
    link=XLA,
)
_THIRDS = {"one": (3,), "none": (0, 3), "empty_planes": (0, 2, 1), "one_row": (3, 1), "one_by_one": (1, 1)}


def _grows(version: Version) -> Part:
    """A part: an array that grows."""
    return part(
        "-grows",
        program=version.program(_grown),
        reference=lambda x: (np.array(4, "int32"), x),
        recipes=ONE,
        contract={"*/xla": _FIXED} if version is V3 else {},
        constant=("output[0]",),
    )


SPECS = (
    *op(
        "tensor-array",
        "TensorArray",
        in_versions(
            _kept,
            results(*TWO),
            refused("-negative-size", lambda new, x, n: new.new(n).size(), followed_by((ROWS,), {"negative": -1})),
        ),
        reference=lambda x, y: (y, x, np.stack([x, y, x])),
    ),
    *op(
        "tensor-array-close",
        "TensorArrayClose",
        in_versions(_closed, results(contents(ROWS), small(1))),
        reference=lambda x: x,
    ),
    *op(
        "tensor-array-grad",
        "TensorArrayGrad",
        in_versions(_added, results({"plain": tensors(ROWS, ROWS)}, small(2))),
        reference=lambda x, y: (x + y, y),
        ulp={"output[0]": 0.5},
    ),
    *op(
        "tensor-array-gradwithshape",
        "TensorArrayGradWithShape",
        in_versions(
            _gradient_with_shape,
            results(
                {"plain": tensors(ROWS, (2, *ROWS))},
                {name: tensors(shape, (2, *shape)) for name, shape in SMALL.items()},
            ),
            versions=(V3,),
            suffix=False,
        ),
        reference=lambda x, y: (y, np.zeros_like(y)),
        contract=no_kernel("TensorArrayGradWithShape"),
    ),
    *op(
        "tensor-array-scatter",
        "TensorArrayScatter",
        in_versions(
            _scattered,
            results(contents(ROWS, then=(PLACES,)), small_rows(5, PLACES), vjp=lambda g, x, i: (g[i], None)),
            refused("-fewer", _scattered_at, followed_by((ROWS,), {"fewer": [1, 0]}), (V1, V2)),
            refused("-fewer", _scattered_at, followed_by((ROWS,), {"fewer": [1, 0]}), (V3,), **WHEN_BUILT),
            refused("-out-of-range", _scattered_at, followed_by((ROWS,), {"at_end": [0, 1, 2, 3, 5]})),
        ),
        reference=lambda x, i: x[np.argsort(i)],
        any_dtype=True,
    ),
    *op(
        "tensor-array-split",
        "TensorArraySplit",
        in_versions(
            _split,
            results(
                contents((6, 3), then=(np.array([2, 2, 2], "int64"),)),
                dict(zip(_THIRDS, _lengths(*_THIRDS.values()), strict=True)),
                vjp=lambda gs, x, lengths: (gs[0], None),
            ),
            refused(
                "-invalid",
                lambda new, x, lengths: new.new(3).split(x, lengths).concat()[0],
                followed_by((ROWS,), {"fewer": [1, 1, 1], "more": [2, 2, 2], "negative": [3, -1, 3]}, "int64"),
            ),
        ),
        reference=lambda x, lengths: (x, lengths),
        any_dtype=True,
    ),
    *op(
        "tensor-array-unpack",
        "TensorArrayUnpack",
        in_versions(
            lambda new, x, i: new.new(new.tf.shape(x)[0]).unpack(x).gather(i),
            results(contents(ROWS, then=(PLACES,)), small_rows(5, PLACES)),
            versions=(V1,),
        ),
        reference=lambda x, i: x[i],
    ),
    *op(
        "tensor-array-v1-removed",
        **removed(V1, _every_op_of_v1, (*_SHARED, "Pack", "Unpack"), eager="RuntimeError", recipe=tensors(ROWS)),
    ),
    *op("tensor-array-v2-removed", **removed(V2, _every_op, _SHARED, eager="UNIMPLEMENTED", recipe=tensors(ROWS))),
    *op(
        "tensor-array-write",
        "TensorArrayWrite",
        in_versions(
            lambda new, x, y: new.new(2).write(1, x).write(0, y).gather([0, 1]),
            results(*TWO, vjp=lambda g, x, y: (g[1], g[0])),
            refused("-other-dtype", lambda new, x: new.new(2).write(1, new.tf.cast(x, new.tf.float64)).read(1), ONE),
            refused("-other-shape", _written_flat, ONE, (V2,)),
            refused("-other-shape", _written_flat, ONE, (V3,), **WHEN_BUILT),
            refused(
                "-out-of-range",
                lambda new, x, i: written(new, x).write(i, x).read(1),
                followed_by((ROWS,), OUTSIDE),
            ),
            refused("-twice", lambda new, x: written(new, x).write(1, x).read(1), ONE),
            _grows,
        ),
        reference=lambda x, y: np.stack([y, x]),
        any_dtype=True,
    ),
)
