"""GatherV2, GatherNd, ResourceGather, ResourceGatherNd. Out of range a CPU raises; a GPU gives 0, or clamps by XLA."""

import numpy as np

from tf_opdiff.harness.spec.recipes import COMPLEX, FLOATS, INTEGERS
from tf_opdiff.harness.spec.spec import Raises, Side, Spec
from tf_opdiff.suites.references import gather as ref

FLOAT8 = ("float8_e4m3fn", "float8_e5m2")
SMOOTH = (*FLOATS, *COMPLEX)
ROUGH = (*INTEGERS, "bool", "bytes")  # nor does TensorFlow differentiate float8


def picks(params, indices, dtype="int32"):
    """A recipe: params of a shape, and indices of a shape into the dimension that has seven elements, some repeated."""
    return lambda draw, d: (draw.values(d, *params), draw.integers(*indices, low=0, high=7).astype(dtype))


def distinct(params, indices, dtype="int32"):
    """The same, without repeats within a row of indices."""

    def recipe(draw, d):
        order = draw.bits(*indices[:-1], 7).argsort(-1, stable=True)
        return draw.values(d, *params), order[..., : indices[-1]].astype(dtype)

    return recipe


def tuples(params, indices, dtype="int32"):
    """A recipe: params of a shape, and index tuples into it."""

    def recipe(draw, d):
        x, depth = draw.values(d, *params), indices[-1]
        parts = [draw.integers(*indices[:-1], low=0, high=n) for n in params[:depth]]
        return x, np.stack(parts, -1).astype(dtype)

    return recipe


def distinct_tuples(params, indices, dtype="int32"):
    """The same, without repeats."""

    def recipe(draw, d):
        shape = params[: indices[-1]]
        order = draw.bits(np.prod(shape)).argsort(stable=True)[: indices[0]]
        return draw.values(d, *params), np.stack(np.unravel_index(order, shape), -1).astype(dtype)

    return recipe


def given(params, indices, dtype="int32"):
    """A recipe: params of a shape, and the indices as they stand."""
    return lambda draw, d: (draw.values(d, *params), np.array(indices, dtype))


def both(recipe, *shapes):
    """A recipe: params, and two sets of indices into them, of int32 and of int64."""

    def made(draw, d):
        (x, i), (_, j) = (recipe(*shapes, dtype)(draw, d) for dtype in ("int32", "int64"))
        return x, i, j

    return {"int32_int64": made}


def params_only(vjp):
    """A VJP that has nothing for the indices."""
    return lambda g, x, i: (vjp(g, x, i), None)


def variable_only(vjp):
    """The VJP of a program that reads a variable that was made from its input: nothing to the input."""
    return lambda g, x, i: (None, None, vjp(g, x, i))


def unconnected(g, *inputs):
    """The VJP of dtypes that have none."""
    return (None,) * len(inputs)


def variable(tf, x, *indices):
    """A resource variable that holds the params."""
    return {"v": tf.Variable(x)}


DOCUMENTED = "https://www.tensorflow.org/api_docs/python/tf/gather"


def sides(clamped, zeroed, vjp):
    """The contract of accelerators out of range; a CPU raises. A gradient goes nowhere, or stays in sparse form."""
    xla = Side(
        reference=clamped,
        vjp=vjp,
        why="on an accelerator XLA clamps the indices of a gather, and drops the updates of a scatter out of range",
        link="https://openxla.org/xla/operation_semantics#gather",
    )
    gpu = Side(reference=zeroed, vjp=vjp, why="on GPU a 0 is stored in the corresponding output value", link=DOCUMENTED)
    return {"gpu/xla": xla, "tpu/xla": xla, "gpu/*": gpu}


def no_gpu_kernel(reference, vjp, why):
    """The contract of an attribute for which no GPU kernel is registered: only XLA can express it there."""
    eager = Side(reference=lambda x, i: Raises("NOT_FOUND"), why=why)
    placed = Side(reference=lambda x, i: Raises("INVALID_ARGUMENT"), why=why)
    return {"gpu/xla": Side(reference=reference, vjp=vjp, why=why), "gpu/eager": eager, "gpu/*": placed}


#: (2, 1) is out of range in the place where (2, 0) is in range, should 64 bits be cut to 32.
BAD = {"at_end": 5, "beyond_int32": 2**32 + 1, "lowest_int64": -(2**63), "negative": -1, "too_large": 1000}
WRONG = {name: given((5, 3), [2, 0, bad, 2], "int64") for name, bad in BAD.items()} | {
    "negative_int32": given((5, 3), [2, 0, -1, 2]),
    "too_large_int32": given((5, 3), [2, 0, 5, 2]),
    "empty_params": given((0, 3), [0, 0]),
}
WRONG_ND = {name: given((5, 3), [[2, 1], [0, bad], [2, 1]], "int64") for name, bad in BAD.items()} | {
    "first": given((5, 3), [[5, 0], [0, 1]], "int64"),
    "int32": given((5, 3), [[2, 1], [0, -1]]),
    "rows": given((5, 3), [[2], [5], [0]]),
    "empty_params": given((0, 3), [[0], [0]]),
}

ACCELERATORS = (
    "an error is raised; accelerators generally don't support ERROR: no GPU kernel, and XLA does not look at it"
)

AXES = (  # name, axis, batch_dims, shapes of params and indices; seven elements lie along the axis
    ("axis-last", -1, 0, (3, 7), (5,)),
    ("axis1", 1, 0, (3, 7, 2), (4, 2)),
    ("batch-from-last", 2, -1, (2, 3, 7), (2, 3, 4)),
    ("batch1", 1, 1, (3, 7, 2), (3, 4)),
    ("batch1-axis2", 2, 1, (3, 2, 7), (3, 4)),
    ("batch2", 2, 2, (2, 3, 7), (2, 3, 4)),
)


def along_axis(name, axis, batch, params, indices):
    """Gather along one axis of several; the gradient is dense."""
    where = {"axis": axis % len(params), "batch": batch % len(indices) if batch < 0 else batch}
    return Spec(
        name=f"gather-{name}",
        ops="GatherV2",
        program=lambda tf, x, i: tf.gather(x, i, axis=axis, batch_dims=batch),
        reference=lambda x, i: ref.take(x, i, **where),
        vjp=params_only(lambda g, x, i: ref.put(g, x, i, **where)),
        bound={"grad[0]": lambda u, g, x, i: ref.summed(ref.put)(u, g, x, i, **where)},
        recipes={"int32": distinct(params, indices), "int64": picks(params, indices, "int64")},
        dtypes=SMOOTH if name == "axis1" else ("float32",),
    )


def along_axis_out_of_range(name, axis, batch, recipes):
    """The same, out of range."""
    where = {"axis": axis, "batch": batch}
    return Spec(
        name=f"gather-{name}-out-of-range",
        ops="GatherV2",
        program=lambda tf, x, i: tf.gather(x, i, axis=axis, batch_dims=batch),
        reference=lambda x, i: ref.refused(x, i, **where),
        recipes=recipes,
        contract=sides(
            lambda x, i: ref.clamped(x, i, **where),
            lambda x, i: ref.zeroed(x, i, **where),
            params_only(lambda g, x, i: ref.put(g, x, i, **where)),
        ),
    )


def nd_policy(policy, contract):
    """GatherNd with one index out of range, for a policy that refuses it on CPU."""
    return Spec(
        name=f"gather-nd-out-of-range-{policy.lower() or 'unnamed'}",
        ops="GatherNd",
        program=lambda tf, x, i: tf.gather_nd(x, i, bad_indices_policy=policy),
        reference=ref.refused_nd,
        bound={"grad[0]": ref.summed_nd},
        recipes=WRONG_ND,
        contract=contract,
    )


ND_SIDES = sides(ref.clamped_nd, ref.zeroed_nd, params_only(ref.rows_nd))
SPECS = (
    Spec(
        name="gather",
        ops="GatherV2",
        program=lambda tf, x, i: tf.gather(x, i),
        reference=ref.take,
        vjp=params_only(ref.rows),
        recipes={dtype: picks((7, 5), (4, 3), dtype) for dtype in ("int32", "int64")},
        dtypes=SMOOTH,
    ),
    *(along_axis(*each) for each in AXES),
    along_axis_out_of_range(
        "axis1",
        1,
        0,
        {"negative": given((2, 7), [[0, -1], [6, 0]]), "too_large": given((2, 7), [[3, 6], [3, 7]], "int64")},
    ),
    along_axis_out_of_range(
        "batch1", 1, 1, {"negative": given((2, 7), [[0, 1], [-9, 0]]), "too_large": given((2, 7), [[3, 2], [3, 7]])}
    ),
    along_axis_out_of_range(  # an index that is out of range in one element of a batch is in range in the next one
        "batch1-next",
        1,
        1,
        {"negative": given((2, 7), [[0, 1], [-7, 0]]), "too_large": given((2, 7), [[3, 7], [3, 6]])},
    ),
    along_axis_out_of_range(
        "batch1-int64",
        1,
        1,
        {
            "beyond_int32": given((2, 7), [[3, 2], [3, 2**32 + 1]], "int64"),
            "negative": given((2, 7), [[0, 1], [-9, 0]], "int64"),
        },
    ),
    Spec(
        name="gather-densified",  # what a Reshape does to the gradient of its output
        ops="GatherV2;Reshape",
        program=lambda tf, x, i: tf.gather(tf.reshape(x, x.shape), i),
        reference=ref.take,
        vjp=params_only(ref.put),
        bound={"grad[0]": ref.summed(ref.put)},
        recipes={"distinct": distinct((7, 5), (6,), "int64"), "repeated": picks((7, 5), (9, 3), "int64")},
        dtypes=SMOOTH,
        tier="smoke",
    ),
    Spec(
        name="gather-empty",
        ops="GatherV2;Reshape",
        program=lambda tf, x, i: (tf.gather(x, i), tf.gather(tf.reshape(x, x.shape), i)),
        reference=lambda x, i: (ref.take(x, i), ref.take(x, i)),
        vjp=params_only(lambda g, x, i: ref.put(g[0] + g[1], x, i)),
        recipes={"indices": picks((7, 5), (0,)), "params": picks((0, 5), (0,)), "slices": picks((7, 0), (4,))},
    ),
    Spec(
        name="gather-empty-slices-out-of-range",
        ops="GatherV2",
        program=lambda tf, x, i: tf.gather(x, i),
        reference=ref.refused,
        recipes={"too_large": given((5, 0), [0, 9])},
        contract=sides(ref.clamped, ref.zeroed, params_only(ref.rows)),
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
    Spec(
        name="gather-nd",
        ops="GatherNd",
        program=lambda tf, x, i: tf.gather_nd(x, i),
        reference=ref.take_nd,
        vjp=params_only(ref.rows_nd),
        bound={"grad[0]": ref.summed_nd},
        recipes={"int32": distinct_tuples((3, 4, 2), (11, 2)), "int64": tuples((3, 4, 2), (11, 2), "int64")},
        dtypes=SMOOTH,
    ),
    Spec(
        name="gather-nd-batch1",
        ops="GatherNd",
        program=lambda tf, x, i: tf.gather_nd(x, i, batch_dims=1),
        reference=lambda x, i: ref.take_nd(x, i, batch=1),
        vjp=params_only(lambda g, x, i: ref.put_nd(g, x, i, batch=1)),
        bound={"grad[0]": lambda u, g, x, i: ref.summed(ref.put_nd)(u, g, x, i, batch=1)},
        recipes={"slices": picks((3, 7, 2), (3, 4, 1)), "elements": picks((3, 7), (3, 1), "int64")},
    ),
    Spec(
        name="gather-nd-depths",
        ops="GatherNd",
        program=lambda tf, x, i: tf.gather_nd(x, i),
        reference=ref.take_nd,
        vjp=params_only(ref.rows_nd),
        bound={"grad[0]": ref.summed_nd},
        recipes={
            "elements": tuples((3, 4, 2), (5, 3), "int64"),
            "empty_indices": picks((7, 3), (0, 1)),
            "empty_params": picks((0, 3), (0, 1)),
            "rows": picks((7, 3), (4, 1)),
            "rows_matrix": picks((7, 3), (4, 2, 1)),
        },
    ),
    Spec(
        name="gather-nd-ignore",
        ops="GatherNd",
        program=lambda tf, x, i: tf.gather_nd(x, i, bad_indices_policy="IGNORE"),
        reference=ref.zeroed_nd,
        vjp=params_only(ref.rows_nd),
        bound={"grad[0]": ref.summed_nd},
        recipes={name: recipe for name, recipe in WRONG_ND.items() if name != "empty_params"},
    ),
    Spec(
        name="gather-nd-ignore-densified",
        ops="GatherNd;Reshape",
        program=lambda tf, x, i: tf.gather_nd(tf.reshape(x, x.shape), i, bad_indices_policy="IGNORE"),
        reference=ref.zeroed_nd,
        vjp=params_only(ref.put_nd),
        recipes={"negative": given((5, 3), [[2], [-1], [0]]), "too_large": given((5, 3), [[2], [5], [0]])},
    ),
    Spec(
        name="gather-nd-int16-indices",
        ops="GatherNd",
        program=lambda tf, x, i: tf.gather_nd(x, i),
        reference=ref.take_nd,
        vjp=params_only(ref.put_nd),
        bound={"grad[0]": ref.summed_nd},
        recipes={"distinct": distinct_tuples((3, 4, 2), (11, 2), "int16")},
        contract=no_gpu_kernel(ref.take_nd, params_only(ref.put_nd), "GatherNd has no GPU kernel for int16 indices"),
    ),
    nd_policy("", ND_SIDES),
    nd_policy("DEFAULT", ND_SIDES),
    nd_policy("ERROR", no_gpu_kernel(ref.clamped_nd, params_only(ref.rows_nd), ACCELERATORS) | ND_SIDES),
    Spec(
        name="gather-nd-rough",
        ops="GatherNd",
        program=lambda tf, x, i, j: (tf.gather_nd(x, i), tf.gather_nd(x, j)),
        reference=lambda x, i, j: (ref.take_nd(x, i), ref.take_nd(x, j)),
        vjp=unconnected,
        recipes=both(tuples, (3, 4, 2), (11, 2)),
        dtypes=(*FLOAT8, *ROUGH),
    ),
    Spec(
        name="gather-nd-vector",
        ops="GatherNd",
        program=lambda tf, x, i: tf.gather_nd(x, i),
        reference=ref.take_nd,
        vjp=params_only(ref.put_nd),
        recipes={"row": given((7, 3), [4]), "element": given((7, 3), [4, 2]), "whole": given((7, 3), [])},
    ),
    Spec(
        name="gather-out-of-range",
        ops="GatherV2",
        program=lambda tf, x, i: tf.gather(x, i),
        reference=ref.refused,
        recipes=WRONG,
        contract=sides(ref.clamped, ref.zeroed, params_only(ref.rows)),
        tier="smoke",
    ),
    Spec(
        name="gather-out-of-range-rough",
        ops="GatherV2",
        program=lambda tf, x, i: tf.gather(x, i),
        reference=ref.refused,
        recipes={"negative": WRONG["negative"]},
        dtypes=("bool", "bytes", "int32", "uint64"),
        contract=sides(ref.clamped, ref.zeroed, unconnected),
    ),
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
    Spec(
        name="resource-gather",
        ops="ResourceGather",
        state=variable,
        program=lambda tf, state, x, i: tf.gather(state["v"], i),
        reference=ref.take,
        vjp=variable_only(ref.rows),
        recipes={dtype: picks((7, 5), (4, 3), dtype) for dtype in ("int32", "int64")},
        dtypes=SMOOTH,
    ),
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
    Spec(
        name="resource-gather-nd",
        ops="ResourceGatherNd",
        state=variable,
        program=lambda tf, state, x, i: tf.gather_nd(state["v"], i),
        reference=ref.take_nd,
        vjp=variable_only(ref.rows_nd),
        bound={"grad[2]": ref.summed_nd},
        recipes={"elements": tuples((3, 4, 2), (5, 3), "int64"), "rows": picks((7, 3), (4, 1))},
    ),
    Spec(
        name="resource-gather-nd-out-of-range",
        ops="ResourceGatherNd",
        state=variable,
        program=lambda tf, state, x, i: tf.gather_nd(state["v"], i),
        reference=ref.refused_nd,
        bound={"grad[2]": ref.summed_nd},
        recipes={name: WRONG_ND[name] for name in ("beyond_int32", "int32", "rows")},
        contract=sides(ref.clamped_nd, ref.zeroed_nd, variable_only(ref.rows_nd)),
    ),
    Spec(
        name="resource-gather-out-of-range",
        ops="ResourceGather",
        state=variable,
        program=lambda tf, state, x, i: tf.gather(state["v"], i),
        reference=ref.refused,
        recipes={name: WRONG[name] for name in ("beyond_int32", "empty_params", "negative_int32", "too_large_int32")},
        contract=sides(ref.clamped, ref.zeroed, variable_only(ref.rows)),
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
