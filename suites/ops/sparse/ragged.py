"""Rows of ragged tensors: ops that fill empty ones, and an op that takes them out of variants."""

from dataclasses import replace

import numpy as np

from tf_opdiff.harness.spec.plan import WITHOUT_XLA
from tf_opdiff.suites.forms.array_ops.moves import Refused
from tf_opdiff.suites.forms.array_ops.quantized import IN_XLA, NOT_IN_XLA
from tf_opdiff.suites.forms.calls import call
from tf_opdiff.suites.forms.elementwise.copies import COMMON
from tf_opdiff.suites.forms.errors import IN_KERNEL
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.reductions.filled_rows import by_default, by_values
from tf_opdiff.suites.forms.reductions.sparse import tensors
from tf_opdiff.suites.forms.tensor_attrs import Parameter
from tf_opdiff.suites.reference.arrays.moves import MovedWith
from tf_opdiff.suites.reference.sparse_tensors import sparse as ref


def _fill(tf, x, default, rows, count):
    y = tf.raw_ops.RaggedFillEmptyRows(value_rowids=rows, values=x, nrows=count, default_value=default)
    return [y.output_values, y.output_value_rowids, y.empty_row_indicator, y.reverse_index_map]


def _rows(rows, count):
    """A call with a value in each of these rows, and a default value."""
    return call((len(rows),), (), rows=rows, count=count)


def _encoded(tf, x, splits, *, rows=False):
    """A ragged tensor as a variant, or as a vector of variants with a row each; only a CPU has the kernel."""
    with tf.device("/CPU:0"):
        return tf.raw_ops.RaggedTensorToVariant(rt_nested_splits=splits, rt_dense_values=x, batched_input=rows)


def _decoded(tf, encoded, dtype, kind, rank, inner=-1):
    """The values and the splits of a ragged tensor out of variants."""
    y = tf.raw_ops.RaggedTensorFromVariant(
        encoded_ragged=encoded,
        input_ragged_rank=inner,
        output_ragged_rank=rank,
        Tvalues=dtype,
        Tsplits=getattr(tf, kind),
    )
    return [y.output_dense_values, *y.output_nested_splits]


def _one(tf, x, splits, kind, dtype=None, to=None, rank=1):
    """A ragged tensor out of one variant."""
    encoded = _encoded(tf, x, [tf.cast(splits, kind)])
    return _decoded(tf, encoded, getattr(tf, dtype) if dtype else x.dtype, to or kind, rank)


def _deep(tf, x, outer, splits, kind, rows):
    """A ragged tensor with ragged rows, out of one variant or out of one for each row."""
    encoded = _encoded(tf, x, [tf.cast(outer, kind), tf.cast(splits, kind)], rows=rows)
    return _decoded(tf, encoded, x.dtype, kind, 2, 1 if rows else 2)


def _of_rows(tf, x, splits, kind):
    """A ragged tensor out of a vector of variants, one for each row."""
    return _decoded(tf, _encoded(tf, x, [tf.cast(splits, kind)], rows=True), x.dtype, kind, 1)


def _stacked(tf, x, z, splits, others, kind):
    """Two ragged tensors as the rows of one."""
    each = (_encoded(tf, values, [tf.cast(s, kind)]) for values, s in ((x, splits), (z, others)))
    return _decoded(tf, tf.stack([*each]), x.dtype, kind, 2)


def _both(splits, others, kind):
    """The splits of two ragged tensors as the rows of one."""
    ends = [0, len(splits) - 1, len(splits) + len(others) - 2]
    return np.array(ends, kind), np.array([*splits, *(splits[-1] + np.array(others[1:]))], kind)


def _of_kinds(calls, **more):
    """Calls with splits of either dtype."""
    return {
        f"{label}_{kind}": call(*shapes, **splits, **more, kind=kind)
        for kind in ("int32", "int64")
        for label, (shapes, splits) in calls.items()
    }


#: Label → the shape of the values, and the splits of rows.
_RAGGED = {
    "rows": (((6,),), {"splits": [0, 2, 2, 5, 6]}),
    "wide": (((5, 3, 2),), {"splits": [0, 0, 4, 5]}),
    "empty_rows": (((0,),), {"splits": [0, 0, 0]}),
    "no_rows": (((0,),), {"splits": [0]}),
    "single": (((1,),), {"splits": [0, 1]}),
}
_DEEP = {
    "rows": (((6,),), {"outer": [0, 2, 2, 3], "splits": [0, 1, 4, 6]}),
    "wide": (((4, 3),), {"outer": [0, 1, 3], "splits": [0, 0, 3, 4]}),
}
_OF_VARIANTS = {"modes": WITHOUT_XLA, "dtypes": replace(COMMON, quantized_without_xla=(*IN_XLA, *NOT_IN_XLA))}
_UNFIT = {
    "other_dtype": call((3,), splits=[0, 3], kind="int64", dtype="int32"),
    "other_splits": call((3,), splits=[0, 3], kind="int64", to="int32"),
    "other_rank": call((3,), splits=[0, 3], kind="int64", rank=2),
}

SPECS = (
    *op(
        "ragged-fill-empty-rows",
        "RaggedFillEmptyRows",
        program=_fill,
        promise=MovedWith(ref.filled_rows, ref.filled_row_ids),
        calls={
            "rows": _rows([0, 0, 3], 6),
            "full": _rows([0, 1, 1, 2, 2], 3),
            "out_of_order": _rows([3, 0, 3], 5),
            "last": _rows([4], 5),
            "nothing": _rows([], 3),
            "empty": _rows([], 0),
            "single": _rows([0], 1),
        },
        adds=True,
        small_fed={"none": _rows([], 1), "no_rows": _rows([], 0), "one": _rows([0], 1)},
        tensors=(*tensors("rows"), Parameter("count", ("int64",))),
        built={
            "fewer_values": call((1,), (), rows=[0, 1], count=3),
            "matrix_of_rows": call((2,), (), rows=[[0, 1]], count=3),
            "matrix_of_values": call((2, 1), (), rows=[0, 1], count=3),
            "several_counts": call((2,), (), rows=[0, 1], count=[3]),
            "defaults": call((2,), (1,), rows=[0, 1], count=3),
        },
        run={
            "out_of_bounds": _rows([0, 3], 3),
            "negative": _rows([0, -1], 3),
            "no_rows": _rows([0], 0),
            "negative_count": _rows([], -1),
        },
        modes=WITHOUT_XLA,
        dtypes=COMMON,
    ),
    *op("ragged-fill-empty-rows-grad", **by_values("RaggedFillEmptyRowsGrad")),
    *op("ragged-fill-empty-rows-grad-default", **by_default("RaggedFillEmptyRowsGrad")),
    *op(
        "ragged-tensor-from-variant",
        "RaggedTensorFromVariant",
        program=_one,
        promise=MovedWith(lambda x, splits, kind: x, lambda splits, kind: np.array(splits, kind)),
        calls=_of_kinds(_RAGGED),
        small_fed={
            "none": call((0,), splits=[0, 0], kind="int64"),
            "no_columns": call((2, 0), splits=[0, 2], kind="int64"),
            "one": call((1, 1), splits=[0, 1], kind="int64"),
        },
        few=("rows_int64",),
        tensors=tensors("splits"),
        refused={"unfit": Refused(_UNFIT, IN_KERNEL)},
        **_OF_VARIANTS,
    ),
    *op(
        "ragged-tensor-from-variant-deep",
        "RaggedTensorFromVariant",
        program=_deep,
        promise=MovedWith(
            lambda x, outer, splits, kind, rows: x,
            lambda outer, splits, kind, rows: (np.array(outer, kind), np.array(splits, kind)),
        ),
        calls=_of_kinds(_DEEP, rows=False) | {f"{k}_of_rows": v for k, v in _of_kinds(_DEEP, rows=True).items()},
        second=(),
        tensors=tensors("outer", "splits"),
        **_OF_VARIANTS,
    ),
    *op(
        "ragged-tensor-from-variant-of-rows",
        "RaggedTensorFromVariant",
        program=_of_rows,
        promise=MovedWith(lambda x, splits, kind: x, lambda splits, kind: np.array(splits, kind)),
        calls=_of_kinds(_RAGGED),
        second=(),
        tensors=tensors("splits"),
        **_OF_VARIANTS,
    ),
    *op(
        "ragged-tensor-from-variant-stacked",
        "RaggedTensorFromVariant",
        program=_stacked,
        promise=MovedWith(lambda x, z, splits, others, kind: np.concatenate([x, z]), _both),
        calls=_of_kinds(
            {
                "rows": (((4,), (3,)), {"splits": [0, 1, 4], "others": [0, 0, 2, 3]}),
                "empty": (((0, 2), (1, 2)), {"splits": [0, 0], "others": [0, 1]}),
            }
        ),
        second=(),
        tensors=tensors("splits", "others"),
        **_OF_VARIANTS,
    ),
)
