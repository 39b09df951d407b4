"""Ops that give the shape of a tensor, its rank, and the number of its elements, and that change its dimensions."""

import numpy as np

from tf_opdiff.suites.forms.array_ops.moves import Apart, of_ranks
from tf_opdiff.suites.forms.calls import call, calls_of
from tf_opdiff.suites.forms.elementwise.copies import PASSED, Dtypes
from tf_opdiff.suites.forms.of_xla import FLOAT8_OF_CPU, OF_CPU, OF_XLA
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.tensor_attrs import Parameter
from tf_opdiff.suites.reference.arrays import shapes as ref
from tf_opdiff.suites.reference.arrays.moves import Constant, Forward

_SHAPES = {
    "matrix": (3, 5),
    "scalar": (),
    "vector": (7,),
    "cube": (2, 3, 4),
    "empty": (0,),
    "empty_inside": (3, 0, 2),
    "single": (1,),
    "batch_of_one": (1, 4),
    "rank9": (1, 2, 1, 1, 2, 1, 3, 1, 1),
}
_EXPANDED = {
    "first": ((3, 5), 0),
    "last": ((3, 5), -1),
    "middle": ((2, 3, 4), 1),
    "before_all": ((2, 3), -3),
    "scalar": ((), 0),
    "scalar_last": ((), -1),
    "empty": ((0, 3), 1),
    "single": ((1,), 1),
    "batch_of_one": ((1, 2, 3), 2),
    "rank7": ((1, 2, 1, 2, 1, 1, 3), -4),
}
_SQUEEZED = {
    "all": ((1, 3, 1, 5), []),
    "some": ((1, 3, 1, 5), [2]),
    "several": ((1, 3, 1, 1, 2), [0, 3]),
    "last": ((3, 5, 1), [-1]),
    "nothing": ((3, 5), []),
    "scalar": ((), []),
    "to_scalar": ((1, 1), []),
    "empty": ((0, 1), [1]),
    "single": ((1,), [0]),
    "batch_of_one": ((1, 3, 2), [-3]),
    "rank8": ((1, 2, 1, 1, 2, 1, 3, 1), [2, -1]),
}
_MEASURED = Dtypes(more=(*FLOAT8_OF_CPU, *OF_XLA), without_xla=OF_CPU, of_xla=())
_OUT = ({"out_type": "int32"}, {"out_type": "int64"}, {"out_type": "int32"})


def _of_types(shapes):
    """Calls with results in int32 and in int64 in turn."""
    return {label: call(shape, out_type=("int32", "int64")[i % 2]) for i, (label, shape) in enumerate(shapes.items())}


SPECS = (
    *op(
        "expand-dims",
        "ExpandDims",
        arguments=("input",),
        promise=Forward(ref.expanded),
        calls=calls_of(_EXPANDED, "axis"),
        large=call((9, 17, 8), axis=1),
        small=of_ranks({"axis": 0}, {"axis": -1}, {"axis": 1}),
        tensors=(Parameter("axis"),),
        built=calls_of(
            {
                "too_large": ((3, 5), 3),
                "too_small": ((3, 5), -4),
                "two": ((3, 5), [0, 1]),
                "none": ((3, 5), []),
                "beyond_int32": ((3, 5), 2**32),
            },
            "axis",
        ),
        dtypes=PASSED,
    ),
    *op(
        "rank",
        "Rank",
        arguments=("input",),
        promise=Constant(lambda x: np.array(x.ndim, "int32")),
        calls={label: call(shape) for label, shape in _SHAPES.items()},
        small=of_ranks({}, {}, {}),
        dtypes=_MEASURED,
    ),
    *op(
        "shape",
        "Shape",
        arguments=("input",),
        promise=Constant(lambda x, out_type: np.array(x.shape, out_type)),
        calls=_of_types(_SHAPES),
        small=of_ranks(*_OUT),
        apart={"beyond-int32": Apart({"rows": call((2**32 + 3, 0), out_type="int64")})},
        run={"beyond_int32": call((2**31, 0), out_type="int32")},
        without={"option": "its calls have both dtypes of results"},
        dtypes=_MEASURED,
    ),
    *op(
        "shape-n",
        "ShapeN",
        program=lambda tf, *xs, out_type: tf.raw_ops.ShapeN(input=xs, out_type=out_type),
        promise=Constant(lambda *xs, out_type: tuple(np.array(x.shape, out_type) for x in xs)),
        calls={
            "several": call(*_SHAPES.values(), out_type="int32"),
            "single": call((3, 5), out_type="int64"),
            "alike": call((1, 3), (1, 3), out_type="int32"),
        },
        small=of_ranks(*_OUT, inputs=2),
        run={"beyond_int32": call((3,), (2**31, 0), out_type="int32")},
        without={"option": "its calls have both dtypes of results"},
        dtypes=_MEASURED,
    ),
    *op(
        "size",
        "Size",
        arguments=("input",),
        promise=Constant(lambda x, out_type: np.array(x.size, out_type)),
        calls=_of_types(_SHAPES),
        small=of_ranks(*_OUT),
        without={"option": "its calls have both dtypes of results"},
        dtypes=_MEASURED,
    ),
    *op(
        "squeeze",
        "Squeeze",
        arguments=("input",),
        promise=Forward(ref.squeezed),
        calls=calls_of(_SQUEEZED, "axis"),
        large=call((9, 1, 17, 8), axis=[1]),
        small=of_ranks(
            {"axis": []},
            {"axis": [1]},
            {"axis": [0]},
            shapes={"empty": ((0,), (0, 1), (1, 2, 0)), "ones": ((1,), (1, 1), (1, 1, 1))},
        ),
        built=calls_of(
            {
                "not_one": ((3, 1), [0]),
                "empty": ((0, 1), [0]),
                "too_large": ((1, 1), [2]),
                "too_small": ((1, 1), [-3]),
                "scalar": ((), [0]),
            },
            "axis",
        ),
        dtypes=PASSED,
    ),
)
