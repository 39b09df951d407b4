"""Rows of ragged tensors: ops that fill empty ones."""

from tf_opdiff.suites.forms.filled_rows import filled_gradients
from tf_opdiff.suites.forms.move_calls import Parameter, call
from tf_opdiff.suites.forms.moves import moves
from tf_opdiff.suites.forms.quantized import WITHOUT_XLA
from tf_opdiff.suites.forms.sparse import DTYPES, tensors
from tf_opdiff.suites.reference import sparse as ref
from tf_opdiff.suites.reference.moves import Beside


def _fill(tf, x, default, rows, count):
    y = tf.raw_ops.RaggedFillEmptyRows(value_rowids=rows, values=x, nrows=count, default_value=default)
    return [y.output_values, y.output_value_rowids, y.empty_row_indicator, y.reverse_index_map]


def _rows(rows, count):
    """A call with a value in each of these rows, and a default value."""
    return call((len(rows),), (), rows=rows, count=count)


SPECS = (
    *moves(
        "ragged-fill-empty-rows",
        "RaggedFillEmptyRows",
        _fill,
        Beside(ref.filled_rows, ref.filled_row_ids),
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
        second=False,
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
        dtypes=DTYPES,
    ),
    *filled_gradients("ragged-fill-empty-rows-grad", "RaggedFillEmptyRowsGrad"),
)
