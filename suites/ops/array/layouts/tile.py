"""Ops that repeat the elements of a tensor."""

from tf_opdiff.suites.forms.array_ops.moves import Apart, of_ranks
from tf_opdiff.suites.forms.array_ops.quantized import IN_XLA
from tf_opdiff.suites.forms.calls import call, calls_of
from tf_opdiff.suites.forms.elementwise.copies import PASSED, Dtypes
from tf_opdiff.suites.forms.of_xla import NIBBLES, SMALL_FLOATS, nibble_of_xla
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.tensor_attrs import Parameter
from tf_opdiff.suites.reference.arrays import shapes as ref
from tf_opdiff.suites.reference.arrays.moves import Forward

_BROADCAST = {
    "row": ((5,), [3, 5]),
    "column": ((3, 1), [3, 7]),
    "scalar": ((), [2, 3]),
    "same": ((3, 5), [3, 5]),
    "single": ((1,), [1]),
    "single_to_many": ((1, 1), [5, 3]),
    "outer": ((3, 1, 2), [2, 3, 2, 2]),
    "empty": ((0, 1), [2, 0, 3]),
    "to_empty": ((1, 3), [0, 3]),
    "scalar_to_scalar": ((), []),
    "rank7": ((1, 2, 1, 1, 2, 1, 1), [2, 2, 1, 2, 2, 1, 3]),
}
_TILED = {
    "matrix": ((3, 5), [2, 3]),
    "vector": ((7,), [2]),
    "once": ((3, 2), [1, 1]),
    "rows": ((3, 5), [4, 1]),
    "columns": ((3, 5), [1, 3]),
    "single": ((1,), [5]),
    "batch_of_one": ((1, 2, 3), [3, 1, 2]),
    "rank5": ((2, 1, 2, 1, 3), [1, 3, 1, 2, 1]),
    "scalar": ((), []),
    "empty": ((0, 3), [2, 2]),
    "no_copy": ((3, 5), [0, 2]),
}


SPECS = (
    *op(
        "broadcast-to",
        "BroadcastTo",
        arguments=("input",),
        promise=Forward(ref.broadcast),
        calls=calls_of(_BROADCAST, "shape"),
        small=of_ranks(
            {"shape": [0]},
            {"shape": [2, 0, 3]},
            {"shape": [2, 0, 2, 1]},
            shapes={"empty": ((0,), (0, 3), (0, 2, 1)), "ones": ((1,), (1, 1), (1, 1, 1))},
        ),
        tensors=(Parameter("shape"),),
        adds=True,
        built=calls_of(
            {
                "other_size": ((3, 5), [3, 4]),
                "lower_rank": ((3, 5), [5]),
                "negative": ((3, 1), [3, -2]),
                "beyond_int32": ((3, 0), [2**32 + 3, 0]),
                "matrix": ((3, 1), [[3, 2]]),
            },
            "shape",
        ),
        dtypes=Dtypes(quantized=(), quantized_without_xla=(), quantized_of_xla=IN_XLA),
    ),
    *op(
        "fill",
        "Fill",
        nibble_of_xla(lambda tf, x: tf.raw_ops.Fill(dims=[3, 5], value=x), (3, 5)),
        arguments=("value",),
        promise=Forward(lambda x, dims: ref.broadcast(x, dims)),
        calls={
            "matrix": call((), dims=[3, 5]),
            "scalar": call((), dims=[]),
            "empty": call((), dims=[0, 3]),
            "single": call((), dims=[1]),
            "cube": call((), dims=[1, 2, 3]),
        },
        large=call((), dims=[9, 17, 8]),
        small_fed={
            "none": call((), dims=[0]),
            "one": call((), dims=[1]),
            "no_columns": call((), dims=[3, 0]),
            "ones": call((), dims=[1, 1, 1]),
        },
        tensors=(Parameter("dims"),),
        adds=True,
        built={
            "negative": call((), dims=[3, -2]),
            "matrix": call((), dims=[[3, 2]]),
            "vector": call((2,), dims=[3, 2]),
        },
        dtypes=Dtypes(more=(), of_xla=SMALL_FLOATS, nibbles=NIBBLES),
    ),
    *op(
        "tile",
        "Tile",
        arguments=("input",),
        promise=Forward(ref.repeated),
        calls=calls_of(_TILED, "multiples"),
        apart={  # second order needs a broadcast that TensorFlow lacks
            "rank7": Apart(
                calls_of({"rank7": ((1, 2, 1, 1, 2, 1, 3), [2, 1, 1, 2, 1, 2, 1])}, "multiples"),
                (Parameter("multiples"),),
            )
        },
        large=call((9, 17, 4), multiples=[1, 2, 2]),
        small=of_ranks({"multiples": [2]}, {"multiples": [2, 1]}, {"multiples": [1, 3, 2]}),
        tensors=(Parameter("multiples"),),
        adds=True,
        built=calls_of(
            {"too_few": ((3, 5), [2]), "too_many": ((3, 5), [2, 2, 2]), "matrix": ((3, 5), [[2, 2]])}, "multiples"
        ),
        run=calls_of({"negative": ((3, 5), [2, -1])}, "multiples"),
        dtypes=PASSED,
    ),
)
