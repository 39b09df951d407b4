"""ResourceGather and ResourceGatherNd, which read a variable. Out of range they do as GatherV2 and GatherNd do."""

from dataclasses import replace
from typing import Any

from tf_opdiff.harness.spec.inputs.recipes import INTEGERS
from tf_opdiff.suites.forms.array_ops.indexing import (
    ROUGH,
    ROWS,
    SMOOTH,
    TUPLES,
    out_of_range,
    picks,
    rough,
    tuples,
    variable,
    variable_only,
)
from tf_opdiff.suites.forms.aspects import small
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.part import part, tiered
from tf_opdiff.suites.ops.array.indexing import gather, gather_nd
from tf_opdiff.suites.reference.arrays import gather as ref

_ELEMENTS = {"elements": tuples((3, 4, 2), (5, 3), "int64"), "rows": picks((7, 3), (4, 1))}
_SUMS: dict[str, Any] = {"bound": {"grad[2]": ref.summed_nd}}

SPECS = (
    *op(
        "resource-gather",
        "ResourceGather",
        part(recipes={dtype: picks((7, 5), (4, 3), dtype) for dtype in ("int32", "int64")}, dtypes=SMOOTH),
        small(ROWS),
        part(
            "-batch1",  # tf.gather with batch_dims reads the variable and takes GatherV2
            program=lambda tf, state, x, i: tf.raw_ops.ResourceGather(
                resource=state["v"].handle, indices=i, dtype=x.dtype, batch_dims=1
            ),
            reference=lambda x, i: ref.take(x, i, axis=1, batch=1),
            vjp=None,
            recipes={"int32": picks((3, 7, 2), (3, 4))},
        ),
        out_of_range(
            "-out-of-range",
            replace(gather.ANSWERS, vjp=variable_only(ref.rows)),
            {k: gather.WRONG[k] for k in ("beyond_int32", "empty_params", "negative_int32", "too_large_int32")},
        ),
        rough(picks, (7, 5), (4, 3), dtypes=ROUGH),
        part(
            "-unvalidated",
            program=lambda tf, state, x, i: tf.raw_ops.ResourceGather(
                resource=state["v"].handle, indices=i, dtype=x.dtype, validate_indices=False
            ),
            vjp=None,
            recipes={"int32": picks((7, 5), (4, 3))},
        ),
        state=variable,
        program=lambda tf, state, x, i: tf.gather(state["v"], i),
        limited=lambda tf, state, x, i: tf.raw_ops.ResourceGather(resource=state["v"].handle, indices=i, dtype=x.dtype),
        reference=ref.take,
        vjp=variable_only(ref.rows),
        without={"option": "tf.gather does not have the option, which -unvalidated has"},
    ),
    *op(
        "resource-gather-nd",
        "ResourceGatherNd",
        part(recipes=_ELEMENTS, dtypes=tiered(("float32", "float64", "bfloat16", "float16")), **_SUMS),
        small(TUPLES, **_SUMS),
        part("-rough", recipes=_ELEMENTS, vjp=None, dtypes=INTEGERS, tier="full", **_SUMS),
        out_of_range(
            "-out-of-range",
            replace(gather_nd.ANSWERS, vjp=variable_only(ref.rows_nd)),
            {name: gather_nd.WRONG[name] for name in ("beyond_int32", "int32", "rows")},
            **_SUMS,
        ),
        state=variable,
        program=lambda tf, state, x, i: tf.gather_nd(state["v"], i),
        limited=lambda tf, state, x, i: tf.raw_ops.ResourceGatherNd(
            resource=state["v"].handle, indices=i, dtype=x.dtype
        ),
        reference=ref.take_nd,
        vjp=variable_only(ref.rows_nd),
    ),
)
