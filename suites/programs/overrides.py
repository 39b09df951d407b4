"""Overrides: the same gradient in place of an op's own, by every mechanism that can express it."""

import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import COMPLEX, FLOATS
from tf_opdiff.harness.spec.spec import Spec
from tf_opdiff.suites.forms.programs.override_map import called
from tf_opdiff.suites.forms.programs.override_map import (
    overriding as _overriding,  # the name by which recordings know it
)
from tf_opdiff.suites.forms.recipes.quarters import SHAPES, VECTOR
from tf_opdiff.suites.reference.control_flow.overrides import OVERRIDES
from tf_opdiff.suites.reference.registered import registered


# Mechanisms: an override and its name → a program.
def _by_custom_gradient(o, name):
    def program(tf, x):
        @tf.custom_gradient
        def f(x):
            y = o.forward(tf, x)
            return y, lambda g: o.rule(tf, g, x, y)

        return f(x)

    return program


def _by_nested_custom_gradient(o, name):
    def program(tf, x):
        @tf.custom_gradient
        def inner(x):
            return o.forward(tf, x), lambda g: 100 * g

        @tf.custom_gradient
        def rule(g, x, y):
            return o.rule(tf, g, x, y), lambda gg: (100 * gg, None, None)

        @tf.custom_gradient
        def outer(x):
            y = inner(x)
            return y, lambda g: rule(g, x, y)

        return outer(x)

    return program


def _by_identity_n(o, name):
    def program(tf, x):
        def gradient(op, g, _):
            return None, o.rule(tf, g, op.inputs[1], op.inputs[0])

        with _overriding(tf, {"IdentityN": registered(tf, f"TfOpdiff-n-{name}", gradient)}):
            return tf.identity_n([o.forward(tf, x), x])[0]

    return called(program)


def _by_map(o, name):
    def program(tf, x):
        def gradient(op, g):
            return o.rule(tf, g, op.inputs[0], op.outputs[0])

        with _overriding(tf, {o.op: registered(tf, f"TfOpdiff-{name}", gradient)}):
            return o.forward(tf, x)

    return program


def _by_called_map(o, name):
    return called(_by_map(o, name))


def _by_compiled_map(o, name):
    return called(_by_map(o, name), jit_compile=True)


def _by_recomputing(o, name):
    return lambda tf, x: tf.recompute_grad(lambda x: _by_custom_gradient(o, name)(tf, x))(x)


def _by_pass_through(o, name):
    return lambda tf, x: tf.grad_pass_through(lambda x: o.forward(tf, x))(x)


def _by_stop_gradient(o, name):
    return lambda tf, x: o.slope * x + tf.stop_gradient(o.forward(tf, x) - o.slope * x)


MECHANISMS = {
    "called-map": _by_called_map,
    "compiled-map": _by_compiled_map,
    "custom-gradient": _by_custom_gradient,
    "identity-n": _by_identity_n,
    "map": _by_map,
    "nested-custom-gradient": _by_nested_custom_gradient,
    "pass-through": _by_pass_through,
    "recompute": _by_recomputing,
    "stop-gradient": _by_stop_gradient,
}


def _expressible(o, mechanism):
    """Whether a mechanism can express an override at all: two of them know linear ones only."""
    return {"pass-through": o.slope == 1, "stop-gradient": o.slope is not None}.get(mechanism, True)


def _dtypes(o, mechanism):
    """All that the op takes; float32 alone where another override has the same op or compiles the same program."""
    if mechanism == "compiled-map" or (o.slope == 1 and mechanism != "pass-through"):
        return ("float32",)
    return (*FLOATS, *COMPLEX) if o.complex_too else FLOATS


def _by_every_mechanism(name, *, ulp=None, smoke=()):
    """A spec for each mechanism that can express an override; those in `smoke` run in the smoke tier."""
    o = OVERRIDES[name]
    return tuple(
        Spec(
            name=f"override-{name}-{mechanism}",
            program=program(o, name),
            reference=o.reference,
            vjp=o.vjp,
            recipes=VECTOR,
            ops=o.op,
            dtypes=_dtypes(o, mechanism),
            ulp=ulp or {},
            tier="smoke" if mechanism in smoke else "default",
        )
        for mechanism, program in MECHANISMS.items()
        if _expressible(o, mechanism)
    )


SPECS = (
    Spec(
        name="custom-gradient-shapes",
        program=_by_custom_gradient(OVERRIDES["straight-through"], ""),
        reference=np.floor,
        vjp=lambda g, x: g,
        recipes=SHAPES,
        ops="Floor",
    ),
    *_by_every_mechanism("fraction", ulp={"grad": 0.5}),
    *_by_every_mechanism("guided"),
    *_by_every_mechanism("reversal"),
    *_by_every_mechanism("straight-through", smoke=("called-map", "custom-gradient")),
)
