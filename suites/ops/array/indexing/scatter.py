"""ScatterNd, ScatterNdNonAliasingAdd, and TensorScatterAdd to TensorScatterUpdate: scatters into a tensor."""

from typing import Any

from tf_opdiff.harness.spec.inputs.recipes import COMPLEX, FLOATS, INTEGERS
from tf_opdiff.suites.forms.array_ops.scatter import scatter
from tf_opdiff.suites.forms.array_ops.scatter_kinds import of_truth
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.part import tiered
from tf_opdiff.suites.forms.recipes import ordinary
from tf_opdiff.suites.reference.arrays.scatter import ADD, MAX, MIN, SUB, UPDATE

_ALL = tiered((*FLOATS, *INTEGERS, *COMPLEX), ("float32",))
_OF_TENSORS: dict[str, Any] = {
    "arguments": ("tensor", "indices", "updates"),
    "dtypes": _ALL,
}
_EXTREME = _OF_TENSORS | {"dtypes": tiered((*FLOATS, *INTEGERS), ("float32",)), "unsigned_zeros": ("output", "grad")}


def _of_zeros(tf, x, i, u):
    return tf.raw_ops.ScatterNd(indices=i, updates=u, shape=tf.shape(x, out_type=i.dtype))


SPECS = (
    *op(
        "scatter-nd", "ScatterNd", scatter(ADD, tuples=True, zeros=True), program=_of_zeros, any_dtype=True, dtypes=_ALL
    ),
    *op(
        "scatter-nd-non-aliasing-add",
        "ScatterNdNonAliasingAdd",
        scatter(ADD, tuples=True),
        of_truth(ADD),
        arguments=("input", "indices", "updates"),
        dtypes=_ALL,
    ),
    *op("tensor-scatter-add", "TensorScatterAdd", scatter(ADD, tuples=True), **_OF_TENSORS),
    *op(
        "tensor-scatter-max",
        "TensorScatterMax",
        scatter(MAX, tuples=True),
        **_EXTREME,
        ordinary=ordinary.IN_OWN_RECIPES,
    ),
    *op(
        "tensor-scatter-min",
        "TensorScatterMin",
        scatter(MIN, tuples=True),
        **_EXTREME,
        ordinary=ordinary.IN_OWN_RECIPES,
    ),
    *op("tensor-scatter-sub", "TensorScatterSub", scatter(SUB, tuples=True), **_OF_TENSORS),
    *op("tensor-scatter-update", "TensorScatterUpdate", scatter(UPDATE, tuples=True), any_dtype=True, **_OF_TENSORS),
)
