"""GatherV2. Out of range a CPU raises; a GPU gives 0, or clamps by XLA."""

from dataclasses import replace

from tf_opdiff.suites.derived.hessian import linear
from tf_opdiff.suites.forms.array_ops.indexing import (
    BAD,
    BATCHES,
    ROWS,
    SMOOTH,
    Answers,
    copied,
    distinct,
    ends,
    flushed_sums,
    literal,
    no_gpu_kernel,
    out_of_range,
    params_only,
    picks,
    rough,
    special,
)
from tf_opdiff.suites.forms.aspects import small
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.part import part, unconnected
from tf_opdiff.suites.forms.recipes.hard_pairs import crossed_upstreams
from tf_opdiff.suites.reference.arrays import gather as ref

#: A list of rows, with an index out of range.
WRONG = {name: literal((5, 3), [2, 0, bad, 2], "int64") for name, bad in BAD.items()} | {
    "negative_int32": literal((5, 3), [2, 0, -1, 2]),
    "too_large_int32": literal((5, 3), [2, 0, 5, 2]),
    "empty_params": literal((0, 3), [0, 0]),
}
ANSWERS = Answers(refused=ref.refused, clamped=ref.clamped, zeroed=ref.zeroed, vjp=params_only(ref.rows))


_UPSTREAMS = {"upstreams": crossed_upstreams}


def _sums(put=ref.put):
    """The fields of a dense gradient."""
    return {
        "vjp": params_only(put),
        "bound": {"grad[0]": ref.summed(put)},
        "alternatives": {"grad[0]": flushed_sums(put)},
    }


def _along(axis, batch):
    """The fields of gathers along one axis of several, whose gradient is dense."""
    where = {"axis": axis, "batch": batch}
    return {
        "program": lambda tf, x, i: tf.gather(x, i, axis=axis, batch_dims=batch),
        "reference": lambda x, i: ref.take(x, i, **where),
        **_sums(lambda g, x, i: ref.put(g, x, i, **where)),
    }


def _along_axis(name, axis, batch, params, indices, dtypes=("float32",)):
    """A part: gathers along one axis of several. Seven elements lie along the axis."""
    fields = _along(axis % len(params), batch % len(indices) if batch < 0 else batch)
    recipes = {
        "int32": distinct(params, indices),
        "int64": picks(params, indices, "int64"),
        "special": special(ends(params, indices)),
        "upstreams": distinct(params, indices),
    }
    program = {"program": lambda tf, x, i: tf.gather(x, i, axis=axis, batch_dims=batch)}
    return part(f"-{name}", recipes=recipes, upstreams=_UPSTREAMS, dtypes=dtypes, **fields | program)


def _along_axis_out_of_range(name, axis, batch, recipes):
    """A part: gathers along one axis of several, with an index out of range."""
    where = {"axis": axis, "batch": batch}
    answers = Answers(
        refused=lambda x, i: ref.refused(x, i, **where),
        clamped=lambda x, i: ref.clamped(x, i, **where),
        zeroed=lambda x, i: ref.zeroed(x, i, **where),
        vjp=params_only(lambda g, x, i: ref.put(g, x, i, **where)),
    )
    return out_of_range(f"-{name}-out-of-range", answers, recipes, program=_along(axis, batch)["program"])


def _densified(tf, x, i):
    """A Reshape makes the gradient of its output dense."""
    return tf.gather(tf.reshape(x, x.shape), i)


SPECS = op(
    "gather",
    "GatherV2",
    part(
        recipes={
            **{dtype: picks((7, 5), (4, 3), dtype) for dtype in ("int32", "int64")},
            "special": special(ends((7, 5), (4, 3))),
            "upstreams": picks((7, 5), (4, 3)),
        },
        upstreams=_UPSTREAMS,
        dtypes=SMOOTH,
        linear=linear("int32", sparse=True),
    ),
    small(ROWS),
    _along_axis("axis-last", -1, 0, (3, 7), (5,)),
    _along_axis("axis1", 1, 0, (3, 7, 2), (4, 2), SMOOTH),
    _along_axis("batch-from-last", 2, -1, (2, 3, 7), (2, 3, 4)),
    _along_axis("batch1", 1, 1, (3, 7, 2), (3, 4)),
    small(BATCHES, suffix="-batch1", **_along(1, 1)),
    _along_axis("batch1-axis2", 2, 1, (3, 2, 7), (3, 4)),
    _along_axis("batch2", 2, 2, (2, 3, 7), (2, 3, 4)),
    _along_axis_out_of_range(
        "axis1",
        1,
        0,
        {"negative": literal((2, 7), [[0, -1], [6, 0]]), "too_large": literal((2, 7), [[3, 6], [3, 7]], "int64")},
    ),
    _along_axis_out_of_range(
        "batch1", 1, 1, {"negative": literal((2, 7), [[0, 1], [-9, 0]]), "too_large": literal((2, 7), [[3, 2], [3, 7]])}
    ),
    _along_axis_out_of_range(  # an index that is out of range in one element of a batch is in range in the next one
        "batch1-next",
        1,
        1,
        {"negative": literal((2, 7), [[0, 1], [-7, 0]]), "too_large": literal((2, 7), [[3, 7], [3, 6]])},
    ),
    _along_axis_out_of_range(
        "batch1-int64",
        1,
        1,
        {
            "beyond_int32": literal((2, 7), [[3, 2], [3, 2**32 + 1]], "int64"),
            "negative": literal((2, 7), [[0, 1], [-9, 0]], "int64"),
        },
    ),
    part(
        "-densified",
        ops="GatherV2;Reshape",
        program=_densified,
        recipes={
            "distinct": distinct((7, 5), (6,), "int64"),
            "repeated": picks((7, 5), (9, 3), "int64"),
            "special": special(ends((7, 5), (6,), "int64")),
            "upstreams": distinct((7, 5), (6,), "int64"),
        },
        upstreams=_UPSTREAMS,
        dtypes=SMOOTH,
        tier="smoke",
        **_sums(),
        linear=linear("repeated"),
    ),
    part(
        "-empty",
        ops="GatherV2;Reshape",
        program=lambda tf, x, i: (tf.gather(x, i), _densified(tf, x, i)),
        reference=lambda x, i: (ref.take(x, i), ref.take(x, i)),
        vjp=params_only(lambda g, x, i: ref.put(g[0] + g[1], x, i)),
        recipes={"indices": picks((7, 5), (0,)), "params": picks((0, 5), (0,)), "slices": picks((7, 0), (4,))},
    ),
    out_of_range("-empty-slices-out-of-range", ANSWERS, {"too_large": literal((5, 0), [0, 9])}),
    part(
        "-int64-axis",
        program=lambda tf, x, i: tf.gather(x, i, axis=tf.constant(1, "int64")),
        recipes={"matrix": picks((3, 7, 2), (4, 2))},
        **{name: field for name, field in _along(1, 0).items() if name != "program"},
    ),
    part(
        "-int16-indices",
        recipes={"matrix": picks((7, 5), (4, 3), "int16")},
        contract=no_gpu_kernel(ref.take, params_only(ref.rows), "GatherV2 has no GPU kernel for int16 indices"),
    ),
    out_of_range("-out-of-range", ANSWERS, WRONG, tier="smoke"),
    out_of_range(
        "-out-of-range-rough",
        replace(ANSWERS, vjp=unconnected),
        {"negative": WRONG["negative"]},
        dtypes=("bool", "bytes", "int32", "uint64"),
    ),
    copied(picks, (7, 5), (4, 3)),
    rough(picks, (7, 5), (4, 3), vjp=unconnected),
    part("-scalar", recipes={"element": picks((7,), ()), "row": picks((7, 5), (), "int64")}),
    part("-scalar-bytes", recipes={"element": picks((7,), ())}, vjp=None, dtypes=("bytes",)),
    program=lambda tf, x, i: tf.gather(x, i),
    limited=lambda tf, x, i: tf.raw_ops.GatherV2(params=x, indices=i, axis=0),
    reference=ref.take,
    vjp=params_only(ref.rows),
)
