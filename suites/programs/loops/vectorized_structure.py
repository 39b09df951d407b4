"""Functions for `tf.vectorized_map`: conds, loops and structures, results that do not fit, and empty inputs."""

from typing import Any

import numpy as np

from tf_opdiff.harness.spec.spec import Side, Spec
from tf_opdiff.suites.forms.errors import raises
from tf_opdiff.suites.forms.programs.branches import ROUNDED
from tf_opdiff.suites.forms.programs.control_flow import XLA


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


def _vectorized(name, program, **fields):
    settings: dict[str, Any] = {"recipes": {"rows": _rows}, "ops": "", "evidence": "called:vectorized_map"}
    return Spec(name=f"vectorized-map-{name}", program=program, **settings | fields)


def doubled(x):
    """The reference of `vectorized_loop`."""
    return x * 2.0 ** np.trunc(np.abs(x[:, :1]))


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
    _vectorized(
        "cond",
        vectorized_cond,
        reference=lambda x: x * np.where(x[:, :1] > 0, 2, 3),
        vjp=lambda g, x: g * np.where(x[:, :1] > 0, 2, 3),
        ulp=ROUNDED,
    ),
    _vectorized("constant", vectorized_constant, reference=lambda x: np.tile([1.0, 2.0], (len(x), 1))),
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
