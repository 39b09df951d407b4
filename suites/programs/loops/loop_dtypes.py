"""`tf.while_loop` in every dtype that has gradients; with v2's control flow, While if its body has a state."""

from typing import Any

import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import COMPLEX, FLOATS
from tf_opdiff.suites.forms.programs.control_flow import loops, roundings

_CUBE: dict[str, Any] = {
    "reference": lambda x: x**3,
    "vjp": lambda g, x: 3 * g * np.conj(x * x),
    "recipes": {"vector": lambda draw, d: (draw.values(d, 3),)},
}
#: A product of complex numbers has an error of at most sqrt(5) units; the gradient is a sum of three, of three factors.
_OF_COMPLEX: dict[str, Any] = {
    "bound": {"output": lambda u, g, x: 5 * u * abs(x) ** 3, "grad": lambda u, g, x: 32 * u * abs(g * x * x)},
    "dtypes": COMPLEX,
    "tier": "full",
}
_EACH: dict[str, dict[str, Any]] = {
    "": {"ulp": roundings(2)},
    "-other": {"ulp": roundings(2), "dtypes": [dtype for dtype in FLOATS if dtype != "float32"], "tier": "full"},
    "-complex": _OF_COMPLEX,
}


def _cube(tf, api, x):
    """x to the power 3, by two iterations."""
    body = lambda i, y: (i + 1, y * x)  # noqa: E731
    return api.while_loop(lambda i, _: i < 2, body, (tf.constant(0), x), maximum_iterations=3)[1]


def _with_state(tf, api, x):
    """The cube, by iterations with an op that has a state: an assertion that holds."""

    def body(i, y):
        with tf.control_dependencies([tf.debugging.assert_less(i, 9)]):
            return i + 1, y * x

    return api.while_loop(lambda i, _: i < 2, body, (tf.constant(0), x), maximum_iterations=3)[1]


SPECS = (
    *(spec for end in ("-other", "-complex") for spec in loops(f"loop{end}", _cube, **_CUBE, **_EACH[end])),
    *(
        spec
        for end, fields in _EACH.items()
        for spec in loops(f"loop-with-state{end}", _with_state, ops="While", **_CUBE, **fields)
    ),
)
