"""SparseFillEmptyRows to SparseReshape: ops that fill sparse tensors, or give them another shape."""

from tf_opdiff.harness.spec.plan import WITHOUT_XLA
from tf_opdiff.suites.forms.array_ops.move_recipes import whole
from tf_opdiff.suites.forms.aspects import drawn, small
from tf_opdiff.suites.forms.calls import Call, call
from tf_opdiff.suites.forms.elementwise.copies import COMMON
from tf_opdiff.suites.forms.errors import IN_KERNEL
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.part import part
from tf_opdiff.suites.forms.recipes.elements import plain
from tf_opdiff.suites.forms.reductions.filled_rows import by_default, by_values
from tf_opdiff.suites.forms.reductions.sparse import CUBE, INDICES, matrix, tensors, with_default
from tf_opdiff.suites.forms.tensor_attrs import as_inputs
from tf_opdiff.suites.reference.arrays.moves import MovedWith
from tf_opdiff.suites.reference.sparse_tensors import sparse as ref

_USUAL = {"modes": WITHOUT_XLA, "dtypes": COMMON}


def _fill(tf, x, default, indices, shape):
    y = tf.raw_ops.SparseFillEmptyRows(indices=indices, values=x, dense_shape=shape, default_value=default)
    return [y.output_values, y.output_indices, y.empty_row_indicator, y.reverse_index_map]


def _reshape(tf, indices, shape, new):
    y = tf.raw_ops.SparseReshape(input_indices=indices, input_shape=shape, new_shape=new)
    return [y.output_indices, y.output_shape]


def _other_shape(indices, shape, new):
    return Call(shapes=(), attrs={"indices": matrix(indices, len(shape)), "shape": shape, "new": new})


def _reshaped(calls):
    """The calls: indices and shapes are all that the op takes, and they are inputs."""
    return as_inputs(calls, tensors("indices", "shape", "new"), _reshape, MovedWith(lambda **attrs: (), ref.reshaped))


_RESHAPES = {
    "matrix": _other_shape(INDICES, [3, 5], [5, 3]),
    "inferred": _other_shape(CUBE, [2, 3, 4], [4, -1]),
    "flat": _other_shape(CUBE, [2, 3, 4], [-1]),
    "same": _other_shape(INDICES, [3, 5], [3, 5]),
    "out_of_order": _other_shape(INDICES[::-1], [3, 5], [1, 15]),
    "more": _other_shape([[7], [0]], [12], [2, 1, 3, 1, 2]),
    "beyond_int32": _other_shape([[2**20, 2**21], [3, 5]], [2**31, 2**30], [2**29, -1, 2**20]),
    "empty": _other_shape([], [0, 3], [3, 0, 2]),
    "empty_inferred": _other_shape([], [0, 3], [3, -1]),
    "to_scalar": _other_shape([[0, 0]], [1, 1], []),
}
_SMALL_RESHAPES = {
    "none": _other_shape([], [3, 5], [5, 3]),
    "no_rows": _other_shape([], [0, 5], [5, 0]),
    "one": _other_shape([[0, 0]], [1, 1], [1, -1]),
    "to_one": _other_shape([[0, 0]], [1, 1], [1]),
    "scalar": _other_shape([[]], [], [1, 1]),
}
#: Arguments that the op refuses.
_NOT_RESHAPED = {
    "too-small": _other_shape(INDICES, [3, 5], [7, 2]),
    "not-whole": _other_shape(INDICES, [3, 5], [4, -1]),
    "two-inferred": _other_shape(INDICES, [3, 5], [-1, -1]),
    "negative": _other_shape(INDICES, [3, 5], [-3, -5]),
    "negative-input": _other_shape(INDICES, [-3, -5], [15]),
    "other-rank": _other_shape(INDICES, [3, 5, 1], [15]),
    "nothing-to-infer": _other_shape([], [0, 3], [0, -1]),
    "overflow": _other_shape([[0, 0]], [2**32, 2**32], [2**32, 2**32]),
}


SPECS = (
    *op(
        "sparse-fill-empty-rows",
        "SparseFillEmptyRows",
        program=_fill,
        promise=MovedWith(ref.filled, ref.filled_indices),
        calls={
            "matrix": with_default([[0, 1], [0, 3], [3, 2]], [6, 4]),
            "full": with_default(INDICES, [3, 5]),
            "out_of_order": with_default([[3, 1], [0, 2], [3, 0]], [5, 4]),
            "cube": with_default([[1, 1, 3], [1, 2, 2]], [3, 3, 4]),
            "vector": with_default([[1], [4]], [7]),
            "nothing": with_default([], [3, 2]),
            "empty": with_default([], [0, 3]),
            "single": with_default([[0]], [1]),
        },
        adds=True,
        small_fed={
            "none": with_default([], [1, 3]),
            "no_rows": with_default([], [0, 3]),
            "one": with_default([[0, 0]], [1, 1]),
        },
        tensors=tensors("indices", "shape"),
        built={
            "other_rank": with_default(INDICES, [3, 5, 1]),
            "fewer_values": with_default(INDICES, [3, 5], values=(4,)),
            "scalar_shape": call((1,), (), indices=[[0]], shape=3),
            "defaults": call((5,), (1,), indices=INDICES, shape=[3, 5]),
        },
        run={
            "out_of_bounds": with_default([[0, 1], [3, 0]], [3, 5]),
            "negative": with_default([[0, 1], [-1, 0]], [3, 5]),
            "no_rows": with_default(INDICES, [0, 5]),
        },
        **_USUAL,
    ),
    *op("sparse-fill-empty-rows-grad", **by_values("SparseFillEmptyRowsGrad")),
    *op("sparse-fill-empty-rows-grad-default", **by_default("SparseFillEmptyRowsGrad")),
    *op(
        "sparse-reshape",
        "SparseReshape",
        *(
            part(f"-{label}", calls=_reshaped({label: one}), recipes={"plain": plain}, **IN_KERNEL)
            for label, one in _NOT_RESHAPED.items()
        ),
        small(drawn({label: _reshaped({"only": one}) for label, one in _SMALL_RESHAPES.items()}, whole), constant=()),
        calls=_reshaped(_RESHAPES),
        recipes={"plain": plain},
        dtypes=("int64",),
        gradient=False,
        modes=WITHOUT_XLA,
        names=(),
    ),
)
