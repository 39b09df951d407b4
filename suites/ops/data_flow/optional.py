"""Optionals: OptionalFromValue, OptionalGetValue, OptionalHasValue and OptionalNone, with the gradients of values."""

import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import COMPLEX, FLOATS, INTEGERS
from tf_opdiff.harness.spec.plan import WITHOUT_XLA
from tf_opdiff.suites.forms.errors import IN_KERNEL
from tf_opdiff.suites.forms.of_xla import FLOAT8_OF_CPU, OF_XLA
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.part import part, tiered
from tf_opdiff.suites.forms.recipes.pairs import shaped


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


def _own(tf, x):
    """An optional of a value."""
    return tf.raw_ops.OptionalFromValue(components=[x])


def _special(draw, dtype):
    return np.array([0, 1], dtype), np.array([np.nan, np.inf, -np.inf, -0.0, 1e-45], dtype)


def _vjp(gs, x, y):
    return gs[0], gs[1]


_RECIPES = {
    "pair": shaped((3, 5), (4,)),
    "scalar": shaped((), ()),
    "empty": shaped((0, 3), (1, 0)),
    "one": shaped((1,), (1, 1)),
}
_REFUSED = {"recipes": {"plain": shaped((3,))}, "constant": (), **IN_KERNEL}

SPECS = op(
    "optional",
    "OptionalFromValue;OptionalGetValue;OptionalHasValue;OptionalNone",
    part(recipes={**_RECIPES, "special": _special}, vjp=_vjp, dtypes=tiered((*FLOATS, *COMPLEX)), of_others=_RECIPES),
    part("-rough", recipes=_RECIPES, dtypes=(*INTEGERS, "bool"), tier="full"),
    part(
        "-no-xla",
        recipes={"pair": _RECIPES["pair"]},
        dtypes=(*FLOAT8_OF_CPU, *OF_XLA, "int2", "uint2", "float4_e2m1fn", "object"),
        modes=WITHOUT_XLA,
        tier="full",
    ),
    part(
        "-none-without-value",
        ops="OptionalNone;OptionalGetValue",
        program=lambda tf, x: _get(tf, tf.raw_ops.OptionalNone(), x),
        **_REFUSED,
    ),
    part(
        "-of-other-dtype",
        ops="OptionalFromValue;OptionalGetValue",
        program=lambda tf, x: _get(tf, _own(tf, x), x, dtype=tf.int32),
        **_REFUSED,
    ),
    part(
        "-of-other-shape",
        ops="OptionalFromValue;OptionalGetValue",
        program=lambda tf, x: _get(tf, _own(tf, x), x, shape=[7]),
        **_REFUSED,
    ),
    program=_round,
    reference=lambda x, y: (x, y, np.True_, np.False_),
    constant=("output[2]", "output[3]"),
)
