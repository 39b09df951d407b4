"""Programs about the fields of a spec that widen a promise or change what a run fetches."""

import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import plain, special_values, subnormals
from tf_opdiff.harness.spec.spec import Spec
from tf_opdiff.suites.derived.gradient_alone import gradient_alone
from tf_opdiff.suites.derived.unknown_shape import unknown_shape
from tf_opdiff.suites.forms.elementwise.flushed import gradient, outputs
from tf_opdiff.suites.forms.elementwise.special_upstreams import in_turn


def _specials(draw, dtype):
    return (np.resize(special_values(dtype), 67),)


def _of_three_sizes(size):
    return lambda draw, dtype: (draw.values(dtype, size),)


def _times(slope):
    return lambda g, x: g * slope(x)


def _half(name, program, **fields):
    given = {
        "name": name,
        "program": program,
        "reference": lambda x: x / 2,
        "vjp": lambda g, x: g / 2,
        "recipes": {"subnormals": subnormals, "specials": _specials},
        "dtypes": ("float32", "float64"),
        "ops": "Mul",
        "ulp": {"output": 0.5, "grad": 0.5},
        "upstreams": {"specials": in_turn(lambda dtype: np.roll(special_values(dtype), 1))},
        "alternatives": {
            "output[0]": outputs(lambda x: x / 2),
            "grad[0]": gradient(_times, lambda x: np.full_like(x, 0.5)),
        },
    }
    return Spec(**given | fields)


def _square(name, program=lambda tf, x: tf.square(x), **fields):
    given = {
        "name": name,
        "program": program,
        "reference": np.square,
        "vjp": lambda g, x: 2 * x * g,
        "recipes": {"plain": plain},
        "ops": "Square",
        "ulp": {"output": 0.5, "grad": 1},
    }
    return Spec(**given | fields)


def _ignoring_subnormal_upstreams(tf, x):
    """Half of x, whose gradient is wrong where the upstream is infinite."""

    @tf.custom_gradient
    def half(x):
        return x * 0.5, lambda g: tf.where(tf.math.is_inf(g), tf.zeros_like(g), g * 0.5)

    return half(x)


def _one_more_without_sizes(tf, x):
    return tf.square(x) + (0.0 if x.shape.is_fully_defined() else 1.0)


def _square_that_refuses(*families):
    """The square, of which TensorFlow has no forward mode, no second order, or neither.

    Forward mode differentiates the gradient by its upstream, and second order differentiates it by the input.
    """

    def program(tf, x):
        def step(family, value):
            return _without_derivative(tf, value, f"no {family}") if family in families else value

        @tf.custom_gradient
        def square(x):
            return tf.square(x), lambda g: step("jvp", g) * step("hvp", 2 * x)

        return square(x)

    return program


def _without_derivative(tf, x, message):
    """The same value; differentiation raises a LookupError."""

    @tf.custom_gradient
    def same(x):
        def refuse(g):
            raise LookupError(message)

        return tf.identity(x), refuse

    return same(x)


_ORDERS = {
    "jvp": lambda t, x: 2 * x * t,
    "hvp": lambda g, t, x: 2 * g * t,
    "ulp": dict.fromkeys(("output", "grad", "jvp", "hvp"), 1),
}
_WITH_EVIDENCE = _square("square-that-runs", evidence="ran:Square")
SPECS = (
    _half("half", lambda tf, x: x * 0.5),
    _half("half-but-twice", lambda tf, x: tf.where(tf.abs(x) < 1e-37, x * 2.0, x * 0.5), vjp=None),
    _half("half-of-normal", lambda tf, x: tf.where(tf.abs(x) < 1e-37, x * 0.0, x * 0.5), vjp=None),
    _half("half-without-infinite-upstreams", _ignoring_subnormal_upstreams),
    *gradient_alone(_square("square")),
    *gradient_alone(_WITH_EVIDENCE),
    *gradient_alone(_square("square-half", vjp=lambda g, x: x * g)),
    _square("square-of-both-orders", **_ORDERS),
    _square("square-without-jvp", _square_that_refuses("jvp"), **_ORDERS),
    _square("square-without-hvp", _square_that_refuses("hvp"), **_ORDERS),
    _square("square-without-both", _square_that_refuses("jvp", "hvp"), **_ORDERS),
    _square(
        "square-and-whether-positive",
        lambda tf, x: [tf.square(x), x > 0],
        reference=lambda x: (x * x, x > 0),
        vjp=lambda gs, x: 2 * x * gs[0],
        jvp=lambda t, x: (2 * x * t, None),
        hvp=lambda gs, t, x: 2 * gs[0] * t,
        ulp=_ORDERS["ulp"],
    ),
    unknown_shape(_square("square-of-any-size"), {f"of{n}": _of_three_sizes(n) for n in (0, 1, 5)}),
    unknown_shape(
        _square("square-and-one", _one_more_without_sizes, reference=lambda x: x * x + 1, vjp=None, ulp={"output": 1}),
        {"of5": _of_three_sizes(5)},
    ),
)
