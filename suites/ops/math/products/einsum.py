"""Einsum. Errors count the roundings of any order: see `suites.reference.linear_algebra.contraction`."""

import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import FLOATS
from tf_opdiff.suites.forms.blocks import SHORT
from tf_opdiff.suites.forms.calls import call, unfit
from tf_opdiff.suites.forms.linear_algebra.contraction import CONTRACTED, of_complex
from tf_opdiff.suites.forms.op import also, op
from tf_opdiff.suites.forms.part import part, tiered
from tf_opdiff.suites.forms.recipes.elements import nonzero_integers, plain
from tf_opdiff.suites.reference.linear_algebra.contraction import Contraction
from tf_opdiff.suites.reference.linear_algebra.repeated_labels import OfDiagonals


def _einsum(equation, *shapes):
    return call(*shapes, equation=equation)


def _contraction(equation):
    return Contraction(equation, (False,) * (equation.count(",") + 1))


def _diagonals(tf, x, y):
    return tuple(
        tf.raw_ops.Einsum(inputs=[z], equation=equation) for z, equation in ((x, "i->ii"), (y, "ii->i"), (y, "ii->"))
    )


def _diagonal_recipe(draw, dtype):
    return draw.values(dtype, 5), draw.integers(4, 4, low=-8, high=9).astype(dtype)


_PRODUCT, _BATCHES = "ij,jk->ik", "...ij,...jk->...ik"

SPECS = op(
    "einsum",
    "Einsum",
    of_complex,
    part(
        "-diagonals",
        program=_diagonals,
        reference=lambda x, y: (np.diag(x), np.diag(y), np.asarray(np.trace(y))),
        vjp=lambda gs, x, y: (np.diag(gs[0]), np.diag(gs[1]) + np.eye(4) * gs[2]),
        recipes={"exact": _diagonal_recipe},
        ulp={"grad[1]": 1},
        names=("i->ii", "ii->i", "ii->"),
        lowest_tier=True,
    ),
    also(
        "-repeated",
        promise=OfDiagonals,
        calls={
            "left": _einsum("iij,jk->ik", (3, 3, 5), (5, 2)),
            "right": _einsum("ij,jkj->ik", (4, 3), (3, 5, 3)),
            "both": _einsum("ii,jj->ij", (3, 3), (5, 5)),
            "thrice": _einsum("iii,i->i", (4, 4, 4), (4,)),
            "kept": _einsum("iji,jk->jik", (3, 5, 3), (5, 2)),
        },
        recipes={"plain": plain, "exact": nonzero_integers},
        dtypes=tiered(FLOATS),
    ),
    program=lambda tf, *xs, equation: tf.raw_ops.Einsum(inputs=xs, equation=equation),
    promise=_contraction,
    calls={
        "matrices": _einsum(_PRODUCT, (3, 7), (7, 5)),
        "transposed": _einsum("ij->ji", (3, 7)),
        "sum": _einsum("ij->i", (5, 7)),
        "total": _einsum("ij->", (3, 5)),
        "outer": _einsum("i,j->ji", (3,), (5,)),
        "elements": _einsum("ij,ij->ij", (3, 5), (3, 5)),
        "rows": _einsum("ij,ij->i", (3, 7), (3, 7)),
        "batches": _einsum("bij,bjk->ibk", (2, 3, 7), (2, 7, 5)),
        "two_labels": _einsum("abc,bcd->da", (3, 2, 5), (2, 5, 3)),
        "broadcast": _einsum(_BATCHES, (2, 1, 3, 5), (3, 5, 2)),
        "summed_alone": _einsum("ij,k->k", (3, 5), (2,)),
    },
    small={
        "no_terms": {"pair": _einsum(_BATCHES, (2, 0), (0, 3))},
        "no_rows": {"pair": _einsum(_BATCHES, (0, 2), (2, 3))},
        "no_columns": {"pair": _einsum(_BATCHES, (3, 2), (2, 0))},
        "no_batch": {"pair": _einsum(_BATCHES, (0, 2, 3), (0, 3, 2))},
        "one": {"pair": _einsum(_BATCHES, (1, 1), (1, 1))},
        "one_row": {"pair": _einsum(_BATCHES, (1, 5), (5, 1))},
        "ones": {"pair": _einsum(_BATCHES, (1, 1, 1), (1, 1, 1))},
    },
    wrong={
        "unequal-sizes": unfit((2, 3), (4, 2), equation=_PRODUCT),
        "wrong-rank": unfit((2, 3, 4), (3, 2), equation=_PRODUCT),
        "without-arrow": unfit((2, 3), (3, 2), equation="ij,jk"),
        "unknown-output": unfit((2, 3), (3, 2), equation="ij,jk->il"),
        "too-many-operands": unfit((2, 3), (3, 2), equation="ij,jk,kl->il"),
    },
    batch={
        "rows": _einsum("ij,ij->i", (3, 67), (3, 67)),
        "batches": _einsum("bij,bjk->bik", (2, 3, 67), (2, 67, 5)),
    },
    blocks={
        "terms": _einsum(_PRODUCT, (3, 300), (300, 5)),
        "tiles": _einsum("ij,kj->ki", (130, 7), (131, 7)),
        "rows": _einsum("ij,ij->i", (3, 300), (3, 300)),
    },
    blocks_in=SHORT,
    dtypes=tiered(FLOATS),
    integers=tiered(("int32", "int64")),
    **CONTRACTED,
)
