"""SparseTensorDenseMatMul: the product of a sparse matrix and a dense one."""

import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import COMPLEX
from tf_opdiff.harness.spec.plan import WITHOUT_XLA
from tf_opdiff.suites.forms.calls import Call, Wrong
from tf_opdiff.suites.forms.errors import IN_KERNEL, WHEN_BUILT
from tf_opdiff.suites.forms.op import also, op
from tf_opdiff.suites.forms.part import tiered
from tf_opdiff.suites.forms.recipes.elements import nonzero_integers, not_numbers, plain
from tf_opdiff.suites.forms.reductions.sparse import INDICES, matrix
from tf_opdiff.suites.reference.sparse_tensors.sparse_product import SparseProduct


def _product(tf, values, b, indices, shape, **adjoint):
    return tf.raw_ops.SparseTensorDenseMatMul(a_indices=indices, a_values=values, a_shape=shape, b=b, **adjoint)


def _call(indices, shape, columns, left=False, right=False, dtype="int64"):
    """A call with a sparse matrix of this shape, and a dense one with so many columns; each is adjoint or not."""
    terms = shape[0 if left else 1]
    return Call(
        shapes=((len(indices),), (columns, terms) if right else (terms, columns)),
        attrs={"adjoint_a": left, "adjoint_b": right},
        computed=(lambda *xs: np.array(matrix(indices, 2), dtype), lambda *xs: np.array(shape, np.int64)),
    )


_CALLS = {
    "plain": _call(INDICES, [3, 5], 4),
    "left": _call(INDICES, [3, 5], 4, left=True, dtype="int32"),
    "right": _call(INDICES, [3, 5], 7, right=True),
    "both": _call(INDICES, [3, 5], 1, left=True, right=True),
    "out_of_order": _call(INDICES[::-1], [3, 5], 2),
    "repeated": _call([[0, 1], [2, 0], [0, 1], [0, 1]], [3, 2], 3, dtype="int32"),
    "many_columns": _call(INDICES, [3, 5], 37),
    "many_rows_right": _call(INDICES, [3, 5], 37, right=True),
    "batch_of_one": _call([[0, 2], [0, 3]], [1, 5], 3),
}
_SMALL = {
    "no_entries": _call([], [2, 3], 2),
    "no_rows": _call([], [0, 3], 2),
    "no_terms": _call([], [2, 0], 3),
    "no_columns": _call([[0, 1], [1, 0]], [2, 3], 0),
    "one": _call([[0, 0]], [1, 1], 1),
}
_SHAPES = ((2,), (5, 4))


def _wrong(indices, shape, shapes=_SHAPES, promise=IN_KERNEL):
    """A call with constants that the op refuses."""
    return Wrong(
        lambda tf, values, b: _product(tf, values, b, tf.constant(indices, tf.int64), tf.constant(shape, tf.int64)),
        shapes,
        promise,
    )


_WRONG = {
    "row-beyond": _wrong([[0, 1], [3, 0]], [3, 5]),
    "column-beyond": _wrong([[0, 1], [1, 5]], [3, 5]),
    "negative-row": _wrong([[0, 1], [-1, 0]], [3, 5]),
    "negative-column": _wrong([[0, -1], [1, 0]], [3, 5]),
    "fewer-values": _wrong([[0, 1]], [3, 5]),
    "unequal-terms": _wrong([[0, 1], [1, 0]], [3, 6], promise=WHEN_BUILT),
    "vector": _wrong([[0, 1], [1, 0]], [3, 5], ((2,), (5,)), WHEN_BUILT),
    "cube": _wrong([[0, 1, 0], [1, 0, 0]], [3, 5, 1], promise=WHEN_BUILT),
    "negative-shape": _wrong([[0, 1], [1, 0]], [-3, 5], promise=WHEN_BUILT),
}
_RECIPES = {"plain": (plain,), "exact": (nonzero_integers,)}

SPECS = op(
    "sparse-tensor-dense-matmul",
    "SparseTensorDenseMatMul",
    also("-complex", recipes=_RECIPES, dtypes=tiered(COMPLEX, ())),
    program=_product,
    promise=lambda adjoint_a, adjoint_b: SparseProduct((adjoint_a, adjoint_b), (adjoint_a, adjoint_b)),
    calls=_CALLS,
    recipes={**_RECIPES, "upstreams": (nonzero_integers,)},
    forward={"special": (not_numbers,)},
    small={label: {"only": call} for label, call in _SMALL.items()},
    wrong=_WRONG,
    dtypes=tiered(("float32", "float16", "bfloat16", "float64")),
    second=("plain",),
    modes=WITHOUT_XLA,
)
