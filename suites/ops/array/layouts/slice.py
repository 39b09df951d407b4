"""Ops that read a slice of a tensor, and that write one into zeros."""

from tf_opdiff.suites.forms.array_ops import strided
from tf_opdiff.suites.forms.array_ops.moves import of_ranks
from tf_opdiff.suites.forms.calls import call, calls_of
from tf_opdiff.suites.forms.elementwise.copies import Dtypes
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.tensor_attrs import Parameter
from tf_opdiff.suites.reference.arrays import slices as ref
from tf_opdiff.suites.reference.arrays.moves import Forward

#: The shape of a tensor, the first index of a slice, and its size; a size of -1 is the rest.
_SLICES = {
    "matrix": ((3, 5), [1, 2], [2, 3]),
    "rest": ((4, 3, 2), [1, 0, 1], [-1, 2, -1]),
    "vector": ((7,), [3], [4]),
    "whole": ((3, 4), [0, 0], [3, 4]),
    "nothing": ((3, 5), [3, 1], [0, 2]),
    "nothing_left": ((3, 5), [3, 5], [-1, -1]),
    "empty": ((0, 3), [0, 1], [0, 2]),
    "scalar": ((), [], []),
    "single": ((1,), [0], [1]),
    "batch_of_one": ((1, 4, 2), [0, 2, 0], [1, 2, 1]),
    "rank5": ((2, 1, 3, 2, 2), [1, 0, 0, 1, 0], [1, 1, 2, 1, 2]),
    "rank8": ((1, 2, 1, 2, 1, 2, 1, 3), [0, 1, 0, 0, 0, 0, 0, 1], [1, 1, 1, 2, 1, -1, 1, 2]),
}
_INDEX = tuple(map(Parameter, ("begin", "end", "strides")))
_DTYPES = Dtypes(quantized_without_xla=())


def _written(tf, v, shape, begin, end, strides, **masks):
    return tf.raw_ops.StridedSliceGrad(shape=shape, begin=begin, end=end, strides=strides, dy=v, **masks)


_OTHER_UPSTREAM = {"other_upstream": call((2, 5), shape=[3, 5], begin=[0, 0], end=[3, 5], strides=[1, 1])}

SPECS = (
    *op(
        "slice",
        "Slice",
        arguments=("input",),
        promise=Forward(ref.sliced),
        calls=calls_of(_SLICES, "begin", "size"),
        small=of_ranks(*tuple({"begin": [0] * rank, "size": [-1] * rank} for rank in (1, 2, 3))),
        tensors=(Parameter("begin"), Parameter("size")),
        built=calls_of(
            {
                "too_few": ((3, 5), [1], [2]),
                "too_many": ((3, 5), [0, 0, 0], [1, 1, 1]),
                "unlike": ((3, 5), [0, 0], [1]),
                "matrices": ((3, 5), [[0, 0]], [[1, 1]]),
                "beyond_end": ((3, 5), [4, 0], [-1, 1]),
                "negative_size": ((3, 5), [0, 0], [-2, 1]),
            },
            "begin",
            "size",
        ),
        run=calls_of(
            {
                "too_large": ((3, 5), [1, 0], [3, 1]),
                "negative": ((3, 5), [-1, 0], [1, 1]),
                "beyond_int32": ((3, 5), [2**32 + 1, 0], [2**32, 1]),
            },
            "begin",
            "size",
        ),
        dtypes=_DTYPES,
    ),
    *op(
        "strided-slice-grad",
        "StridedSliceGrad",
        program=_written,
        promise=Forward(ref.written),
        calls=strided.GRADIENTS,
        small=of_ranks(
            *tuple(
                {"shape": shape, **strided.everything(len(shape))} for shape in ([0], [0, 3], [0, 2, 1], [1], [1, 1])
            ),
            shapes={"empty_and_one": ((0,), (0, 3), (0, 2, 1), (1,), (1, 1))},
        ),
        tensors=(Parameter("shape"), *_INDEX),
        run={label: call((3, 5), shape=[3, 5], **bounds) for label, bounds in strided.REFUSED.items()}
        | _OTHER_UPSTREAM,
        dtypes=_DTYPES,
    ),
)
