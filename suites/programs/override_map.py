"""Ops that `gradient_override_map` reaches, and ops that it does not reach.

The map marks the nodes of one graph. Whoever differentiates that graph afterwards reads the mark: `tf.gradients`, or a
tape around a call of a `tf.function`. A tape that sees the op itself does not, wherever it is, which the documentation
does not say: see the known failures.
"""

from functools import partial

import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import COMPLEX, FLOATS
from tf_opdiff.harness.spec.spec import Raises, Side, Spec
from tf_opdiff.suites.forms.programs.override_map import called
from tf_opdiff.suites.forms.programs.override_map import (
    overriding as _overriding,  # the name by which recordings know it
)
from tf_opdiff.suites.forms.recipes.quarters import MATRIX, PAIR, quarters
from tf_opdiff.suites.reference.control_flow.overrides import rows_vjp

GRADIENTS_LINK = "https://www.tensorflow.org/api_docs/python/tf/gradients"


# `_twice` and `_eightfold` stand in for the gradient of Floor and Ceil, which have none.
def _twice(op, g):
    return -2 * g


def _eightfold(op, g):
    return 8 * g


def _map_absent(tf, x):
    with _overriding(tf, {"Ceil": _twice}):
        return tf.floor(x)


def _map_around_call(tf, x):
    floor = tf.function(lambda x: tf.floor(x), autograph=False)
    with _overriding(tf, {"Floor": _twice}):
        return floor(x)


def _map_around_cond(tf, x):
    with _overriding(tf, {"Floor": _twice}):
        return tf.cond(tf.size(x) > 1, lambda: tf.floor(x), lambda: tf.math.ceil(x))


def _map_left(tf, x):
    with _overriding(tf, {"Floor": _twice}):
        inside = tf.floor(x)
    return inside, tf.floor(x)


def _map_nested(tf, x):
    with _overriding(tf, {"Floor": _twice}):
        with _overriding(tf, {"Floor": _eightfold}):
            inner = tf.floor(x)
        return inner, tf.floor(x)


def _map_nested_types(tf, x):
    with _overriding(tf, {"Floor": _twice}), _overriding(tf, {"Ceil": _eightfold}):
        return tf.floor(x), tf.math.ceil(x)


def _map_none(tf, x):
    def none(op, g):
        return None

    with _overriding(tf, {"Identity": none}):
        return tf.identity(x)


def _map_not_names(tf, x):
    with tf.compat.v1.get_default_graph().gradient_override_map({"Floor": 3}):
        return tf.floor(x)


def _map_old_name(tf, c, x, z):
    with _overriding(tf, {"Select": _eightfold}):
        return tf.where(c, x, z)


def _map_sparse(tf, x):
    def rows(op, g):
        return tf.IndexedSlices(tf.gather(g, [2, 0]), tf.constant([2, 0]), tf.constant([3, 5]))

    with _overriding(tf, {"Identity": rows}):
        return tf.identity(x)


def _map_symbolic(tf, x, g):
    with _overriding(tf, {"Identity": _twice}):
        y = tf.identity(x)
    return y, tf.gradients(y, x, grad_ys=g)[0]


def _map_taken(tf, x):
    tf.RegisterGradient("Floor")(_twice)
    return tf.floor(x)


def _map_taped(tf, x, g):
    with tf.GradientTape() as tape:
        tape.watch(x)
        with _overriding(tf, {"Identity": _twice}):
            y = tf.identity(x)
    return y, tape.gradient(y, x, output_gradients=g)


def _map_two_inputs(tf, x, z):
    def second_only(op, g):
        return None, g * op.inputs[0]

    with _overriding(tf, {"Mul": second_only}):
        return tf.multiply(x, z)


def _map_unregistered(tf, x):
    with _overriding(tf, {"Floor": "TfOpdiffRegisteredByNobody"}):
        return tf.floor(x)


def _map_wrong_shape(tf, x):
    def total(op, g):
        return tf.reduce_sum(g)

    with _overriding(tf, {"Floor": total}):
        return tf.floor(x)


SYMBOLIC = Side(
    reference=lambda x, g: Raises("RuntimeError", "tf.gradients is not supported"),
    why="tf.gradients is not supported when eager execution is enabled.",
    link=GRADIENTS_LINK,
)
_MAP_LINK = "https://www.tensorflow.org/api_docs/python/tf/Graph#gradient_override_map"
UNREGISTERED = Side(
    reference=np.floor,
    vjp=lambda g, x: Raises("LookupError", "No gradient defined"),
    why="gradient_override_map names registered gradient functions, and this name is not registered",
    link=_MAP_LINK,
)
WRONG_SHAPE = Side(
    reference=np.floor,
    vjp=lambda g, x: Raises("ValueError", "shape"),
    why="a registered gradient function returns a gradient of the shape of the input, and this one does not",
    link="https://www.tensorflow.org/api_docs/python/tf/RegisterGradient",
)

Floor = partial(Spec, reference=np.floor, recipes=MATRIX, ops="Floor")
Same = partial(Spec, recipes=MATRIX, ops="Identity")


SPECS = (
    Floor(name="map-absent", program=_map_absent, vjp=lambda g, x: None),
    Floor(name="map-around-call", program=_map_around_call, vjp=lambda g, x: None),
    Floor(name="map-around-cond", program=_map_around_cond, vjp=lambda g, x: None),
    Floor(
        name="map-left",
        program=called(_map_left),
        reference=lambda x: (np.floor(x), np.floor(x)),
        vjp=lambda g, x: -2 * g[0],
    ),
    Floor(
        name="map-nested",
        program=called(_map_nested),
        reference=lambda x: (np.floor(x), np.floor(x)),
        vjp=lambda g, x: 8 * g[0] - 2 * g[1],
        ulp={"grad": 0.5},
        dtypes=FLOATS,
    ),
    Floor(
        name="map-nested-types",
        program=called(_map_nested_types),
        reference=lambda x: (np.floor(x), np.ceil(x)),
        vjp=lambda g, x: -2 * g[0] + 8 * g[1],
        ulp={"grad": 0.5},
        ops="Floor;Ceil",
    ),
    Same(name="map-none", program=called(_map_none), reference=lambda x: x, vjp=lambda g, x: None),
    Floor(name="map-not-names", program=_map_not_names, reference=lambda x: Raises("TypeError", "mapping strings")),
    Spec(  # tf.where makes SelectV2, which a map of its old name does not reach
        name="map-select-by-its-old-name",
        program=called(_map_old_name),
        reference=np.where,
        vjp=lambda g, c, x, z: (None, np.where(c, g, 0), np.where(c, 0, g)),
        recipes={"matrix": lambda draw, d: (draw.booleans(3, 5), quarters(draw, d, 3, 5), quarters(draw, d, 3, 5))},
        ops="SelectV2",
        evidence="called:Graph.gradient_override_map",
    ),
    Same(name="map-sparse", program=called(_map_sparse), reference=lambda x: x, vjp=rows_vjp),
    Same(
        name="map-symbolic",
        program=_map_symbolic,
        reference=lambda x, g: (x, -2 * g),
        recipes=PAIR,
        dtypes=(*FLOATS, *COMPLEX),
        contract={"*/eager": SYMBOLIC},
    ),
    Floor(name="map-taken-name", program=_map_taken, reference=lambda x: Raises("KeyError", "two gradient with name")),
    Same(name="map-taped", program=_map_taped, reference=lambda x, g: (x, -2 * g), recipes=PAIR),
    Same(
        name="map-two-inputs",
        program=called(_map_two_inputs),
        reference=lambda x, z: x * z,
        vjp=lambda g, x, z: (None, g * x),
        ulp={"grad": 0.5},
        recipes=PAIR,
        ops="Mul",
    ),
    Floor(
        name="map-unregistered",
        program=called(_map_unregistered),
        vjp=lambda g, x: None,
        contract={"*/*": UNREGISTERED},
    ),
    Floor(
        name="map-unregistered-taped",
        program=_map_unregistered,
        vjp=lambda g, x: None,
        contract={"*/*": UNREGISTERED},
    ),
    Floor(
        name="map-wrong-shape",
        program=called(_map_wrong_shape),
        vjp=lambda g, x: None,
        contract={"*/*": WRONG_SHAPE},
    ),
)
