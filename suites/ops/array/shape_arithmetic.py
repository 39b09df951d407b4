"""Ops on shapes and permutations: BroadcastArgs to EnsureShape, InvertPermutation, and LinSpace.

XLA has to know the shapes when it compiles, so that its programs have them as constants.
"""

from typing import Any

import numpy as np

from tf_opdiff.harness.spec.plan import MODES, WITHOUT_XLA
from tf_opdiff.suites.forms.array_ops.moves import of_ranks
from tf_opdiff.suites.forms.aspects import small
from tf_opdiff.suites.forms.calls import call, calls_of
from tf_opdiff.suites.forms.elementwise.copies import PASSED
from tf_opdiff.suites.forms.errors import IN_KERNEL, REFUSED_VALUES, WHEN_BUILT
from tf_opdiff.suites.forms.of_xla import nibble_of_xla
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.part import part
from tf_opdiff.suites.reference.arrays.moves import Forward

#: Pairs of shapes that are broadcast together.
_PAIRS = {
    "alike": ([3, 5], [3, 5]),
    "row": ([3, 5], [5]),
    "column": ([3, 1], [2, 3, 7]),
    "both": ([1, 5, 1], [4, 1, 3]),
    "scalar": ([], [2, 3]),
    "empty": ([0, 1], [1, 7]),
}
_SMALL_PAIRS = {"scalars": ([], []), "one": ([1], [4]), "no_elements": ([0], [1])}
_UNFIT = {"sizes": ([3, 5], [3, 4])}
#: The number of the axis, and the shapes of tensors that are put one behind another along it.
_JOINED = {
    "rows": (0, [2, 5], [3, 5], [1, 5]),
    "columns": (1, [2, 0], [2, 5], [2, 3]),
    "last": (-1, [4, 2, 5], [4, 2, 1], [4, 2, 9]),
}
_PERMUTATIONS = {
    "plain": [3, 0, 4, 1, 2, 6, 5],
    "same": [0, 1, 2, 3],
    "blocks": [(i * 389) % 1024 for i in range(1024)],
}
_LINES = {
    "up": (-1.5, 4.0, 13),
    "down": (7.0, -3.0, 5),
    "level": (2.5, 2.5, 4),
    "one": (3.0, 9.0, 1),
    "far": (1e4, 1e4 + 1, 7),
}


def _constants(table):
    """Recipes: each row of a table, as tensors of the dtype."""
    return {label: lambda draw, d, row=row: tuple(np.array(x, d) for x in row) for label, row in table.items()}


def _of_attrs(raw):
    """Program of two shapes that are attributes, next to a tensor that it does not read."""
    return lambda tf, x, s0, s1: raw(tf, tf.constant(s0, x.dtype), tf.constant(s1, x.dtype))


def _shapes(raw, reference, more=None):
    """The parts of an op of two shapes: inputs, and constants for XLA."""
    program = lambda tf, s0, s1: getattr(tf.raw_ops, raw)(s0=s0, s1=s1)  # noqa: E731
    one = {"vector": lambda draw, d: (np.ones(1, d),)}
    outputs = len(reference([1], [1])) if isinstance(reference([1], [1]), tuple) else 1
    return {
        "parts": (
            part(recipes=_constants(_PAIRS)),
            part(
                "-constant",
                program=_of_attrs(program),
                reference=lambda x, s0, s1: _cast(reference(s0, s1), x.dtype),
                recipes=one,
                attrs={label: {"s0": a, "s1": b} for label, (a, b) in _PAIRS.items()},
                modes=("xla",),
                constant=tuple(f"output[{i}]" for i in range(outputs)),
            ),
            small(_constants(_SMALL_PAIRS)),
            part("-unfit", recipes=_constants(_UNFIT), modes=MODES, **IN_KERNEL),
        ),
        "program": program,
        "reference": lambda s0, s1: _cast(reference(s0.tolist(), s1.tolist()), s0.dtype),
        "dtypes": ("int32", "int64"),
        "modes": WITHOUT_XLA,
    }


def _cast(result: Any, dtype: Any) -> Any:
    return tuple(np.array(x, dtype) for x in result) if isinstance(result, tuple) else np.array(result, dtype)


def _summed(s0, s1):
    """The axes along which a gradient of each operand is summed up: those that are broadcast, or have one element."""
    rank = max(len(s0), len(s1))
    padded = [[1] * (rank - len(s)) + list(s) for s in (s0, s1)]
    return tuple(
        [i for i in range(rank) if s[i] == 1 or rank - i > len(own)] for s, own in zip(padded, (s0, s1), strict=True)
    )


def _offsets(*inputs):
    axis, *shapes = inputs
    at, out = 0, []
    for shape in shapes:
        out.append(np.where(np.arange(len(shape)) == axis % len(shape), at, 0).astype(shapes[0].dtype))
        at += shape[axis]
    return tuple(out)


def _joined(tf, axis, *shapes):
    return tuple(tf.raw_ops.ConcatOffset(concat_dim=axis, shape=list(shapes)))


def _joined_recipes(table):
    return {
        label: lambda draw, d, row=row: (np.array(row[0], np.int32), *(np.array(s, d) for s in row[1:]))
        for label, row in table.items()
    }


def _line(start, stop, num):
    """The numbers; the first one is the start, and the last one is exactly the stop, as documented."""
    n = int(num)
    line = start + (stop - start) / max(n - 1, 1) * np.arange(n)
    line[n - 1 :], line[:1] = stop, start
    return line


def _near(u, g, start, stop, num):
    """Three roundings of the number that is added to the start, and one of the sum; the last number is the stop."""
    line = _line(start, stop, num)
    return u * np.where(np.arange(line.size) < line.size - 1, 4 * np.abs(line - start) + 2 * np.abs(line), 0)


def _ends(table):
    """Recipes: both ends, and how many numbers."""
    return {
        label: lambda draw, d, row=row: (
            np.array(row[0], d),
            np.array(row[1], d),
            np.array(row[2], row[3] if row[3:] else np.int32),
        )
        for label, row in table.items()
    }


SPECS = (
    *op("broadcast-args", "BroadcastArgs", **_shapes("BroadcastArgs", lambda a, b: list(np.broadcast_shapes(a, b)))),
    *op("broadcast-gradient-args", "BroadcastGradientArgs", **_shapes("BroadcastGradientArgs", _summed)),
    *op(
        "concat-offset",
        "ConcatOffset",
        part(recipes=_joined_recipes(_JOINED)),
        part(
            "-constant",
            program=lambda tf, x, axis, shapes: _joined(
                tf, tf.constant(axis), *(tf.constant(s, x.dtype) for s in shapes)
            ),
            reference=lambda x, axis, shapes: _offsets(axis, *(np.array(s, x.dtype) for s in shapes)),
            recipes={"vector": lambda draw, d: (np.ones(1, d),)},
            attrs={label: {"axis": axis, "shapes": shapes} for label, (axis, *shapes) in _JOINED.items()},
            constant=("output[0]", "output[1]", "output[2]"),
            modes=("xla",),
        ),
        small(_joined_recipes({"ones": (0, [1], [1]), "none": (0, [0], [0])})),
        part(
            "-unfit",
            recipes=_joined_recipes({"axis": (2, [2, 5], [3, 5]), "sizes": (0, [2, 5], [3, 4])}),
            modes=MODES,
            **IN_KERNEL,
        ),
        program=_joined,
        reference=_offsets,
        dtypes=("int32", "int64"),
        constant=("output[0]",),
        modes=WITHOUT_XLA,
    ),
    *op(
        "ensure-shape",
        "EnsureShape",
        nibble_of_xla(lambda tf, x: tf.raw_ops.EnsureShape(input=x, shape=[])),
        arguments=("input",),
        promise=Forward(lambda x, shape: x),
        calls=calls_of({"matrix": ((3, 5), [3, 5]), "rows": ((3, 5), [None, 5]), "scalar": ((), [])}, "shape"),
        large=call((9, 17, 8), shape=[None, 17, 8]),
        small=of_ranks({"shape": [None]}, {"shape": [None, None]}, {"shape": [None, None, None]}),
        built=calls_of({"size": ((3, 5), [3, 4]), "rank": ((3, 5), [15])}, "shape"),
        dtypes=PASSED,
    ),
    *op(
        "invert-permutation",
        "InvertPermutation",
        part(recipes=_constants({label: (row,) for label, row in _PERMUTATIONS.items()})),
        small(_constants({"none": ([],), "one": ([0],)})),
        part(
            "-repeated",
            recipes=_constants({"twice": ([0, 1, 1],), "beyond": ([0, 3, 1],), "negative": ([-1, 0, 1],)}),
            **REFUSED_VALUES,
        ),
        part("-matrix", recipes=_constants({"rank": ([[0, 1]],)}), **WHEN_BUILT),
        arguments=("x",),
        reference=lambda x: np.argsort(x).astype(x.dtype),
        dtypes=("int32", "int64"),
    ),
    *op(
        "lin-space",
        "LinSpace",
        part(recipes=_ends({**_LINES, "int64": (0.0, 1.0, 5, np.int64)})),
        part(
            "-constant",
            program=lambda tf, x, start, stop, num: tf.raw_ops.LinSpace(
                start=tf.constant(start, x.dtype), stop=tf.constant(stop, x.dtype), num=num
            ),
            reference=lambda x, start, stop, num: _line(start, stop, num),
            recipes={"vector": lambda draw, d: (np.ones(1, d),)},
            attrs={label: dict(zip(("start", "stop", "num"), row, strict=True)) for label, row in _LINES.items()},
            bound={"output": lambda u, g, x, start, stop, num: _near(u, g, start, stop, num)},
            constant=("output[0]",),
            modes=("xla",),
        ),
        small(_ends({"one": (3.0, 9.0, 1), "none_between": (2.0, 2.0, 1)})),
        part(
            "-refused",
            recipes=_ends({"no_number": (1.0, 2.0, 0), "negative": (1.0, 2.0, -3)}),
            modes=MODES,
            **IN_KERNEL,
        ),
        arguments=("start", "stop", "num"),
        reference=_line,
        bound={"output": _near},
        dtypes=("float32", "float64"),
        modes=WITHOUT_XLA,
    ),
)
