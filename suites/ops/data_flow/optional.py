"""Optionals: OptionalFromValue, OptionalGetValue, OptionalHasValue and OptionalNone, with the gradients of values."""

import numpy as np

from tf_opdiff.harness.spec.plan import MODES, WITHOUT_XLA
from tf_opdiff.harness.spec.recipes import COMPLEX, FLOATS, INTEGERS
from tf_opdiff.harness.spec.spec import Raises, Spec
from tf_opdiff.suites.forms.of_xla import FLOAT8_OF_CPU, OF_XLA

#: The dtypes of specs that have no XLA.
_WITHOUT_XLA = (*FLOAT8_OF_CPU, *OF_XLA, "int2", "uint2", "float4_e2m1fn", "object")
_OPS = "OptionalFromValue;OptionalGetValue;OptionalHasValue;OptionalNone"


def _round(tf, x, y):
    """Both values out of an optional, whether it has values, and whether an empty one has."""
    raw = tf.raw_ops
    optional = raw.OptionalFromValue(components=[x, y])
    values = raw.OptionalGetValue(optional=optional, output_types=[x.dtype, y.dtype], output_shapes=[x.shape, y.shape])
    return *values, raw.OptionalHasValue(optional=optional), raw.OptionalHasValue(optional=raw.OptionalNone())


def _get(tf, optional, x, shape=None, dtype=None):
    """The only value of an optional; its dtype and shape are those of x by default."""
    values = tf.raw_ops.OptionalGetValue(
        optional=optional, output_types=[dtype or x.dtype], output_shapes=[x.shape if shape is None else shape]
    )
    return values[0]


def _pair(*shapes):
    return lambda draw, dtype: (draw.values(dtype, *shapes[0]), draw.values(dtype, *shapes[1]))


_RECIPES = {
    "pair": _pair((3, 5), (4,)),
    "scalar": _pair((), ()),
    "empty": _pair((0, 3), (1, 0)),
    "one": _pair((1,), (1, 1)),
}
_SPECIAL = {
    "special": lambda draw, dtype: (
        np.array([0, 1], dtype),
        np.array([np.nan, np.inf, -np.inf, -0.0, 1e-45], dtype),
    )
}
_PLAIN = {"plain": lambda draw, dtype: (draw.values(dtype, 3),)}


def _of(name, dtypes, tier="default", vjp=None, recipes=_RECIPES, modes=MODES):
    return Spec(
        name=name,
        ops=_OPS,
        program=_round,
        reference=lambda x, y: (x, y, np.True_, np.False_),
        vjp=vjp,
        recipes=recipes,
        dtypes=dtypes,
        tier=tier,
        modes=modes,
        constant=("output[2]", "output[3]"),
    )


def _refused(name, ops, program):
    """A spec of values that an optional does not have."""
    return Spec(name=name, ops=ops, program=program, reference=lambda x: Raises("INVALID_ARGUMENT"), recipes=_PLAIN)


SPECS = (
    _of("optional", ("float32",), vjp=lambda gs, x, y: (gs[0], gs[1]), recipes=_RECIPES | _SPECIAL),
    _of("optional-other", (*(d for d in FLOATS if d != "float32"), *COMPLEX), "full", lambda gs, x, y: (gs[0], gs[1])),
    _of("optional-rough", (*INTEGERS, "bool"), "full"),
    _of("optional-no-xla", _WITHOUT_XLA, "full", recipes={"pair": _RECIPES["pair"]}, modes=WITHOUT_XLA),
    _refused(
        "optional-none-without-value",
        "OptionalNone;OptionalGetValue",
        lambda tf, x: _get(tf, tf.raw_ops.OptionalNone(), x),
    ),
    _refused(
        "optional-of-other-dtype",
        "OptionalFromValue;OptionalGetValue",
        lambda tf, x: _get(tf, tf.raw_ops.OptionalFromValue(components=[x]), x, dtype=tf.int32),
    ),
    _refused(
        "optional-of-other-shape",
        "OptionalFromValue;OptionalGetValue",
        lambda tf, x: _get(tf, tf.raw_ops.OptionalFromValue(components=[x]), x, shape=[7]),
    ),
)
