"""Arguments that ops on arrays of tensors refuse, elements that were not written or are gone, and arrays that grow."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from tf_opdiff.harness.spec.contract import Side
from tf_opdiff.harness.spec.spec import Raises, Recipe, Spec
from tf_opdiff.suites.forms.arrays import V1, V2, V3, Arrays, Steps, Version, program_of
from tf_opdiff.suites.forms.control_flow import XLA
from tf_opdiff.suites.forms.errors import IN_KERNEL, WHEN_BUILT
from tf_opdiff.suites.forms.lists import clamped, followed_by, tensors

_ROWS = (5, 3)
_ALL = (V1, V2, V3)


def _refused(
    name: str,
    op: str,
    program: Steps,
    recipes: Mapping[str, Recipe],
    versions: Sequence[Version] = _ALL,
    contract: Mapping[str, Side] | None = None,
) -> Iterator[Spec]:
    """The specs of a program that an op refuses with INVALID_ARGUMENT, in some versions."""
    for version in versions:
        yield Spec(
            name=f"{version.name}-{name}",
            ops=version.op(op),
            program=program_of(version, program),
            recipes=recipes,
            modes=version.modes,
            contract={} if contract is None or len(version.modes) == 1 else contract,
            **IN_KERNEL,
        )


def _mismatched(name: str, op: str, program: Steps, recipes: Mapping[str, Recipe]) -> Spec:
    """The spec of arguments that do not fit an array of version 3: a graph refuses them when it is built."""
    return Spec(name=f"{V3.name}-{name}", ops=V3.op(op), program=program_of(V3, program), recipes=recipes, **WHEN_BUILT)


def _written_twice(arrays: Arrays, x: Any) -> Any:
    return arrays.read(arrays.write(arrays.write(arrays.new(2), 1, x), 1, x), 1)


def _read_twice(arrays: Arrays, x: Any) -> Any:
    array = arrays.write(arrays.new(2), 1, x)
    first = arrays.read(array, 1)
    with arrays.tf.control_dependencies([first]):  # otherwise TensorFlow makes one read of two
        return first, arrays.read(array, 1)


def _read_unwritten(arrays: Arrays, x: Any) -> Any:
    return arrays.read(arrays.write(arrays.new(2), 1, x), 0)


def _read_closed(arrays: Arrays, x: Any) -> Any:
    array = arrays.write(arrays.new(2), 1, x)
    return arrays.read(arrays.closed(array), 1)


def _written_at(arrays: Arrays, x: Any, i: Any) -> Any:
    array = arrays.write(arrays.new(2), 1, x)
    return arrays.read(arrays.write(array, i, x), 1)


def _read_at(arrays: Arrays, x: Any, i: Any) -> Any:
    return arrays.read(arrays.write(arrays.new(2), 1, x), i)


def _of_size(arrays: Arrays, x: Any, n: Any) -> Any:
    return arrays.size(arrays.new(n))


def _written_doubles(arrays: Arrays, x: Any) -> Any:
    return arrays.read(arrays.write(arrays.new(2), 1, arrays.tf.cast(x, arrays.tf.float64)), 1)


def _written_flat(arrays: Arrays, x: Any) -> Any:
    array = arrays.write(arrays.new(2, element_shape=_ROWS), 0, x)
    return arrays.read(arrays.write(array, 1, arrays.tf.reshape(x, [-1])), 0)


def _gathered_at(arrays: Arrays, x: Any, i: Any) -> Any:
    return arrays.gather(arrays.scatter(arrays.new(5), list(range(5)), x), i)


def _scattered_at(arrays: Arrays, x: Any, i: Any) -> Any:
    return arrays.size(arrays.scatter(arrays.new(5), i, x))


def _split(arrays: Arrays, x: Any, lengths: Any) -> Any:
    return arrays.concat(arrays.split(arrays.new(3), x, lengths))[0]


def _concatenated(arrays: Arrays, x: Any, y: Any) -> Any:
    return arrays.concat(arrays.write(arrays.write(arrays.new(2), 0, x), 1, y))[0]


def _grown(arrays: Arrays, x: Any) -> Any:
    array = arrays.write(arrays.new(1, dynamic_size=True), 3, x)
    return arrays.size(array), arrays.read(array, 3)


_ONE = {"plain": tensors(_ROWS)}
_FIXED = Side(
    reference=lambda *inputs: Raises("UNIMPLEMENTED", "dynamic size"),
    why="XLA compiles for static shapes, so an array has one size",
    link=XLA,
)

SPECS = (
    *_refused("concat-mismatched", "Concat", _concatenated, {"columns": tensors(_ROWS, (5, 2))}),
    *_refused(
        "gather-out-of-range",
        "Gather",
        _gathered_at,
        followed_by((_ROWS,), {"at_end": [0, 5], "negative": [-1, 0]}),
        contract=clamped(lambda x, i: x[np.clip(i, 0, 4)]),
    ),
    *_refused("negative-size", "", _of_size, followed_by((_ROWS,), {"negative": -1})),
    *_refused("read-closed", "Read", _read_closed, _ONE),
    *_refused(
        "read-out-of-range",
        "Read",
        _read_at,
        followed_by((_ROWS,), {"at_end": 2, "beyond": 2**31 - 1, "negative": -1}),
        contract=clamped(lambda x, i: x if i > 0 else np.zeros_like(x)),
    ),
    *_refused("read-twice", "Read", _read_twice, _ONE),
    *_refused("read-unwritten", "Read", _read_unwritten, _ONE),
    *_refused("scatter-fewer", "Scatter", _scattered_at, followed_by((_ROWS,), {"fewer": [1, 0]}), (V1, V2)),
    _mismatched("scatter-fewer", "Scatter", _scattered_at, followed_by((_ROWS,), {"fewer": [1, 0]})),
    *_refused("scatter-out-of-range", "Scatter", _scattered_at, followed_by((_ROWS,), {"at_end": [0, 1, 2, 3, 5]})),
    *_refused(
        "split-invalid",
        "Split",
        _split,
        followed_by((_ROWS,), {"fewer": [1, 1, 1], "more": [2, 2, 2], "negative": [3, -1, 3]}, "int64"),
    ),
    *_refused("write-other-dtype", "Write", _written_doubles, _ONE),
    *_refused("write-other-shape", "Write", _written_flat, _ONE, (V2,)),
    _mismatched("write-other-shape", "Write", _written_flat, _ONE),
    *_refused(
        "write-out-of-range",
        "Write",
        _written_at,
        followed_by((_ROWS,), {"at_end": 2, "beyond": 2**31 - 1, "negative": -1}),
    ),
    *_refused("write-twice", "Write", _written_twice, _ONE),
    *(
        Spec(
            name=f"{version.name}-write-grows",
            ops=version.op("Write"),
            program=program_of(version, _grown),
            reference=lambda x: (np.array(4, "int32"), x),
            recipes=_ONE,
            modes=version.modes,
            contract={"*/xla": _FIXED} if version is V3 else {},
            constant=("output[0]",),
        )
        for version in _ALL
    ),
)
