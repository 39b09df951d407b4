"""TensorArray to TensorArrayWriteV3: arrays of tensors, in three versions."""

from typing import Any

import numpy as np

from tf_opdiff.suites.forms.arrays import V1, V2, V3, Arrays, removed, steps
from tf_opdiff.suites.forms.lists import SMALL, contents, no_kernel, small, tensors

_ROWS = (5, 3)
_FIVE = np.arange(5, dtype="int32")
_PLACES = np.array([4, 0, 2, 3, 1], "int32")
_EQUAL = np.array([2, 2, 2], "int64")


def _kept(arrays: Arrays, x: Any, y: Any) -> Any:
    array = arrays.write(arrays.write(arrays.new(2, clear_after_read=False), 0, x), 1, y)
    return arrays.read(array, 1), arrays.read(array, 0), arrays.gather(array, [0, 1, 0])


def _written(arrays: Arrays, x: Any, y: Any) -> Any:
    return arrays.gather(arrays.write(arrays.write(arrays.new(2), 1, x), 0, y), [0, 1])


def _read(arrays: Arrays, x: Any, y: Any) -> Any:
    array = arrays.write(arrays.write(arrays.new(3), 2, x), 0, y)
    return arrays.read(array, 0), arrays.read(array, 2)


def _gathered(arrays: Arrays, x: Any, i: Any) -> Any:
    count = arrays.tf.shape(x)[0]
    return arrays.gather(arrays.scatter(arrays.new(count), arrays.tf.range(count), x), i)


def _scattered(arrays: Arrays, x: Any, i: Any) -> Any:
    count = arrays.tf.shape(x)[0]
    return arrays.gather(arrays.scatter(arrays.new(count), i, x), arrays.tf.range(count))


def _concatenated(arrays: Arrays, x: Any, y: Any) -> Any:
    return arrays.concat(arrays.write(arrays.write(arrays.new(2), 1, x), 0, y))


def _split(arrays: Arrays, x: Any, lengths: Any) -> Any:
    return tuple(arrays.concat(arrays.split(arrays.new(arrays.tf.size(lengths)), x, lengths)))


def _sized(arrays: Arrays, x: Any, n: Any) -> Any:
    return arrays.size(arrays.write(arrays.new(n), 1, x))


def _closed(arrays: Arrays, x: Any) -> Any:
    array = arrays.write(arrays.new(2), 1, x)
    y = arrays.read(array, 1)
    twice = arrays.closed(arrays.closed(array, y), y)
    with arrays.tf.control_dependencies([twice[1]]):
        return arrays.tf.identity(y)


def _added(arrays: Arrays, x: Any, y: Any) -> Any:
    gradient = arrays.gradient(arrays.write(arrays.write(arrays.new(3), 0, x), 1, y))
    gradient = arrays.write(arrays.write(arrays.write(gradient, 1, x), 1, y), 0, y)
    return arrays.read(gradient, 1), arrays.read(gradient, 0)


def _gradient_with_shape(arrays: Arrays, x: Any, y: Any) -> Any:
    array, tf = arrays.write(arrays.write(arrays.new(2), 0, x), 1, x), arrays.tf
    gradient = tuple(
        tf.raw_ops.TensorArrayGradWithShape(
            handle=array[0], flow_in=array[1], shape_to_prepend=tf.constant([2]), source="gradients"
        )
    )
    gradient = arrays.write(gradient, 1, y)
    return arrays.read(gradient, 1), arrays.read(gradient, 0)


def _unpacked(arrays: Arrays, x: Any, i: Any) -> Any:
    handle, flow = arrays.new(arrays.tf.shape(x)[0])
    flow = arrays.tf.raw_ops.TensorArrayUnpack(handle=handle, value=x, flow_in=flow)
    return arrays.gather((handle, flow), i)


def _packed(arrays: Arrays, x: Any, y: Any) -> Any:
    handle, flow = arrays.write(arrays.write(arrays.new(2), 1, x), 0, y)
    return arrays.tf.raw_ops.TensorArrayPack(handle=handle, flow_in=flow, dtype=arrays.dtype)


def _every_op(arrays: Arrays, x: Any) -> Any:
    """A program with all ops that the three versions share."""
    array = arrays.scatter(arrays.split(arrays.new(10), x, [1] * 5), _FIVE + 5, x)
    gradient = arrays.write(arrays.gradient(array), 0, x[0])
    results = (arrays.gather(array, _FIVE), arrays.concat(array)[0], arrays.read(gradient, 0), arrays.size(array))
    with arrays.tf.control_dependencies([arrays.closed(array, *results)[1]]):
        return tuple(arrays.tf.identity(y) for y in results)


def _every_op_of_v1(arrays: Arrays, x: Any) -> Any:
    """The same, with the ops of version 1 alone."""
    handle, flow = arrays.new(5)
    flow = arrays.tf.raw_ops.TensorArrayUnpack(handle=handle, value=x, flow_in=flow)
    packed = arrays.tf.raw_ops.TensorArrayPack(handle=handle, flow_in=flow, dtype=arrays.dtype)
    return (*_every_op(arrays, x), packed)


_SHARED = ("", "Close", "Concat", "Gather", "Grad", "Read", "Scatter", "Size", "Split", "Write")


def _rows(places: np.ndarray) -> dict[str, Any]:
    """Recipes of five rows of small shapes, or of one, then of places for them."""
    shapes = {"one": (5,), "no_columns": (5, 0), "no_planes": (5, 0, 2), "one_row": (5, 1, 1), "one_by_one": (1, 1)}
    first = np.array([0], "int32")
    return {name: tensors(s, then=(places if s[0] == 5 else first,)) for name, s in shapes.items()}


def _back(g: np.ndarray, i: np.ndarray) -> np.ndarray:
    """The rows at the indices from which they came."""
    out = np.empty_like(g)
    out[i] = g
    return out


_PREPENDED = {name: tensors(shape, (2, *shape)) for name, shape in SMALL.items()}
_TWO: dict[str, Any] = {"recipes": contents(_ROWS, _ROWS), "tiny": small(2)}

SPECS = (
    *steps("", _kept, reference=lambda x, y: (y, x, np.stack([x, y, x])), **_TWO),
    *steps(
        "Close",
        _closed,
        reference=lambda x: x,
        recipes=contents(_ROWS),
        tiny=small(1),
    ),
    *steps(
        "Concat",
        lambda arrays, x, y: _concatenated(arrays, x, y)[0],
        reference=lambda x, y: np.concatenate([y, x]),
        vjp=lambda g, x, y: (g[len(y) :], g[: len(y)]),
        **_TWO,
    ),
    *steps(
        "Gather",
        _gathered,
        reference=lambda x, i: x[i],
        vjp=lambda g, x, i: (_back(g, i), None),
        recipes=contents(_ROWS, then=(_PLACES,)),
        tiny=_rows(_PLACES),
    ),
    *steps(
        "Grad",
        _added,
        reference=lambda x, y: (x + y, y),
        recipes={"plain": tensors(_ROWS, _ROWS)},
        tiny=small(2),
        ulp={"output[0]": 0.5},
    ),
    *steps(
        "GradWithShape",
        _gradient_with_shape,
        ops="TensorArrayGradWithShape",
        versions=(V3,),
        reference=lambda x, y: (y, np.zeros_like(y)),
        recipes={"plain": tensors(_ROWS, (2, *_ROWS))},
        tiny=_PREPENDED,
        contract=no_kernel("TensorArrayGradWithShape"),
    ),
    *steps("Pack", _packed, reference=lambda x, y: np.stack([y, x]), versions=(V1,), **_TWO),
    *steps("Read", _read, reference=lambda x, y: (y, x), vjp=lambda gs, x, y: (gs[1], gs[0]), **_TWO),
    *steps(
        "Scatter",
        _scattered,
        reference=lambda x, i: _back(x, i),
        vjp=lambda g, x, i: (g[i], None),
        recipes=contents(_ROWS, then=(_PLACES,)),
        tiny=_rows(_PLACES),
    ),
    *steps(
        "Size",
        _sized,
        reference=lambda x, n: np.array(n, "int32"),
        recipes={name: tensors(_ROWS, then=(np.array(n, "int32"),)) for name, n in {"plain": 4, "two": 2}.items()},
        tiny={
            name: tensors(s, then=(np.array(2, "int32"),))
            for name, s in {"none": (0,), "one_by_one": (1, 1), "no_rows": (0, 3)}.items()
        },
    ),
    *steps(
        "Split",
        _split,
        reference=lambda x, lengths: (x, lengths),
        vjp=lambda gs, x, lengths: (gs[0], None),
        recipes=contents((6, 3), then=(_EQUAL,)),
        tiny={
            name: tensors(shape, then=(np.full(3, shape[0] // 3, "int64"),))
            for name, shape in {"one": (3,), "none": (0, 3), "empty_planes": (0, 2, 1), "one_row": (3, 1)}.items()
        }
        | {"one_by_one": tensors((1, 1), then=(np.array([1], "int64"),))},
    ),
    *steps(
        "Unpack",
        _unpacked,
        reference=lambda x, i: x[i],
        versions=(V1,),
        recipes=contents(_ROWS, then=(_PLACES,)),
        tiny=_rows(_PLACES),
    ),
    *steps("Write", _written, reference=lambda x, y: np.stack([y, x]), vjp=lambda g, x, y: (g[1], g[0]), **_TWO),
    *removed(V1, _every_op_of_v1, (*_SHARED, "Pack", "Unpack"), eager="RuntimeError", recipe=tensors(_ROWS)),
    *removed(V2, _every_op, _SHARED, eager="UNIMPLEMENTED", recipe=tensors(_ROWS)),
)
