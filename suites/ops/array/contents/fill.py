"""Ops that fill a tensor with zeros or ones. Fill itself stands in tile.py, next to BroadcastTo."""

from dataclasses import replace

import numpy as np

from tf_opdiff.suites.forms.array_ops.moves import of_ranks
from tf_opdiff.suites.forms.calls import call
from tf_opdiff.suites.forms.elementwise.copies import COMMON, MORE_IN_XLA
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.tensor_attrs import Parameter
from tf_opdiff.suites.reference.arrays.moves import Constant, blanks

_SHAPES = {
    "matrix": (3, 5),
    "vector": (7,),
    "scalar": (),
    "single": (1,),
    "batch_of_one": (1, 4, 3),
    "empty": (0, 3),
    "empty_inside": (1, 0, 2),
    "rank9": (1, 2, 1, 1, 2, 1, 3, 1, 1),
}
_CALLS = {label: call(shape) for label, shape in _SHAPES.items()}


SPECS = (
    *op(
        "empty",
        "Empty",
        program=lambda tf, x, shape: tf.raw_ops.Empty(shape=shape, dtype=x.dtype, init=True),
        promise=Constant(lambda x, shape: blanks(x, shape)),
        calls={label: call((), shape=list(shape)) for label, shape in _SHAPES.items()},
        small=of_ranks({"shape": [0]}, {"shape": [1]}, {"shape": [2, 0, 3]}),
        gradient=False,
        tensors=(Parameter("shape", ("int32",)),),
        built={"negative": call((), shape=[3, -2]), "matrix": call((), shape=[[3, 2]])},
        dtypes=COMMON,
    ),
    *op(
        "ones-like",
        "OnesLike",
        arguments=("x",),
        promise=Constant(np.ones_like),
        calls=_CALLS,
        small=of_ranks({}, {}, {}),
        dtypes=replace(COMMON, without_xla=()),
    ),
    *op(
        "zeros-like",
        "ZerosLike",
        arguments=("x",),
        promise=Constant(lambda x: blanks(x, x.shape)),
        calls=_CALLS,
        small=of_ranks({}, {}, {}),
        dtypes=MORE_IN_XLA,
    ),
)
