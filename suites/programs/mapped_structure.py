"""Functions for `tf.map_fn`, `tf.scan`, `tf.foldl` and `tf.vectorized_map` whose results do not fit; empty inputs."""

from functools import partial
from typing import Any

import numpy as np

from tf_opdiff.harness.spec.spec import Side, Spec
from tf_opdiff.suites.forms.branches import ROUNDED
from tf_opdiff.suites.forms.control_flow import WHILE, XLA, eager, loops
from tf_opdiff.suites.forms.errors import raises


def other_dtype(tf, api, x):
    """An integer result where the signature, by default that of the input, says float."""
    return api.map_fn(lambda row: tf.cast(row, tf.int32), x)


def declared_dtype(tf, api, x):
    """A float result where the signature says integer."""
    return api.map_fn(lambda row: row * 2, x, fn_output_signature=tf.int32)


def declared_shape(tf, api, x):
    """Two elements where the signature says three."""
    return api.map_fn(lambda row: row * 2, x, fn_output_signature=tf.TensorSpec([3], tf.float32))


def declared_number(tf, api, x):
    """One result where the signature says two."""
    return api.map_fn(lambda row: row * 2, x, fn_output_signature=(tf.float32, tf.float32))


def undeclared_number(tf, api, x):
    """Two results where the signature, that of the input, says one."""
    return api.map_fn(lambda row: (row, row * 2), x)[0]


def returns_none(tf, api, x):
    """None in place of a tensor."""
    return api.map_fn(lambda row: None, x)


def different_shapes(tf, api, x):
    """A result whose length depends on the values, which differ from row to row."""
    return api.map_fn(lambda i: x[0, : tf.cast(i, tf.int32) + 1], tf.range(2.0) + x[0, 0] * 0)


def different_lengths(tf, api, x):
    """Two inputs of different lengths."""
    return api.map_fn(lambda e: e[0] + e[1], (x, x[:2]), fn_output_signature=tf.float32)


def of_scalar(tf, api, x):
    """A scalar input."""
    return api.map_fn(lambda e: e * 2, x[0, 0])


def of_nothing(tf, api, x):
    """An empty tuple of inputs."""
    return api.map_fn(lambda e: x, ())


def scan_dtype(tf, api, x):
    """A step that changes the dtype of the accumulator."""
    return api.scan(lambda a, row: tf.cast(row, tf.int32), x)


def scan_shape(tf, api, x):
    """A step that changes the shape of the accumulator."""
    return api.scan(lambda a, row: tf.concat([a, row], 0), x)


def scan_structure(tf, api, x):
    """A step that returns two values for one accumulator."""
    return api.scan(lambda a, row: (a, row), x)[0]


def fold_shape(tf, api, x):
    """A step that lengthens the accumulator."""
    return api.foldl(lambda a, row: tf.concat([a, row], 0), x)


def fold_dtype(tf, api, x):
    """A step that changes the dtype of the accumulator."""
    return api.foldl(lambda a, row: tf.cast(row, tf.int32), x)


def fold_structure(tf, api, x):
    """A step that returns two values for one accumulator."""
    return api.foldl(lambda a, row: (a, row), x)[0]


def vectorized_lengths(tf, x):
    """Two inputs of different lengths."""
    return tf.vectorized_map(lambda e: e[0] + e[1], (x, x[:2]))


def vectorized_one(tf, x):
    """An input of length one beside one of length three: it is broadcast."""
    return tf.vectorized_map(lambda e: e[0] + e[1], (x, x[:1]))


def vectorized_constant(tf, x):
    """A function that ignores its input."""
    return tf.vectorized_map(lambda row: tf.constant([1.0, 2.0]), x) + x * 0


def vectorized_cond(tf, x):
    """A cond on each element's value."""
    return tf.vectorized_map(lambda row: tf.cond(row[0] > 0, lambda: row * 2, lambda: row * 3), x * 1.0)


def vectorized_loop(tf, x):
    """A loop whose number of iterations depends on the element."""

    def powers(row):
        n = tf.cast(tf.abs(row[0]), tf.int32)
        body = lambda i, y: (i + 1, y * 2)  # noqa: E731
        return tf.while_loop(lambda i, _: i < n, body, (tf.constant(0), row))[1]

    return tf.vectorized_map(powers, x)


def vectorized_shapes(tf, x):
    """A result whose length depends on the element."""
    return tf.vectorized_map(lambda e: x[0, : tf.cast(e[0], tf.int32)], tf.constant([[1.0], [2.0]]))


def vectorized_dict(tf, x):
    """A dict in, a dict with other keys out."""
    y = tf.vectorized_map(lambda d: {"p": d["a"] * d["b"], "q": d["a"]}, {"a": x, "b": x + 1})
    return y["p"], y["q"]


def vectorized_none(tf, x):
    """None beside a tensor."""
    return tf.vectorized_map(lambda row: (row * 2, None), x)[0]


def vectorized_scalar(tf, x):
    """A scalar input."""
    return tf.vectorized_map(lambda e: e * 2, x[0, 0])


def _rows(draw, d):
    """A recipe: three rows of two elements."""
    return (draw.values(d, 3, 2),)


def _none(draw, d):
    """A recipe: no rows."""
    return (draw.values(d, 0, 2),)


_ROWS = {"rows": _rows}


def _maps(name, program, calls, **fields):
    settings: dict[str, Any] = {"recipes": _ROWS, "ulp": ROUNDED}
    return loops(name, program, calls=calls, **settings | fields)


def _vectorized(name, program, **fields):
    settings: dict[str, Any] = {"recipes": _ROWS, "ops": "", "evidence": "called:vectorized_map"}
    return Spec(name=f"vectorized-map-{name}", program=program, **settings | fields)


def doubled(x):
    """The reference of `vectorized_loop`."""
    return x * 2.0 ** np.trunc(np.abs(x[:, :1]))


_EAGER = partial(eager, link=WHILE)
_NO_SCATTER = {
    "*/xla": Side(
        reference=raises("INVALID_ARGUMENT", "unsupported operations"),
        why="XLA has no kernel of TensorListScatterIntoExistingList, by which a vectorized loop collects its results",
        link=XLA,
    )
}
_CLAMPED = {
    "*/xla": Side(
        reference=lambda x: x + x[[0, 1, 1]],
        why="XLA clamps the indices of a gather, by which vectorized_map reads its inputs",
        link="https://openxla.org/xla/operation_semantics#gather",
    ),
    "gpu/*": Side(
        reference=lambda x: x + np.concatenate([x[:2], 0 * x[2:]]),
        why="on GPU a 0 is stored in the corresponding output value of a gather",
        link="https://www.tensorflow.org/api_docs/python/tf/gather",
    ),
}


SPECS = (
    *_maps("map-fn-declared-dtype", declared_dtype, "map_fn", reference=raises("INVALID_ARGUMENT")),
    *_maps("map-fn-declared-number", declared_number, "map_fn", reference=raises("ValueError")),
    *_maps("map-fn-declared-shape", declared_shape, "map_fn", reference=raises("ValueError")),
    *_maps("map-fn-different-lengths", different_lengths, "map_fn", reference=raises("ValueError")),
    *_maps("map-fn-different-shapes", different_shapes, "map_fn", reference=raises("INVALID_ARGUMENT")),
    *_maps("map-fn-of-nothing", of_nothing, "map_fn", reference=raises("ValueError")),
    *_maps("map-fn-of-scalar", of_scalar, "map_fn", reference=raises("ValueError", "not scalars")),
    *_maps("map-fn-other-dtype", other_dtype, "map_fn", reference=raises("INVALID_ARGUMENT")),
    *_maps("map-fn-returns-none", returns_none, "map_fn", reference=raises("ValueError")),
    *_maps("map-fn-undeclared-number", undeclared_number, "map_fn", reference=raises("ValueError")),
    *_maps(
        "scan-changes-dtype",
        scan_dtype,
        "scan",
        reference=raises("TypeError"),
        contract=_EAGER(raises("INVALID_ARGUMENT")),
    ),
    *_maps("scan-changes-shape", scan_shape, "scan", reference=raises("ValueError")),
    *_maps("scan-changes-structure", scan_structure, "scan", reference=raises("ValueError")),
    *_maps(
        "fold-changes-dtype",
        fold_dtype,
        "foldl",
        reference=raises("TypeError"),
        contract=_EAGER(lambda x: x[-1].astype(np.int32)),
    ),
    *_maps(
        "fold-changes-shape", fold_shape, "foldl", reference=raises("ValueError"), contract=_EAGER(lambda x: x.ravel())
    ),
    *_maps("fold-changes-structure", fold_structure, "foldl", reference=raises("ValueError")),
    _vectorized(
        "cond",
        vectorized_cond,
        reference=lambda x: x * np.where(x[:, :1] > 0, 2, 3),
        vjp=lambda g, x: g * np.where(x[:, :1] > 0, 2, 3),
        ulp=ROUNDED,
    ),
    _vectorized("constant", vectorized_constant, reference=lambda x: np.tile([1.0, 2.0], (len(x), 1)), recipes=_ROWS),
    _vectorized(
        "dict",
        vectorized_dict,
        reference=lambda x: (x * (x + 1), x),
        vjp=lambda g, x: g[0] * (2 * x + 1) + g[1],
        bound={
            "output[0]": lambda u, g, x: 4 * u * np.abs(x) * (1 + np.abs(x)),
            "grad": lambda u, g, x: 8 * u * ((1 + np.abs(x)) * np.abs(g[0]) * 2 + np.abs(g[1])),
        },
    ),
    _vectorized(
        "different-lengths", vectorized_lengths, reference=raises("INVALID_ARGUMENT"), contract=_CLAMPED, ulp=ROUNDED
    ),
    _vectorized("loop", vectorized_loop, tier="full", reference=doubled, contract=_NO_SCATTER),
    _vectorized("none", vectorized_none, reference=lambda x: x * 2, ulp=ROUNDED),
    _vectorized(
        "of-nothing",
        lambda tf, x: tf.vectorized_map(lambda row: row * 2, x),
        reference=lambda x: x * 2,
        recipes={"none": _none},
    ),
    _vectorized("of-scalar", vectorized_scalar, reference=raises("ValueError")),
    _vectorized("one-element", vectorized_one, reference=lambda x: x + x[:1], ulp=ROUNDED),
    _vectorized("shapes", vectorized_shapes, reference=raises("INVALID_ARGUMENT")),
)
