"""Gradient overrides: the same one by every mechanism, what `gradient_override_map` reaches, and the other stops.

`gradient_override_map` marks the nodes of one graph. Whoever differentiates that graph afterwards reads the mark:
`tf.gradients`, or a tape around a call of a `tf.function`. A tape that sees the op itself does not, wherever it is.
"""

from functools import partial

import numpy as np

from harness.inputs import COMPLEX, FLOATS, INTEGERS, SIZE
from harness.plan import MODES
from harness.spec import Raises, Side, Sparse, Spec
from suites.references.overrides import OVERRIDES, registered

TAPE = "A tape records an op by its type and never sees the mark that the map left on the node."
TAPE_LINK = "https://github.com/tensorflow/tensorflow/issues/36870"
TAPED = ("*/eager", "*/function", "*/xla")


def quarters(draw, dtype, *shape):
    """Quarters of small size and either sign, which every step of every program here holds exactly."""
    dtype = np.dtype(dtype)
    values = (draw.integers(*shape, low=-16, high=16) + 0.5) / 2
    return ((values + 1j * np.flip(values)) if dtype.kind == "c" else values).astype(dtype)


VECTOR = {"vector": lambda draw, dtype: (quarters(draw, dtype, SIZE),)}
PAIR = {"matrix": lambda draw, dtype: (quarters(draw, dtype, 3, 5), quarters(draw, dtype, 3, 5))}
SHAPES = {
    "scalar": lambda draw, dtype: (quarters(draw, dtype),),
    "matrix": lambda draw, dtype: (quarters(draw, dtype, 3, 5),),
    "empty": lambda draw, dtype: (quarters(draw, dtype, 0, 3),),
}
MATRIX = {"matrix": SHAPES["matrix"]}


def overriding(tf, types):
    """The context of a map from op types to names or to gradient functions, which it registers."""
    names = {op: g if isinstance(g, str) else registered(tf, f"TfOpdiff{g.__name__}", g) for op, g in types.items()}
    return tf.compat.v1.get_default_graph().gradient_override_map(names)


def called(program, **options):
    """The program as a `tf.function` of its own, so that the graph of the function is what gets differentiated."""
    return lambda tf, *inputs: tf.function(lambda *xs: program(tf, *xs), autograph=False, **options)(*inputs)


# Mechanisms: an override and its name → a program.
def by_custom_gradient(o, name):
    def program(tf, x):
        @tf.custom_gradient
        def f(x):
            y = o.forward(tf, x)
            return y, lambda g: o.rule(tf, g, x, y)

        return f(x)

    return program


def by_nested_custom_gradient(o, name):
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


def by_identity_n(o, name):
    def program(tf, x):
        def gradient(op, g, _):
            return None, o.rule(tf, g, op.inputs[1], op.inputs[0])

        with overriding(tf, {"IdentityN": registered(tf, f"TfOpdiff-n-{name}", gradient)}):
            return tf.identity_n([o.forward(tf, x), x])[0]

    return called(program)


def by_map(o, name):
    def program(tf, x):
        def gradient(op, g):
            return o.rule(tf, g, op.inputs[0], op.outputs[0])

        with overriding(tf, {o.op: registered(tf, f"TfOpdiff-{name}", gradient)}):
            return o.forward(tf, x)

    return program


def by_called_map(o, name):
    return called(by_map(o, name))


def by_compiled_map(o, name):
    return called(by_map(o, name), jit_compile=True)


def by_recomputing(o, name):
    return lambda tf, x: tf.recompute_grad(lambda x: by_custom_gradient(o, name)(tf, x))(x)


def by_pass_through(o, name):
    return lambda tf, x: tf.grad_pass_through(lambda x: o.forward(tf, x))(x)


def by_stop_gradient(o, name):
    return lambda tf, x: o.slope * x + tf.stop_gradient(o.forward(tf, x) - o.slope * x)


MECHANISMS = {
    "called-map": by_called_map,
    "compiled-map": by_compiled_map,
    "custom-gradient": by_custom_gradient,
    "identity-n": by_identity_n,
    "map": by_map,
    "nested-custom-gradient": by_nested_custom_gradient,
    "pass-through": by_pass_through,
    "recompute": by_recomputing,
    "stop-gradient": by_stop_gradient,
}


def expressible(o, mechanism):
    """Whether a mechanism can express an override at all: two of them know linear ones only."""
    return {"pass-through": o.slope == 1, "stop-gradient": o.slope is not None}.get(mechanism, True)


def ignored(o):
    return dict.fromkeys(TAPED, Side(reference=o.reference, vjp=o.natural, why=TAPE, link=TAPE_LINK))


SPECS = tuple(
    Spec(
        name=f"override-{name}-{mechanism}",
        program=program(o, name),
        reference=o.reference,
        vjp=o.vjp,
        recipes=VECTOR,
        ops=o.op,
        dtypes=(*FLOATS, *COMPLEX) if o.complex_too else FLOATS,
        ulp={"grad": 0.5} if name == "fraction" else {},
        contract=ignored(o) if mechanism == "map" else {},
    )
    for name, o in OVERRIDES.items()
    for mechanism, program in MECHANISMS.items()
    if expressible(o, mechanism)
)
