"""Ops that join several tensors along an axis, and that split one tensor."""

from tf_opdiff.harness.spec.plan import WITHOUT_XLA
from tf_opdiff.suites.forms.array_ops.moves import Apart, of_ranks
from tf_opdiff.suites.forms.array_ops.quantized import IN_XLA
from tf_opdiff.suites.forms.calls import call, calls_of
from tf_opdiff.suites.forms.elementwise.copies import COMMON, Dtypes
from tf_opdiff.suites.forms.of_xla import NIBBLES
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.tensor_attrs import Parameter
from tf_opdiff.suites.reference.arrays import shapes as ref
from tf_opdiff.suites.reference.arrays.moves import Forward

#: The shapes that are joined along an axis: two, many, with and without elements, single elements, of rank 1 to 4.
_JOINED = {
    "rows": (((2, 3), (1, 3)), 0),
    "columns": (((3, 2), (3, 5), (3, 1)), 1),
    "last": (((2, 3, 1), (2, 3, 4)), -1),
    "first_of_three": (((2, 1, 3), (2, 1, 3)), -3),
    "empty_between": (((3,), (0,), (2,)), 0),
    "all_empty": (((0, 3), (0, 3)), 0),
    "empty_columns": (((2, 0), (2, 3)), 1),
    "single": (((1,), (1,)), 0),
    "many": (tuple((1, n, 2) for n in range(1, 10)), 1),
    "batch_of_one": (((1, 2, 2, 3), (1, 2, 2, 2)), 3),
}
_WRONG = {
    "axis_too_large": (((2, 3), (2, 3)), 2),
    "axis_too_small": (((2, 3), (2, 3)), -3),
    "other_sizes": (((2, 3), (2, 4)), 0),
    "other_ranks": (((2, 3), (2,)), 0),
    "scalars": (((), ()), 0),
    "axis_is_a_matrix": (((2, 3), (2, 3)), [[0]]),
}
_STACKED = {
    "first": (((2, 3),) * 2, 0),
    "middle": (((2, 3),) * 3, 1),
    "last": (((3, 2),) * 2, -1),
    "scalars": (((),) * 5, 0),
    "one_tensor": (((5,),), 1),
    "empty": (((0, 3),) * 2, 0),
    "single": (((1,),) * 2, -2),
    "many": (((2, 1, 3),) * 9, 2),
}
_AXIS = Parameter("axis", ("int32",))
_SPLIT = Dtypes(nibbles=NIBBLES, quantized=("uint8",), quantized_without_xla=(), quantized_of_xla=("int8", "int32"))


SPECS = (
    *op(
        "concat",
        "Concat",
        program=lambda tf, *xs, axis: tf.raw_ops.Concat(concat_dim=axis, values=xs),
        promise=Forward(ref.joined),
        calls=calls_of({label: _JOINED[label] for label in ("rows", "last", "empty_between", "many")}, "axis"),
        small=of_ranks({"axis": 0}, {"axis": 1}, {"axis": -1}, inputs=2),
        tensors=(_AXIS,),
        built=calls_of(_WRONG, "axis"),
    ),
    *op(
        "concat-v2",
        "ConcatV2",
        program=lambda tf, *xs, axis: tf.raw_ops.ConcatV2(values=xs, axis=axis),
        promise=Forward(ref.joined),
        calls=calls_of(_JOINED, "axis"),
        small=of_ranks({"axis": 0}, {"axis": 1}, {"axis": -1}, inputs=2),
        tensors=(_AXIS,),
        apart={
            "int64-axis": Apart(calls_of({"columns": _JOINED["columns"]}, "axis"), (Parameter("axis", ("int64",)),))
        },
        built=calls_of(_WRONG | {"beyond_int32": (((2, 3), (2, 3)), 2**32)}, "axis"),
    ),
    *op(
        "pack",
        "Pack",
        program=lambda tf, *xs, axis: tf.raw_ops.Pack(values=xs, axis=axis),
        promise=Forward(ref.stacked),
        calls=calls_of(_STACKED, "axis"),
        small=of_ranks({"axis": 0}, {"axis": 1}, {"axis": -1}, inputs=2),
        built=calls_of(
            {
                "axis_too_large": (((2, 3), (2, 3)), 3),
                "axis_too_small": (((2, 3), (2, 3)), -4),
                "other_sizes": (((2, 3), (2, 4)), 0),
                "other_ranks": (((2, 3), (2,)), 0),
            },
            "axis",
        ),
    ),
    *op(
        "parallel-concat",
        "ParallelConcat",
        program=lambda tf, *xs, shape: tf.raw_ops.ParallelConcat(values=xs, shape=shape),
        promise=Forward(lambda *xs, shape: ref.joined(*xs, axis=0)),
        calls={
            "rows": call((1, 3), (1, 3), shape=[2, 3]),
            "single": call((1,), (1,), shape=[2]),
            "many": call(*((1, 2, 3),) * 9, shape=[9, 2, 3]),
            "empty": call((1, 0), (1, 0), shape=[2, 0]),
        },
        gradient=False,
        dtypes=COMMON,
        modes=WITHOUT_XLA,
    ),
    *op(
        "split",
        "Split",
        arguments=("value",),
        promise=Forward(ref.split),
        calls={
            "rows": call((4, 3), axis=0, num_split=2),
            "columns": call((3, 6), axis=-1, num_split=3),
            "middle": call((2, 5, 3), axis=1, num_split=5),
            "one_part": call((3, 5), axis=0, num_split=1),
            "empty": call((0, 3), axis=0, num_split=2),
            "empty_inside": call((4, 0), axis=0, num_split=2),
            "single": call((1,), axis=0, num_split=1),
            "batch_of_one": call((1, 4, 3), axis=1, num_split=2),
        },
        large=call((9, 17, 8), axis=-1, num_split=2),
        small=of_ranks({"axis": 0, "num_split": 1}, {"axis": 1, "num_split": 1}, {"axis": -1, "num_split": 1}),
        tensors=(_AXIS,),
        built={
            "not_divisible": call((4, 5), axis=1, num_split=2),
            "axis_too_large": call((4, 6), axis=2, num_split=2),
            "axis_too_small": call((4, 6), axis=-3, num_split=2),
            "no_part": call((4, 6), axis=0, num_split=0),
            "negative_parts": call((4, 6), axis=0, num_split=-1),
            "scalar": call((), axis=0, num_split=1),
            "axis_is_a_matrix": call((4, 6), axis=[[0]], num_split=2),
        },
        dtypes=_SPLIT,
    ),
    *op(
        "split-v",
        "SplitV",
        arguments=("value",),
        promise=Forward(ref.split_by),
        calls={
            "rows": call((4, 3), size_splits=[1, 3], axis=0, num_split=2),
            "columns": call((3, 7), size_splits=[2, 0, 5], axis=-1, num_split=3),
            "the_rest": call((2, 5, 3), size_splits=[1, -1, 2], axis=1, num_split=3),
            "empty_rest": call((5,), size_splits=[5, -1], axis=0, num_split=2),
            "one_part": call((3, 5), size_splits=[3], axis=0, num_split=1),
            "empty": call((0, 3), size_splits=[0, 0], axis=0, num_split=2),
            "single": call((1,), size_splits=[1], axis=0, num_split=1),
            "many": call((1, 15, 3), size_splits=[1, 2, 3, 4, 5], axis=1, num_split=5),
        },
        large=call((9, 17, 8), size_splits=[5, 3], axis=-1, num_split=2),
        small=of_ranks(
            {"size_splits": [-1, 0], "axis": 0, "num_split": 2},
            {"size_splits": [0, 0, -1], "axis": 1, "num_split": 3},
            {"size_splits": [0, -1], "axis": -1, "num_split": 2},
        ),
        apart={
            "int8-sizes": Apart(
                {"columns": call((3, 7), size_splits=[2, 5], axis=1, num_split=2)},
                (Parameter("size_splits", ("int8",)), _AXIS),
            ),
            "one-rest": Apart(
                {"all": call((3, 5), size_splits=[-1], axis=0, num_split=1)}, (Parameter("size_splits"), _AXIS)
            ),
        },
        tensors=(Parameter("size_splits"), _AXIS),
        built={
            "too_few": call((4, 3), size_splits=[1, 2], axis=0, num_split=2),
            "too_many": call((4, 3), size_splits=[3, 3], axis=0, num_split=2),
            "negative": call((4, 3), size_splits=[-2, 6], axis=0, num_split=2),
            "two_rests": call((4, 3), size_splits=[-1, -1], axis=0, num_split=2),
            "rest_below_zero": call((4, 3), size_splits=[5, -1], axis=0, num_split=2),
            "other_number": call((4, 3), size_splits=[1, 1, 2], axis=0, num_split=2),
            "axis_too_large": call((4, 3), size_splits=[1, 3], axis=2, num_split=2),
            "axis_too_small": call((4, 3), size_splits=[1, 3], axis=-3, num_split=2),
            "beyond_int32": call((4, 3), size_splits=[2**32 + 1, 3], axis=0, num_split=2),
            "matrix": call((4, 3), size_splits=[[1, 3]], axis=0, num_split=2),
            "scalar": call((), size_splits=[1], axis=0, num_split=1),
        },
        dtypes=_SPLIT,
    ),
    *op(
        "unpack",
        "Unpack",
        arguments=("value",),
        promise=Forward(ref.unstacked),
        calls={
            "rows": call((3, 5), num=3, axis=0),
            "columns": call((3, 5), num=5, axis=-1),
            "middle": call((2, 3, 4), num=3, axis=1),
            "vector": call((7,), num=7, axis=0),
            "empty": call((2, 0), num=2, axis=0),
            "single": call((1,), num=1, axis=0),
            "batch_of_one": call((1, 3, 2), num=1, axis=-3),
        },
        small=of_ranks(
            {"num": 1, "axis": 0},
            {"num": 1, "axis": 0},
            {"num": 1, "axis": 1},
            shapes={"empty": ((1,), (1, 0), (0, 1, 2)), "ones": ((1,), (1, 1), (1, 1, 1))},
        ),
        built={
            "other_number": call((3, 5), num=4, axis=0),
            "axis_too_large": call((3, 5), num=3, axis=2),
            "axis_too_small": call((3, 5), num=3, axis=-3),
            "scalar": call((), num=1, axis=0),
            "negative": call((3, 5), num=-1, axis=0),
        },
        dtypes=Dtypes(quantized=(), quantized_without_xla=(), quantized_of_xla=IN_XLA),
    ),
)
