"""Products of matrices. Errors count the roundings of any order: see `suites.reference.linear_algebra.contraction`."""

import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import FLOATS
from tf_opdiff.suites.forms.aspects import batches
from tf_opdiff.suites.forms.blocks import SHORT
from tf_opdiff.suites.forms.calls import call
from tf_opdiff.suites.forms.linear_algebra.contraction import CONTRACTED, of_complex
from tf_opdiff.suites.forms.op import also, op
from tf_opdiff.suites.forms.part import part, tiered
from tf_opdiff.suites.forms.recipes.elements import limits, plain
from tf_opdiff.suites.reference.linear_algebra.contraction import Contraction
from tf_opdiff.suites.reference.promises.accumulation import FLOAT32
from tf_opdiff.suites.reference.reductions.reduction import long

#: Rows, columns and the sizes of sums; none is a multiple of a vector's width.
_SIZES = (3, 7, 5)
#: Sizes of batches: more terms than a vector holds.
_LONG = (2, 67, 33)
#: Sizes of long sums, and of more rows and columns than two tiles have.
_TERMS, _TILES = (3, 300, 5), (130, 7, 131)
_FLAGS = {"plain": (False, False), "left": (True, False), "right": (False, True), "both": (True, True)}


def _shapes(left, right, x=(), y=(), sizes=_SIZES):
    """The shapes of two batches of matrices, each transposed or not."""
    m, k, n = sizes
    return (*x, *((k, m) if left else (m, k))), (*y, *((n, k) if right else (k, n)))


def _matmul(left, right, sizes=_SIZES):
    return call(*_shapes(left, right, sizes=sizes), transpose_a=left, transpose_b=right)


def _product(transpose_a, transpose_b):
    return Contraction(f"{'ji' if transpose_a else 'ij'},{'kj' if transpose_b else 'jk'}->ik")


def _batches(adjoint, x, y, sizes=_SIZES):
    """A call of a product of batches of matrices, of one shape or broadcast."""
    left, right = adjoint
    return call(*_shapes(left, right, x, y, sizes), adj_x=left, adj_y=right)


def _products(adj_x, adj_y):
    return Contraction(f"...{'ji' if adj_x else 'ij'},...{'kj' if adj_y else 'jk'}->...ik", (adj_x, adj_y))


_SMALL = {
    "no_terms": (2, 0, 3),
    "no_rows": (0, 2, 3),
    "no_columns": (3, 2, 0),
    "nothing": (0, 0, 0),
    "one": (1, 1, 1),
    "one_row": (1, 5, 1),
}
_PLAIN = _FLAGS["plain"]
#: Batches of matrices, and no batch, without elements and with one.
_SMALL_BATCHES = {
    **{label: {"pair": _batches(_PLAIN, (1,), (1,), sizes)} for label, sizes in _SMALL.items()},
    "no_matrices": {"pair": _batches(_PLAIN, (0,), (0,), (2, 3, 2))},
    "empty_inside": {"pair": _batches(_PLAIN, (1, 0), (1, 0), (1, 2, 1))},
    "ones": {"pair": _batches(_PLAIN, (1, 1), (1, 1), (1, 1, 1))},
}
_OF_ONE_SHAPE = {label: _batches(adjoint, (2,), (2,)) for label, adjoint in _FLAGS.items()}
_OF_BATCHES = {
    **CONTRACTED,
    "promise": _products,
    "small": _SMALL_BATCHES,
    "batch": {label: _batches(adjoint, (2,), (2,), _LONG) for label, adjoint in _FLAGS.items()},
    "blocks_in": SHORT,
    "blocks": {
        "terms": _batches(_PLAIN, (2,), (2,), _TERMS),
        "tiles": _batches(_FLAGS["both"], (2,), (2,), _TILES),
    },
    "wrong": {
        "unequal-terms": ((2, 3, 4), (2, 5, 3)),
        "one-vector": ((2, 3, 4), (4,)),
        "unequal-batches": ((2, 3, 4), (3, 4, 5)),
    },
}
_BROADCAST = {
    **_OF_BATCHES,
    "calls": {
        **_OF_ONE_SHAPE,
        "broadcast_left": _batches((False, True), (1, 2), (3, 1)),
        "broadcast_rank": _batches((True, False), (), (2, 2)),
    },
    "integers": tiered(("int32", "int16", "int64")),
}
#: Products of one term, which are rounded once; the bounds of sums hide how a result is rounded.
_one_term = part(
    "-one-term",
    reference=lambda x, y: long(x) * long(y),
    recipes={"plain": lambda draw, dtype: (draw.values(dtype, 17, 1), draw.values(dtype, 1, 5))},
    dtypes=FLOATS,
    ulp={"output": 0.5},
    tier="full",
)


def _wider(to):
    """A program and the promise of products that have another dtype than the matrices."""
    promise = _products(False, False)
    return {
        "program": lambda tf, x, y: tf.raw_ops.BatchMatMulV3(x=x, y=y, Tout=to),
        "reference": lambda x, y: promise.f(*(a if a.dtype.kind == "f" else a.astype(to) for a in (x, y))).astype(to),
    }


def _matrices(draw, dtype):
    """Matrices of plain values, or of limits of integers, whose products have more bits."""
    dtype = np.dtype(dtype)
    elements = limits if dtype.kind in "iu" else plain
    return elements(draw, dtype, 2, 3, 31), elements(draw, dtype, 2, 31, 5)


_OF_FLOAT32 = {"bound": {"output": lambda u, g, x, y: _products(False, False).error(FLOAT32, x, y)}}
#: Parts: CPU kernels have wider results of integers only, and XLA and GPUs have them of floats as well.
_WIDER = (
    part(
        "-wider",
        recipes={"plain": _matrices},
        dtypes=("bfloat16", "float16"),
        modes=("xla",),
        **_wider("float32"),
        **_OF_FLOAT32,
    ),
    part("-wider-integer", recipes={"limits": _matrices}, dtypes=("int8", "uint8"), **_wider("int32")),
)

#: A part: adjoints of complex matrices in the default tier.
_adjoint = also("-adjoint", calls=_OF_ONE_SHAPE, recipes={"plain": plain}, dtypes=("complex64",))

SPECS = (
    *op(
        "batch-matmul",
        "BatchMatMul",
        of_complex,
        _adjoint,
        calls=_OF_ONE_SHAPE,
        dtypes=tiered(FLOATS),
        integers=tiered(("int32", "int64")),
        **_OF_BATCHES,
    ),
    *op("batch-matmul-v2", "BatchMatMulV2", of_complex, _adjoint, _one_term, dtypes=tiered(FLOATS), **_BROADCAST),
    *op(
        "batch-matmul-v3",
        "BatchMatMulV3",
        of_complex,
        _adjoint,
        *_WIDER,
        program=lambda tf, x, y, **attrs: tf.raw_ops.BatchMatMulV3(x=x, y=y, Tout=x.dtype, **attrs),
        dtypes=tiered(("float32", "bfloat16", "float64")),
        **_BROADCAST,
    ),
    *op(
        "matmul",
        "MatMul",
        of_complex,
        _one_term,
        batches({"plain": _matmul(False, False, _LONG), "right": _matmul(False, True, _LONG)}, plain, (1,)),
        promise=_product,
        calls={label: _matmul(*flags) for label, flags in _FLAGS.items()},
        small={label: {"pair": _matmul(False, False, sizes)} for label, sizes in _SMALL.items()},
        blocks_in=SHORT,
        blocks={
            "terms": _matmul(False, False, _TERMS),
            "terms_right": _matmul(False, True, _TERMS),
            "tiles": _matmul(False, False, _TILES),
            "tiles_left": _matmul(True, False, _TILES),
        },
        wrong={
            "unequal-terms": ((2, 3), (4, 2)),
            "vector": ((2, 3), (3,)),
            "batch": ((2, 2, 3), (2, 3, 2)),
        },
        dtypes=tiered(FLOATS),
        integers=tiered(("int32", "int64")),
        **CONTRACTED,
    ),
)
