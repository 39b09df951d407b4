"""ResourceGather and ResourceGatherNd, which read a variable. Out of range they do as GatherV2 and GatherNd do."""

from dataclasses import replace

from tf_opdiff.harness.spec.recipes import INTEGERS
from tf_opdiff.harness.spec.spec import Spec
from tf_opdiff.suites.derived.sizes import sizes
from tf_opdiff.suites.forms.indexing import (
    ROUGH,
    ROWS,
    SMOOTH,
    TUPLES,
    both,
    out_of_range,
    picks,
    tuples,
    variable,
    variable_only,
)
from tf_opdiff.suites.ops.array import gather, gather_nd
from tf_opdiff.suites.reference import gather as ref

_GATHER = Spec(
    name="resource-gather",
    ops="ResourceGather",
    state=variable,
    program=lambda tf, state, x, i: tf.gather(state["v"], i),
    reference=ref.take,
    vjp=variable_only(ref.rows),
    recipes={dtype: picks((7, 5), (4, 3), dtype) for dtype in ("int32", "int64")},
    dtypes=SMOOTH,
)

_GATHER_ND = Spec(
    name="resource-gather-nd",
    ops="ResourceGatherNd",
    state=variable,
    program=lambda tf, state, x, i: tf.gather_nd(state["v"], i),
    reference=ref.take_nd,
    vjp=variable_only(ref.rows_nd),
    bound={"grad[2]": ref.summed_nd},
    recipes={"elements": tuples((3, 4, 2), (5, 3), "int64"), "rows": picks((7, 3), (4, 1))},
)
SPECS = (
    _GATHER,
    *sizes(_GATHER, ROWS),
    Spec(
        name="resource-gather-batch1",  # tf.gather with batch_dims reads the variable and takes GatherV2
        ops="ResourceGather",
        state=variable,
        program=lambda tf, state, x, i: tf.raw_ops.ResourceGather(
            resource=state["v"].handle, indices=i, dtype=x.dtype, batch_dims=1
        ),
        reference=lambda x, i: ref.take(x, i, axis=1, batch=1),
        recipes={"int32": picks((3, 7, 2), (3, 4))},
    ),
    _GATHER_ND,
    *sizes(_GATHER_ND, TUPLES),
    replace(_GATHER_ND, name="resource-gather-nd-other", dtypes=("float64", "bfloat16", "float16"), tier="full"),
    replace(
        _GATHER_ND,
        name="resource-gather-nd-rough",
        vjp=None,
        dtypes=INTEGERS,
        tier="full",
    ),
    out_of_range(
        "resource-gather-nd-out-of-range",
        replace(gather_nd.ANSWERS, vjp=variable_only(ref.rows_nd)),
        {name: gather_nd.WRONG[name] for name in ("beyond_int32", "int32", "rows")},
        ops="ResourceGatherNd",
        state=variable,
        program=lambda tf, state, x, i: tf.gather_nd(state["v"], i),
        bound={"grad[2]": ref.summed_nd},
    ),
    out_of_range(
        "resource-gather-out-of-range",
        replace(gather.ANSWERS, vjp=variable_only(ref.rows)),
        {name: gather.WRONG[name] for name in ("beyond_int32", "empty_params", "negative_int32", "too_large_int32")},
        ops="ResourceGather",
        state=variable,
        program=lambda tf, state, x, i: tf.gather(state["v"], i),
    ),
    Spec(
        name="resource-gather-rough",
        ops="ResourceGather",
        state=variable,
        program=lambda tf, state, x, i, j: (tf.gather(state["v"], i), tf.gather(state["v"], j)),
        reference=lambda x, i, j: (ref.take(x, i), ref.take(x, j)),
        recipes=both(picks, (7, 5), (4, 3)),
        dtypes=ROUGH,
    ),
)
