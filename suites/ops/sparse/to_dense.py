"""SparseToDense: a dense tensor with values at indices, and a default value elsewhere."""

from functools import partial

from tf_opdiff.suites.forms.array_ops.moves import Apart, Refused
from tf_opdiff.suites.forms.calls import call
from tf_opdiff.suites.forms.elementwise.copies import Dtypes
from tf_opdiff.suites.forms.errors import REFUSED_VALUES
from tf_opdiff.suites.forms.of_xla import SMALL_FLOATS
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.reductions.sparse import CUBE, INDICES, with_default
from tf_opdiff.suites.forms.tensor_attrs import Parameter
from tf_opdiff.suites.reference.sparse_tensors import sparse as ref


def _dense(tf, x, default, indices, shape, **attrs):
    return tf.raw_ops.SparseToDense(
        sparse_indices=indices, output_shape=shape, sparse_values=x, default_value=default, **attrs
    )


_IN_ORDER = {
    "matrix": with_default(INDICES, [3, 5]),
    "cube": with_default(CUBE, [2, 3, 4]),
    "full": with_default([[0, 0], [0, 1], [1, 0], [1, 1]], [2, 2]),
    "out_of_order": with_default(INDICES[::-1], [3, 5], validate_indices=False),
    "nothing": with_default([], [2, 3]),
    "empty": with_default([], [0, 3]),
    "single": with_default([[0]], [1]),
    "batch_of_one": with_default([[0, 2]], [1, 4]),
}
_to_matrix = partial(with_default, shape=[3, 5])
#: Indices that nothing but their values makes wrong; XLA compiles a program before there are values.
_INVALID = {
    "out_of_bounds": _to_matrix([[0, 1], [3, 0]]),
    "negative": _to_matrix([[0, -1], [2, 0]]),
    "repeated": _to_matrix([[0, 1], [0, 1]]),
    "out_of_order": _to_matrix([[1, 1], [0, 1]]),
    "not_validated": _to_matrix([[0, 1], [0, 5]], validate_indices=False),
}

_TENSORS = (Parameter("indices"), Parameter("shape"))

SPECS = (
    *op(
        "sparse-to-dense",
        "SparseToDense",
        program=_dense,
        promise=ref.ToDense(
            lambda x, default, indices, shape, validate_indices=True: ref.dense(x, default, indices, shape)
        ),
        calls=_IN_ORDER,
        apart={
            "vector": Apart({"vector": with_default([1, 4], [7], values=(2,))}, _TENSORS),
            "scalar": Apart({"scalar": call((), (), indices=3, shape=[7])}, _TENSORS),
            "one-value": Apart({"one_value": _to_matrix(INDICES, values=())}, _TENSORS),
        },
        adds=True,
        small_fed={
            "none": with_default([], [1, 1]),
            "no_rows": with_default([], [0, 3]),
            "one": with_default([[0, 0]], [1, 1]),
        },
        tensors=_TENSORS,
        built={
            "negative_size": with_default([[0, 0]], [-3, 5]),
            "scalar_shape": call((2,), (), indices=[0, 1], shape=3),
        },
        run={
            "other_rank": with_default(INDICES, [15]),
            "fewer_values": _to_matrix(INDICES, values=(4,)),
            "column": _to_matrix(INDICES, values=(5, 1)),
            "cube": call((5,), (), indices=[INDICES], shape=[3, 5]),
            "defaults": call((5,), (1,), indices=INDICES, shape=[3, 5]),
        },
        refused={"invalid": Refused(_INVALID, REFUSED_VALUES)},
        dtypes=Dtypes(more=(), of_xla=SMALL_FLOATS, quantized=("int8", "uint8"), quantized_of_xla=("int32",)),
    ),
)
