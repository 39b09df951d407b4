"""Gather: the first version of gathers, along the first dimension. Out of range a CPU raises; a GPU gives 0."""

from dataclasses import replace

from tf_opdiff.harness.spec.plan import WITHOUT_XLA
from tf_opdiff.harness.spec.spec import Spec
from tf_opdiff.suites.derived.hessian import linear_second_order
from tf_opdiff.suites.derived.sizes import sizes
from tf_opdiff.suites.forms.hard_pairs import crossed_upstreams
from tf_opdiff.suites.forms.indexing import (
    BAD,
    FLOAT8,
    ROUGH,
    ROWS,
    SMOOTH,
    Answers,
    both,
    ends,
    literal,
    out_of_range,
    params_only,
    picks,
    special,
    unconnected,
)
from tf_opdiff.suites.forms.of_xla import OF_XLA
from tf_opdiff.suites.forms.quantized import IN_XLA, NOT_IN_XLA, quantized
from tf_opdiff.suites.reference import gather as ref

_ANSWERS = Answers(refused=ref.refused, clamped=ref.clamped, zeroed=ref.zeroed, vjp=params_only(ref.rows))
_PICKS = {"int32": picks((7, 5), (4, 3))}


def _gather(tf, x, i):
    return tf.raw_ops.Gather(params=x, indices=i)


def _twice(tf, x, i, j):
    return tf.raw_ops.Gather(params=x, indices=i), tf.raw_ops.Gather(params=x, indices=j, validate_indices=False)


_GATHER = Spec(
    name="gather-v1",
    ops="Gather",
    program=_gather,
    reference=ref.take,
    vjp=params_only(ref.rows),
    recipes={
        **{dtype: picks((7, 5), (4, 3), dtype) for dtype in ("int32", "int64")},
        "special": special(ends((7, 5), (4, 3))),
        "upstreams": picks((7, 5), (4, 3)),
        "scalar": picks((7, 5), (), "int64"),
    },
    upstreams={"upstreams": crossed_upstreams},
)
_OTHERS = tuple(dtype for dtype in SMOOTH if dtype != "float32")
_FULL = replace(_GATHER, vjp=None, upstreams={}, recipes=_PICKS, tier="full")

SPECS = (
    _GATHER,
    replace(_GATHER, name="gather-v1-other", dtypes=_OTHERS, tier="full"),
    *sizes(_GATHER, ROWS),
    *linear_second_order(_GATHER, "int32", sparse=True),
    out_of_range(
        "gather-v1-out-of-range",
        _ANSWERS,
        {name: literal((5, 3), [2, 0, bad, 2], "int64") for name, bad in BAD.items()}
        | {"negative_int32": literal((5, 3), [2, 0, -1, 2]), "empty_params": literal((0, 3), [0, 0])},
        ops="Gather",
        program=_gather,
    ),
    replace(
        _FULL,
        name="gather-v1-rough",
        program=_twice,
        reference=lambda x, i, j: (ref.take(x, i), ref.take(x, j)),
        vjp=unconnected,
        recipes=both(picks, (7, 5), (4, 3)),
        dtypes=(*FLOAT8, *ROUGH),
    ),
    replace(_FULL, name="gather-v1-of-xla", dtypes=OF_XLA, modes=("xla",)),
    replace(_FULL, name="gather-v1-quantized", program=quantized(_gather, 1), dtypes=IN_XLA),
    replace(
        _FULL, name="gather-v1-16-bits-quantized", program=quantized(_gather, 1), dtypes=NOT_IN_XLA, modes=WITHOUT_XLA
    ),
)
