"""Functions for `tf.map_fn`, `tf.scan` and `tf.foldl` whose results do not fit; empty inputs."""

from functools import partial
from typing import Any

import numpy as np

from tf_opdiff.suites.forms.errors import raises
from tf_opdiff.suites.forms.programs.branches import ROUNDED
from tf_opdiff.suites.forms.programs.control_flow import WHILE, eager, loops


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


def _rows(draw, d):
    """A recipe: three rows of two elements."""
    return (draw.values(d, 3, 2),)


_ROWS = {"rows": _rows}


def _maps(name, program, calls, **fields):
    settings: dict[str, Any] = {"recipes": _ROWS, "ulp": ROUNDED}
    return loops(name, program, calls=calls, **settings | fields)


_EAGER = partial(eager, link=WHILE)


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
)
