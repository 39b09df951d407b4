"""Rows of ragged tensors: ops that fill empty ones."""

from dataclasses import replace
from functools import partial

from tf_opdiff.harness.spec.recipes import INTEGERS
from tf_opdiff.suites.forms.move_calls import Parameter, call
from tf_opdiff.suites.forms.moves import moves
from tf_opdiff.suites.forms.quantized import WITHOUT_XLA
from tf_opdiff.suites.forms.sparse import DTYPES, tensors
from tf_opdiff.suites.reference import sparse as ref
from tf_opdiff.suites.reference.moves import Back, Beside

_OF_GRADIENT = {"modes": WITHOUT_XLA, "dtypes": replace(DTYPES, rough=INTEGERS, without_xla=()), "gradient": False}


def _fill(tf, x, default, rows, count):
    y = tf.raw_ops.RaggedFillEmptyRows(value_rowids=rows, values=x, nrows=count, default_value=default)
    return [y.output_values, y.output_value_rowids, y.empty_row_indicator, y.reverse_index_map]


def _fill_grad(output, tf, g, mapped, count):
    return tf.raw_ops.RaggedFillEmptyRowsGrad(reverse_index_map=mapped, grad_values=g)[output]


def _rows(rows, count):
    """A call with a value in each of these rows, and a default value."""
    return call((len(rows),), (), rows=rows, count=count)


def _filled(count, mapped):
    """A call of the gradient: the number of all values, and the new places of those of the input."""
    return call((count,), mapped=mapped, count=count)


_FILLED = {
    "mixed": _filled(7, [5, 0, 3]),
    "all": _filled(4, [3, 1, 0, 2]),
    "none": _filled(5, []),
    "empty": _filled(0, []),
    "single": _filled(1, [0]),
}
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
    *moves(
        "ragged-fill-empty-rows-grad",
        "RaggedFillEmptyRowsGrad",
        partial(_fill_grad, 0),
        lambda g, mapped, count: ref.from_filled(g, mapped),
        calls=_FILLED,
        tensors=tensors("mapped"),
        small_fed={"none": call((0,), mapped=[], count=0), "one": call((1,), mapped=[0], count=0)},
        run={
            "out_of_bounds": _filled(3, [0, 3]),
            "negative": _filled(3, [0, -1]),
        },
        built={"matrix": _filled(3, [[0, 1, 2]])},
        **_OF_GRADIENT,
    ),
    *moves(
        "ragged-fill-empty-rows-grad-default",
        "RaggedFillEmptyRowsGrad",
        partial(_fill_grad, 1),
        Back(ref.into_empty_rows, lambda g, mapped, count: ()),
        calls=_FILLED,
        tensors=tensors("mapped"),
        **_OF_GRADIENT,
    ),
)
