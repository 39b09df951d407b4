"""GatherV2. Out of range a CPU raises; a GPU gives 0, or clamps by XLA."""

from dataclasses import replace

from tf_opdiff.harness.spec.plan import WITHOUT_XLA
from tf_opdiff.harness.spec.spec import Spec
from tf_opdiff.suites.derived.hessian import linear_second_order
from tf_opdiff.suites.derived.sizes import sizes
from tf_opdiff.suites.forms.hard_pairs import crossed_upstreams
from tf_opdiff.suites.forms.indexing import (
    BAD,
    BATCHES,
    FLOAT8,
    ROUGH,
    ROWS,
    SMOOTH,
    Answers,
    both,
    distinct,
    ends,
    flushed_sums,
    literal,
    no_gpu_kernel,
    out_of_range,
    params_only,
    picks,
    special,
    unconnected,
)
from tf_opdiff.suites.forms.of_xla import OF_XLA
from tf_opdiff.suites.forms.quantized import IN_XLA, NOT_IN_XLA, quantized
from tf_opdiff.suites.reference import gather as ref

#: A list of rows, with an index out of range.
WRONG = {name: literal((5, 3), [2, 0, bad, 2], "int64") for name, bad in BAD.items()} | {
    "negative_int32": literal((5, 3), [2, 0, -1, 2]),
    "too_large_int32": literal((5, 3), [2, 0, 5, 2]),
    "empty_params": literal((0, 3), [0, 0]),
}
ANSWERS = Answers(refused=ref.refused, clamped=ref.clamped, zeroed=ref.zeroed, vjp=params_only(ref.rows))


def along_axis(name, axis, batch, params, indices, dtypes=("float32",)):
    """Gather along one axis of several; the gradient is dense. Seven elements lie along the axis."""
    where = {"axis": axis % len(params), "batch": batch % len(indices) if batch < 0 else batch}
    return Spec(
        name=f"gather-{name}",
        ops="GatherV2",
        program=lambda tf, x, i: tf.gather(x, i, axis=axis, batch_dims=batch),
        reference=lambda x, i: ref.take(x, i, **where),
        vjp=params_only(lambda g, x, i: ref.put(g, x, i, **where)),
        bound={"grad[0]": lambda u, g, x, i: ref.summed(ref.put)(u, g, x, i, **where)},
        alternatives={"grad[0]": flushed_sums(lambda g, x, i: ref.put(g, x, i, **where))},
        recipes={
            "int32": distinct(params, indices),
            "int64": picks(params, indices, "int64"),
            "special": special(ends(params, indices)),
            "upstreams": distinct(params, indices),
        },
        upstreams={"upstreams": crossed_upstreams},
        dtypes=dtypes,
    )


def along_axis_out_of_range(name, axis, batch, recipes):
    """Gather along one axis of several, with an index out of range."""
    where = {"axis": axis, "batch": batch}
    answers = Answers(
        refused=lambda x, i: ref.refused(x, i, **where),
        clamped=lambda x, i: ref.clamped(x, i, **where),
        zeroed=lambda x, i: ref.zeroed(x, i, **where),
        vjp=params_only(lambda g, x, i: ref.put(g, x, i, **where)),
    )
    return out_of_range(
        f"gather-{name}-out-of-range",
        answers,
        recipes,
        ops="GatherV2",
        program=lambda tf, x, i: tf.gather(x, i, axis=axis, batch_dims=batch),
    )


_GATHER = Spec(
    name="gather",
    ops="GatherV2",
    program=lambda tf, x, i: tf.gather(x, i),
    reference=ref.take,
    vjp=params_only(ref.rows),
    recipes={
        **{dtype: picks((7, 5), (4, 3), dtype) for dtype in ("int32", "int64")},
        "special": special(ends((7, 5), (4, 3))),
        "upstreams": picks((7, 5), (4, 3)),
    },
    upstreams={"upstreams": crossed_upstreams},
    dtypes=SMOOTH,
)
#: The same without gradients, for dtypes that are copied alone.
_COPIED = replace(_GATHER, vjp=None, recipes={"int32": _GATHER.recipes["int32"]}, upstreams={}, tier="full")
_BATCH1 = along_axis("batch1", 1, 1, (3, 7, 2), (3, 4))
_DENSIFIED = Spec(
    name="gather-densified",  # what a Reshape does to the gradient of its output
    ops="GatherV2;Reshape",
    program=lambda tf, x, i: tf.gather(tf.reshape(x, x.shape), i),
    reference=ref.take,
    vjp=params_only(ref.put),
    bound={"grad[0]": ref.summed(ref.put)},
    alternatives={"grad[0]": flushed_sums(ref.put)},
    recipes={
        "distinct": distinct((7, 5), (6,), "int64"),
        "repeated": picks((7, 5), (9, 3), "int64"),
        "special": special(ends((7, 5), (6,), "int64")),
        "upstreams": distinct((7, 5), (6,), "int64"),
    },
    upstreams={"upstreams": crossed_upstreams},
    dtypes=SMOOTH,
    tier="smoke",
)

SPECS = (
    _GATHER,
    *sizes(_GATHER, ROWS),
    *linear_second_order(_GATHER, "int32", sparse=True),
    along_axis("axis-last", -1, 0, (3, 7), (5,)),
    along_axis("axis1", 1, 0, (3, 7, 2), (4, 2), SMOOTH),
    along_axis("batch-from-last", 2, -1, (2, 3, 7), (2, 3, 4)),
    _BATCH1,
    *sizes(_BATCH1, BATCHES),
    along_axis("batch1-axis2", 2, 1, (3, 2, 7), (3, 4)),
    along_axis("batch2", 2, 2, (2, 3, 7), (2, 3, 4)),
    along_axis_out_of_range(
        "axis1",
        1,
        0,
        {"negative": literal((2, 7), [[0, -1], [6, 0]]), "too_large": literal((2, 7), [[3, 6], [3, 7]], "int64")},
    ),
    along_axis_out_of_range(
        "batch1", 1, 1, {"negative": literal((2, 7), [[0, 1], [-9, 0]]), "too_large": literal((2, 7), [[3, 2], [3, 7]])}
    ),
    along_axis_out_of_range(  # an index that is out of range in one element of a batch is in range in the next one
        "batch1-next",
        1,
        1,
        {"negative": literal((2, 7), [[0, 1], [-7, 0]]), "too_large": literal((2, 7), [[3, 7], [3, 6]])},
    ),
    along_axis_out_of_range(
        "batch1-int64",
        1,
        1,
        {
            "beyond_int32": literal((2, 7), [[3, 2], [3, 2**32 + 1]], "int64"),
            "negative": literal((2, 7), [[0, 1], [-9, 0]], "int64"),
        },
    ),
    _DENSIFIED,
    *linear_second_order(_DENSIFIED, "repeated"),
    Spec(
        name="gather-empty",
        ops="GatherV2;Reshape",
        program=lambda tf, x, i: (tf.gather(x, i), tf.gather(tf.reshape(x, x.shape), i)),
        reference=lambda x, i: (ref.take(x, i), ref.take(x, i)),
        vjp=params_only(lambda g, x, i: ref.put(g[0] + g[1], x, i)),
        recipes={"indices": picks((7, 5), (0,)), "params": picks((0, 5), (0,)), "slices": picks((7, 0), (4,))},
    ),
    out_of_range(
        "gather-empty-slices-out-of-range",
        ANSWERS,
        {"too_large": literal((5, 0), [0, 9])},
        ops="GatherV2",
        program=lambda tf, x, i: tf.gather(x, i),
    ),
    Spec(
        name="gather-int16-indices",
        ops="GatherV2",
        program=lambda tf, x, i: tf.gather(x, i),
        reference=ref.take,
        vjp=params_only(ref.rows),
        recipes={"matrix": picks((7, 5), (4, 3), "int16")},
        contract=no_gpu_kernel(ref.take, params_only(ref.rows), "GatherV2 has no GPU kernel for int16 indices"),
    ),
    out_of_range(
        "gather-out-of-range",
        ANSWERS,
        WRONG,
        ops="GatherV2",
        program=lambda tf, x, i: tf.gather(x, i),
        tier="smoke",
    ),
    out_of_range(
        "gather-out-of-range-rough",
        replace(ANSWERS, vjp=unconnected),
        {"negative": WRONG["negative"]},
        ops="GatherV2",
        program=lambda tf, x, i: tf.gather(x, i),
        dtypes=("bool", "bytes", "int32", "uint64"),
    ),
    replace(_COPIED, name="gather-quantized", program=quantized(_GATHER.program, 1), dtypes=IN_XLA),
    replace(
        _COPIED,
        name="gather-16-bits-quantized",
        program=quantized(_GATHER.program, 1),
        dtypes=NOT_IN_XLA,
        modes=WITHOUT_XLA,
    ),
    replace(_COPIED, name="gather-of-xla", dtypes=OF_XLA, modes=("xla",)),
    Spec(
        name="gather-rough",
        ops="GatherV2",
        program=lambda tf, x, i, j: (tf.gather(x, i), tf.gather(x, j)),
        reference=lambda x, i, j: (ref.take(x, i), ref.take(x, j)),
        vjp=unconnected,
        recipes=both(picks, (7, 5), (4, 3)),
        dtypes=(*FLOAT8, *ROUGH),
    ),
    Spec(
        name="gather-scalar",
        ops="GatherV2",
        program=lambda tf, x, i: tf.gather(x, i),
        reference=ref.take,
        vjp=params_only(ref.rows),
        recipes={"element": picks((7,), ()), "row": picks((7, 5), (), "int64")},
    ),
    Spec(
        name="gather-scalar-bytes",
        ops="GatherV2",
        program=lambda tf, x, i: tf.gather(x, i),
        reference=ref.take,
        recipes={"element": picks((7,), ())},
        dtypes=("bytes",),
    ),
)
