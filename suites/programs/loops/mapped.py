"""One computation by `tf.map_fn`, `tf.scan`, `tf.vectorized_map` and a loop.

Each has the same values and gradients; with v2's control flow and, but for `vectorized_map`, with v1's.
"""

import numpy as np

from tf_opdiff.harness.spec.spec import Side, Sparse, Spec
from tf_opdiff.suites.forms.errors import raises
from tf_opdiff.suites.forms.programs.control_flow import XLA, arrays


def mapped(tf, api, x):
    """Each row times its sum."""
    return api.map_fn(lambda row: row * tf.reduce_sum(row), x)


def scanned(tf, api, x):
    """The same by scan, which ignores what it has accumulated."""
    return api.scan(lambda _, row: row * tf.reduce_sum(row), x, initializer=tf.zeros_like(x[0]))


def looped(tf, api, x):
    """The same by a loop with a TensorArray."""

    def body(i, rows):
        return i + 1, rows.write(i, x[i] * tf.reduce_sum(x[i]))

    n = tf.shape(x)[0]
    start = (tf.constant(0), tf.TensorArray(x.dtype, size=n, element_shape=x.shape[1:]))
    return api.while_loop(lambda i, _: i < n, body, start, maximum_iterations=n)[1].stack()


def vectorized(tf, x):
    """The same by vectorized_map."""
    return tf.vectorized_map(lambda row: row * tf.reduce_sum(row), x)


def mapped_pair(tf, api, x):
    """Two tensors in, two dtypes out."""
    return api.map_fn(
        lambda e: (e[0] * e[1], tf.cast(e[0] > 0, tf.int32)), (x, x + 1), fn_output_signature=(tf.float32, tf.int32)
    )


def mapped_ragged(tf, api, x):
    """Rows of different lengths out: a RaggedTensor."""
    n = tf.shape(x)[0]
    spec = tf.RaggedTensorSpec([None], tf.float32, ragged_rank=0)
    rows = lambda i: tf.RaggedTensor.from_tensor(x[i : i + 1, : i + 1] * 2)[0]  # noqa: E731
    return api.map_fn(rows, tf.range(n), fn_output_signature=spec).flat_values


def over_ragged(tf, api, x):
    """Rows of different lengths in: their sums."""
    rows = tf.RaggedTensor.from_row_splits(tf.reshape(x, [-1]), [0, 1, 1, 6])
    return api.map_fn(tf.reduce_sum, rows, fn_output_signature=tf.float32)


def nested(tf, api, x):
    """A map in a map."""
    return api.map_fn(lambda row: api.map_fn(lambda e: e * tf.reduce_sum(row), row), x)


def _rows(draw, d):
    """A recipe: three rows of two elements."""
    return (draw.values(d, 3, 2),)


def _none(draw, d):
    """A recipe: no rows."""
    return (draw.values(d, 0, 2),)


def _one(draw, d):
    """A recipe: one row."""
    return (draw.values(d, 1, 2),)


_ROWS = {"rows": _rows}
#: The recipe of no rows.
NONE = {"none": _none}
_RECIPES = {"rows": _rows, "one": _one}


def by_sum(x):
    """Each row times its sum."""
    return x * x.sum(1, keepdims=True)


def by_sum_vjp(g, x):
    """The VJP of `by_sum`."""
    return g * x.sum(1, keepdims=True) + (g * x).sum(1, keepdims=True)


def vectorized_vjp(g, x):
    """The VJP of `vectorized`: for one row, vectorized_map gathers it, and a gather has a sparse gradient."""
    dense = by_sum_vjp(g, x)
    return Sparse(dense, np.array([0]), x.shape) if len(x) == 1 else dense


#: The errors of a few sums and products of all elements.
SUMS = {
    "output": lambda u, g, x: 6.3 * u * np.abs(x).sum() * (1 + np.abs(x).max(initial=0)),
    "grad": lambda u, g, x: 10.7 * u * (1 + np.abs(x).sum()) * np.abs(g).sum(),
}


def maps(name, program, calls, **fields):
    """The specs of a program(tf, api, x) that calls a function of the API on three rows."""
    return arrays(name, program, calls=calls, **{"recipes": _ROWS} | fields)


_NO_RAGGED = {
    "*/xla": Side(
        reference=raises("INVALID_ARGUMENT", "unsupported operations"), why="XLA has no ragged tensors", link=XLA
    )
}


SPECS = (
    *maps("map-fn", mapped, "map_fn", reference=by_sum, vjp=by_sum_vjp, bound=SUMS),
    *maps("map-fn-as-loop", looped, "while_loop", reference=by_sum, vjp=by_sum_vjp, bound=SUMS),
    *maps("map-fn-as-scan", scanned, "scan", tier="full", reference=by_sum, vjp=by_sum_vjp, bound=SUMS),
    Spec(
        name="map-fn-as-vectorized",
        program=vectorized,
        reference=by_sum,
        vjp=vectorized_vjp,
        recipes=_RECIPES,
        ops="Mul;Sum",
        evidence="called:vectorized_map",
        bound=SUMS,
    ),
    *maps("map-fn-as-loop-of-nothing", looped, "while_loop", reference=by_sum, recipes=NONE),
    *maps("map-fn-of-no-rows", mapped, "map_fn", reference=by_sum, recipes=NONE),
    *maps(
        "map-fn-pair-of-no-rows",
        mapped_pair,
        "map_fn",
        tier="full",
        reference=lambda x: (x, x.astype(np.int32)),
        recipes=NONE,
    ),
    *maps("map-fn-nested", nested, "map_fn", tier="full", reference=by_sum, vjp=by_sum_vjp, bound=SUMS),
    *maps(
        "map-fn-pair",
        mapped_pair,
        "map_fn",
        reference=lambda x: (x * (x + 1), (x > 0).astype(np.int32)),
        vjp=lambda g, x: g[0] * (2 * x + 1),
        results=2,
        bound={
            "output[0]": lambda u, g, x: 4 * u * np.abs(x) * (1 + np.abs(x)),
            "grad": lambda u, g, x: 8 * u * (1 + np.abs(x)) * np.abs(g[0]),
        },
    ),
    *maps(
        "map-fn-ragged-in",
        over_ragged,
        "map_fn",
        contract=_NO_RAGGED,
        tier="full",
        reference=lambda x: np.array([x.flat[0], 0, x.ravel()[1:].sum()]),
        bound=SUMS,
    ),
    *maps(
        "map-fn-ragged-out",
        mapped_ragged,
        "map_fn",
        contract=_NO_RAGGED,
        reference=lambda x: np.concatenate([row[: i + 1] for i, row in enumerate(x)]) * 2,
        bound=SUMS,
    ),
)
