"""Gather: the first version of gathers, along the first dimension. Out of range a CPU raises; a GPU gives 0."""

from tf_opdiff.suites.derived.hessian import linear
from tf_opdiff.suites.forms.array_ops.indexing import (
    BAD,
    ROWS,
    SMOOTH,
    copied,
    ends,
    literal,
    out_of_range,
    params_only,
    picks,
    rough,
    special,
)
from tf_opdiff.suites.forms.aspects import small
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.part import part, tiered, unconnected
from tf_opdiff.suites.forms.recipes.hard_pairs import crossed_upstreams
from tf_opdiff.suites.ops.array.indexing.gather import ANSWERS
from tf_opdiff.suites.reference.arrays import gather as ref

_PARAMS, _INDICES = (7, 5), (4, 3)


def _twice(tf, x, i, j):
    return tf.raw_ops.Gather(params=x, indices=i), tf.raw_ops.Gather(params=x, indices=j, validate_indices=False)


SPECS = op(
    "gather-v1",
    "Gather",
    part(
        recipes={
            **{dtype: picks(_PARAMS, _INDICES, dtype) for dtype in ("int32", "int64")},
            "special": special(ends(_PARAMS, _INDICES)),
            "upstreams": picks(_PARAMS, _INDICES),
            "scalar": picks(_PARAMS, (), "int64"),
        },
        upstreams={"upstreams": crossed_upstreams},
        dtypes=tiered(SMOOTH),
        linear=linear("int32", sparse=True),
    ),
    small(ROWS),
    out_of_range(
        "-out-of-range",
        ANSWERS,
        {name: literal((5, 3), [2, 0, bad, 2], "int64") for name, bad in BAD.items()}
        | {"negative_int32": literal((5, 3), [2, 0, -1, 2]), "empty_params": literal((0, 3), [0, 0])},
    ),
    rough(picks, _PARAMS, _INDICES, program=_twice, vjp=unconnected, tier="full"),
    copied(picks, _PARAMS, _INDICES),
    arguments=("params", "indices"),
    reference=ref.take,
    vjp=params_only(ref.rows),
)
