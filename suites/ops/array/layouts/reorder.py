"""Identity to StridedSlice: ops that pass a tensor on, give it another shape, turn it round, or read a part of it."""

from dataclasses import replace

import numpy as np

from tf_opdiff.suites.forms.array_ops import strided
from tf_opdiff.suites.forms.array_ops.moves import Apart, of_ranks
from tf_opdiff.suites.forms.array_ops.quantized import IN_XLA
from tf_opdiff.suites.forms.calls import call
from tf_opdiff.suites.forms.elementwise.copies import COMMON, PASSED, Dtypes
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.tensor_attrs import Parameter
from tf_opdiff.suites.reference.arrays import slices
from tf_opdiff.suites.reference.arrays.moves import Forward

_SHAPES = {
    "matrix": call((3, 5)),
    "scalar": call(()),
    "empty_inside": call((3, 0, 2)),
    "single": call((1,)),
    "batch_of_one": call((1, 4)),
}


def _reshape(shape, new):
    return call(shape, shape=new)


def _reverse(shape, *axes):
    return call(shape, axis=list(axes))


def _roll(shape, shift, axis):
    return call(shape, shift=shift, axis=axis)


def _turned(x, lengths, seq_dim, batch_dim):
    """A copy whose first `lengths[b]` elements along `seq_dim` are in reverse, for each index b along `batch_dim`."""
    out = x.copy()
    ahead, turned = np.moveaxis(x, (batch_dim, seq_dim), (0, 1)), np.moveaxis(out, (batch_dim, seq_dim), (0, 1))
    for b, n in enumerate(lengths):
        turned[b, :n] = ahead[b, :n][::-1]
    return out


def _sequences(shape, lengths, seq_dim, batch_dim=0):
    return call(shape, lengths=lengths, seq_dim=seq_dim, batch_dim=batch_dim)


SPECS = (
    *op(
        "identity",
        "Identity",
        arguments=("input",),
        promise=Forward(lambda x: x),
        calls=_SHAPES,
        large=call((9, 17, 8)),
        small=of_ranks({}, {}, {}),
        dtypes=PASSED,
    ),
    *op(
        "reshape",
        "Reshape",
        arguments=("tensor",),
        promise=Forward(lambda x, shape: x.reshape(shape)),
        calls={
            "matrix": _reshape((3, 4), [2, 6]),
            "inferred": _reshape((2, 3, 5), [5, -1]),
            "flat": _reshape((3, 5), [-1]),
            "to_scalar": _reshape((1, 1), []),
            "from_scalar": _reshape((), [1, 1]),
            "empty": _reshape((0, 3), [3, 0, 2]),
            "batch_of_one": _reshape((1, 7), [7, 1]),
            "rank9": _reshape((2, 1, 3), [1, 2, 1, 1, 3, 1, 1, 1, 1]),
        },
        large=_reshape((9, 17, 8), [8, -1]),
        small=of_ranks(
            {"shape": [-1]},
            {"shape": [-1, 1]},
            {"shape": [1, -1]},
            shapes={"empty": ((0,), (0, 3), (0, 2, 1)), "ones": ((1,), (1, 1), (1, 1, 1))},
        ),
        tensors=(Parameter("shape"),),
        built={
            "too_many": _reshape((3, 5), [4, 4]),
            "not_whole": _reshape((3, 5), [4, -1]),
            "negative": _reshape((3, 5), [-3, -5]),
            "matrix": _reshape((3, 5), [[3, 5]]),
        },
        run={"two_inferred": _reshape((3, 5), [-1, -1])},
        dtypes=PASSED,
    ),
    *op(
        "reverse-sequence",
        "ReverseSequence",
        program=lambda tf, x, lengths, seq_dim, batch_dim: tf.raw_ops.ReverseSequence(
            input=x, seq_lengths=lengths, seq_dim=seq_dim, batch_dim=batch_dim
        ),
        promise=Forward(_turned),
        calls={
            "rows": _sequences((4, 5), [0, 1, 3, 5], 1),
            "columns": _sequences((5, 3), [2, 5, 4], 0, 1),
            "planes": _sequences((2, 3, 4), [4, 2], 2),
            "far": _sequences((2, 3, 2, 3), [1, 2, 2], 2, 1),
            "empty": _sequences((0, 3), [], 1),
            "single": _sequences((1, 1), [1], 1),
            "batch_of_one": _sequences((1, 7), [6], 1),
        },
        small_fed={
            "no_rows": _sequences((0, 3), [], 1),
            "no_columns": _sequences((3, 0), [0, 0, 0], 1),
            "empty_inside": _sequences((1, 0, 2), [0], 1),
            "one_by_one": _sequences((1, 1), [1], 1),
        },
        tensors=(Parameter("lengths"),),
        built={"too_few": _sequences((4, 5), [1, 2], 1), "no_axis": _sequences((4, 5), [1, 2, 3, 4], 2)},
        run={
            "negative": _sequences((2, 3), [-1, 2], 1),
            "same_axis": _sequences((4, 5), [1, 2, 3, 4], 0),
            "too_long": _sequences((2, 3), [4, 2], 1),
        },
        dtypes=COMMON,
    ),
    *op(
        "reverse-v2",
        "ReverseV2",
        arguments=("tensor",),
        promise=Forward(lambda x, axis: np.flip(x, tuple(axis))),
        calls={
            "vector": _reverse((7,), 0),
            "rows": _reverse((3, 5), 0),
            "last": _reverse((3, 5), -1),
            "all": _reverse((2, 3, 5), 2, 0, 1),
            "pixels": _reverse((2, 5, 3), 1),
            "nothing": _reverse((3, 5)),
            "empty": _reverse((0, 3), 0),
            "single": _reverse((1,), 0),
            "batch_of_one": _reverse((1, 4), 0, -1),
            "rank8": _reverse((1, 2, 1, 2, 1, 3, 1, 2), 1, -3),
        },
        large=_reverse((9, 17, 8), 1),
        small=of_ranks({"axis": [0]}, {"axis": [-1]}, {"axis": [1, 2]}),
        tensors=(Parameter("axis"),),
        built={
            "too_large": _reverse((3, 5), 2),
            "too_small": _reverse((3, 5), -3),
            "twice": _reverse((3, 5), 0, -2),
            "scalar": call((3, 5), axis=0),
        },
        dtypes=COMMON,
    ),
    *op(
        "roll",
        "Roll",
        arguments=("input",),
        promise=Forward(lambda x, shift, axis: np.roll(x, shift, axis)),
        calls={
            "vector": _roll((7,), 2, 0),
            "back": _roll((3, 5), -2, 1),
            "last": _roll((2, 3, 5), 4, -1),
            "around": _roll((3, 5), [7, -11], [0, 1]),
            "twice": _roll((3, 5), [1, 3], [1, 1]),
            "nothing": _roll((3, 5), [0], [0]),
            "empty": _roll((0, 3), 1, 0),
            "single": _roll((1,), 1, 0),
            "batch_of_one": _roll((1, 4), [1, 1], [0, 1]),
        },
        large=_roll((9, 17, 8), [5, 3], [1, 2]),
        small=of_ranks({"shift": 1, "axis": 0}, {"shift": [1], "axis": [-1]}, {"shift": -1, "axis": 2}),
        tensors=(Parameter("shift"), Parameter("axis", ("int64", "int32", "int32"))),
        built={
            "scalar": _roll((), 1, 0),
            "matrices": _roll((3, 5), [[1]], [[0]]),
            "too_few": _roll((3, 5), [1], [0, 1]),
        },
        run={"too_large": _roll((3, 5), 1, 2), "too_small": _roll((3, 5), 1, -3)},
        dtypes=replace(COMMON, quantized_of_xla=IN_XLA),
    ),
    *op(
        "snapshot",
        "Snapshot",
        arguments=("input",),
        promise=Forward(lambda x: x),
        calls=_SHAPES,
        small=of_ranks({}, {}, {}),
        gradient=False,
        dtypes=replace(COMMON, without_xla=()),
    ),
    *op(
        "strided-slice",
        "StridedSlice",
        arguments=("input",),
        promise=Forward(slices.strided),
        calls={label: call(shape, **where) for label, (shape, where) in strided.SLICES.items()},
        small=of_ranks(
            strided.bounds([0], [9], [1]),
            strided.bounds([0, -1], [1, 9], [1, 1]),
            strided.bounds([0, 0, 0], [1, 1, 1], [1, 1, 1], end_mask=7),
        ),
        apart={
            "int16-index": Apart(
                {"steps": call((5, 7), **strided.SLICES["steps"][1])},
                tuple(Parameter(name, ("int16",)) for name in ("begin", "end", "strides")),
            )
        },
        tensors=tuple(Parameter(name) for name in ("begin", "end", "strides")),
        built={label: call((3, 5), **where) for label, where in strided.REFUSED.items()},
        dtypes=Dtypes(of_xla=(), quantized_without_xla=()),
    ),
)
