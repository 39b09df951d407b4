"""Gradient overrides: the same one by every mechanism, what `gradient_override_map` reaches, and the other stops.

`gradient_override_map` marks the nodes of one graph. Whoever differentiates that graph afterwards reads the mark:
`tf.gradients`, or a tape around a call of a `tf.function`. A tape that sees the op itself does not, wherever it is,
which the documentation does not say: see known.toml.
"""

from functools import partial
from typing import Any

import numpy as np

from tf_opdiff.harness.spec.recipes import COMPLEX, FLOATS, INTEGERS, SIZE, edges, plain
from tf_opdiff.harness.spec.spec import Raises, Side, Sparse, Spec
from tf_opdiff.suites.references.override_rules import OVERRIDES
from tf_opdiff.suites.references.overrides import registered

CUSTOM_LINK = "https://github.com/tensorflow/tensorflow/blob/v2.21.0/tensorflow/python/ops/custom_gradient.py"
GRADIENTS_LINK = "https://www.tensorflow.org/api_docs/python/tf/gradients"


def _quarters(draw, dtype, *shape):
    """Quarters of small size and either sign; their sums and small multiples are exact in every dtype."""
    dtype = np.dtype(dtype)
    values = (draw.integers(*shape, low=-16, high=16) + 0.5) / 2
    return ((values + 1j * np.flip(values)) if dtype.kind == "c" else values).astype(dtype)


VECTOR = {"vector": lambda draw, dtype: (_quarters(draw, dtype, SIZE),)}
PAIR = {"matrix": lambda draw, dtype: (_quarters(draw, dtype, 3, 5), _quarters(draw, dtype, 3, 5))}
SHAPES = {
    "scalar": lambda draw, dtype: (_quarters(draw, dtype),),
    "matrix": lambda draw, dtype: (_quarters(draw, dtype, 3, 5),),
    "empty": lambda draw, dtype: (_quarters(draw, dtype, 0, 3),),
}
WITH_INTEGERS = {
    "matrix": lambda draw, dtype: (_quarters(draw, dtype, 3, 5), draw.integers(3, 5, low=-9, high=10)),
}
MATRIX = {"matrix": SHAPES["matrix"]}


def _overriding(tf, types):
    """The context of a map from op types to names or to gradient functions, which it registers."""
    names = {op: g if isinstance(g, str) else registered(tf, f"TfOpdiff{g.__name__}", g) for op, g in types.items()}
    return tf.compat.v1.get_default_graph().gradient_override_map(names)


def _called(program, **options):
    """The program as a `tf.function` of its own, so that the graph of the function is what gets differentiated."""
    return lambda tf, *inputs: tf.function(lambda *xs: program(tf, *xs), autograph=False, **options)(*inputs)


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

    return _called(program)


def _by_map(o, name):
    def program(tf, x):
        def gradient(op, g):
            return o.rule(tf, g, op.inputs[0], op.outputs[0])

        with _overriding(tf, {o.op: registered(tf, f"TfOpdiff-{name}", gradient)}):
            return o.forward(tf, x)

    return program


def _by_called_map(o, name):
    return _called(_by_map(o, name))


def _by_compiled_map(o, name):
    return _called(_by_map(o, name), jit_compile=True)


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


# What the map reaches. `_twice` and `_eightfold` stand in for the gradient of Floor and Ceil, which have none.
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


# tf.custom_gradient beyond the plain override.
def _variable(tf, x, *_):
    return {"v": tf.Variable(x + x.dtype.type(1))}


def _custom_integer(tf, x, n):
    @tf.custom_gradient
    def f(x, n):
        return (tf.identity(x), n + 1), lambda g, _: (8 * g, None)

    return f(x, n)


def _custom_keyword(tf, x):
    @tf.custom_gradient
    def f(x, times=1):
        return times * x, lambda g: 8 * g

    return f(x, times=2)


def _custom_nested_variables(tf, state, x):
    @tf.custom_gradient
    def inner(x):
        return x * state["v"], lambda g, variables: (100 * g, [100 * g])

    @tf.custom_gradient
    def outer(x):
        return inner(x), lambda g, variables: (-2 * g, [8 * g])

    return outer(x)


def _custom_none(tf, x, z):
    @tf.custom_gradient
    def f(x, z):
        return x + z, lambda g: (None, 8 * g)

    return f(x, z)


def _custom_second_order(tf, x):
    @tf.custom_gradient
    def first(g, x):
        return g * x, lambda gg: (100 * gg, -2 * gg)

    @tf.custom_gradient
    def f(x):
        return tf.floor(x), lambda g: first(g, x)

    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return tape.gradient(y, x)


def _custom_sparse(tf, x):
    @tf.custom_gradient
    def f(x):
        return tf.identity(x), lambda g: tf.IndexedSlices(
            tf.gather(g, [2, 0]), tf.constant([2, 0]), tf.constant([3, 5])
        )

    return f(x)


def _custom_variables(tf, state, x):
    @tf.custom_gradient
    def f(x):
        return x * state["v"], lambda g, variables: (-2 * g, [8 * g for _ in variables])

    return f(x)


def _custom_variables_refused(tf, state, x):
    return tf.custom_gradient(lambda x: (x * state["v"], lambda g: g))(x)


def _pass_through_assign(tf, state, x):
    return tf.grad_pass_through(state["v"].assign)(2 * x)


# tf.recompute_grad: what is recomputed, and how often.
def _counted(tf, x):
    return {"v": tf.Variable(x + x.dtype.type(1)), "calls": []}


def _recompute(tf, state, x):
    def f(x):
        state["calls"].append("called")
        return x * state["v"]

    return tf.recompute_grad(f)(x)


def _recompute_mask(tf, x, mask):
    return tf.recompute_grad(lambda x, mask: tf.where(mask, -2 * x, 8 * x))(x, mask)


def _recompute_same(tf, x):
    return tf.recompute_grad(lambda x, z: -2 * x + 8 * z)(x, x)


def _recompute_unused(tf, x, z):
    return tf.recompute_grad(lambda x, z: -2 * x)(x, z)


def _recompute_zeros(tf, x, z):
    return tf.recompute_grad(lambda x, z: x * z)(x, z)


def _signed_zeros(draw, dtype):
    return np.array([0.0, -0.0, 1.5], dtype), np.array([1.5, 2.5, 3.5], dtype)


def _rows_vjp(g, x):
    return Sparse(g[[2, 0]], np.array([2, 0]), (3, 5))


def _doubled(x):
    return 2 * x


EAGER_ONLY = "The decorator takes keyword arguments when eager execution is enabled."
KEYWORD = Side(reference=_doubled, vjp=lambda g, x: 8 * g, why=EAGER_ONLY, link=CUSTOM_LINK)
SYMBOLIC = Side(
    reference=lambda x, g: Raises("RuntimeError", "tf.gradients is not supported"),
    why="tf.gradients is not supported when eager execution is enabled.",
    link=GRADIENTS_LINK,
)
MISSING = Raises("LookupError", "No gradient defined")

FLOORED: dict[str, Any] = {"reference": np.floor, "vjp": lambda g, x: g, "recipes": SHAPES, "ops": "Floor"}
Floor = partial(Spec, reference=np.floor, recipes=MATRIX, ops="Floor")
Same = partial(Spec, recipes=MATRIX, ops="Identity")

MAP_SPECS = (
    Floor(name="map-absent", program=_map_absent, vjp=lambda g, x: None),
    Floor(name="map-around-call", program=_map_around_call, vjp=lambda g, x: None),
    Floor(name="map-around-cond", program=_map_around_cond, vjp=lambda g, x: None),
    Floor(
        name="map-left",
        program=_called(_map_left),
        reference=lambda x: (np.floor(x), np.floor(x)),
        vjp=lambda g, x: -2 * g[0],
    ),
    Floor(
        name="map-nested",
        program=_called(_map_nested),
        reference=lambda x: (np.floor(x), np.floor(x)),
        vjp=lambda g, x: 8 * g[0] - 2 * g[1],
        ulp={"grad": 0.5},
        dtypes=FLOATS,
    ),
    Floor(
        name="map-nested-types",
        program=_called(_map_nested_types),
        reference=lambda x: (np.floor(x), np.ceil(x)),
        vjp=lambda g, x: -2 * g[0] + 8 * g[1],
        ulp={"grad": 0.5},
        ops="Floor;Ceil",
    ),
    Same(name="map-none", program=_called(_map_none), reference=lambda x: x, vjp=lambda g, x: None),
    Floor(name="map-not-names", program=_map_not_names, reference=lambda x: Raises("TypeError", "mapping strings")),
    Same(name="map-sparse", program=_called(_map_sparse), reference=lambda x: x, vjp=_rows_vjp),
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
        program=_called(_map_two_inputs),
        reference=lambda x, z: x * z,
        vjp=lambda g, x, z: (None, g * x),
        ulp={"grad": 0.5},
        recipes=PAIR,
        ops="Mul",
    ),
    Floor(name="map-unregistered", program=_called(_map_unregistered), vjp=lambda g, x: MISSING),
    Floor(
        name="map-unregistered-taped",
        program=_map_unregistered,
        vjp=lambda g, x: MISSING,
    ),
    Floor(name="map-wrong-shape", program=_called(_map_wrong_shape), vjp=lambda g, x: Raises("ValueError", "shape")),
)

CUSTOM_SPECS = (
    Same(
        name="custom-gradient-integer",
        program=_custom_integer,
        reference=lambda x, n: (x, n + 1),
        vjp=lambda g, x, n: (8 * g[0], None),
        recipes=WITH_INTEGERS,
    ),
    Same(
        name="custom-gradient-keyword",
        program=_custom_keyword,
        reference=lambda x: Raises("ValueError", "keywords arguments only when eager"),
        ops="Mul",
        contract={"*/eager": KEYWORD},
    ),
    Same(
        name="custom-gradient-nested-variables",
        program=_custom_nested_variables,
        reference=lambda x: x * (x + 1),
        vjp=lambda g, x: (-2 * g, 8 * g),
        state=_variable,
        ops="Mul",
    ),
    Same(
        name="custom-gradient-none",
        program=_custom_none,
        reference=lambda x, z: x + z,
        vjp=lambda g, x, z: (None, 8 * g),
        recipes=PAIR,
        ops="AddV2",
    ),
    Same(
        name="custom-gradient-second-order",
        program=_custom_second_order,
        reference=lambda x: x,
        vjp=lambda g, x: -2 * g,
        dtypes=FLOATS,
        ops="Floor;Mul",
    ),
    Same(name="custom-gradient-shapes", program=_by_custom_gradient(OVERRIDES["straight-through"], ""), **FLOORED),
    Same(name="custom-gradient-sparse", program=_custom_sparse, reference=lambda x: x, vjp=_rows_vjp),
    Same(
        name="custom-gradient-variables",
        program=_custom_variables,
        reference=lambda x: x * (x + 1),
        vjp=lambda g, x: (-2 * g, 8 * g),
        state=_variable,
        ulp={"output": 0.5},
        dtypes=(*FLOATS, *COMPLEX),
        ops="Mul",
    ),
    Same(
        name="custom-gradient-variables-refused",
        program=_custom_variables_refused,
        reference=lambda x: Raises("TypeError", "must accept keyword argument 'variables'"),
        state=_variable,
    ),
)

STOP_SPECS = (
    Spec(
        name="pass-through-assign",
        program=_pass_through_assign,
        reference=lambda x: (2 * x, {"v": 2 * x}),
        vjp=lambda g, x: (2 * g, None),
        state=_variable,
        recipes=MATRIX,
        ops="AssignVariableOp",
        dtypes=(*FLOATS, *COMPLEX),
    ),
    Spec(
        name="prevent-gradient",
        program=lambda tf, x: tf.raw_ops.PreventGradient(input=x, message="no way"),
        reference=lambda x: x,
        vjp=lambda g, x: Raises("LookupError", "Gradient explicitly disabled. Reason: b'no way'"),
        recipes={"edges": edges},
        ops="PreventGradient",
        dtypes=(*FLOATS, *COMPLEX),
    ),
    Spec(
        name="prevent-gradient-other",
        program=lambda tf, x: tf.raw_ops.PreventGradient(input=x, message=""),
        reference=lambda x: x,
        recipes={"plain": plain},
        ops="PreventGradient",
        dtypes=(*INTEGERS, "bool"),
    ),
    Spec(
        name="recompute-counted",
        program=_recompute,
        reference=lambda x: (x * (x + 1), {"calls": 2}),
        vjp=lambda g, x: (g * (x + 1), g * x),
        ulp={"output": 0.5, "grad": 0.5},
        state=_counted,
        recipes=MATRIX,
        ops="Mul",
        dtypes=FLOATS,
    ),
    Spec(
        name="recompute-mask",
        program=_recompute_mask,
        reference=lambda x, mask: np.where(mask, -2 * x, 8 * x),
        vjp=lambda g, x, mask: (np.where(mask, -2 * g, 8 * g), np.zeros_like(mask)),
        recipes={"matrix": lambda draw, dtype: (_quarters(draw, dtype, 3, 5), draw.booleans(3, 5))},
        ops="SelectV2",
    ),
    # https://github.com/tensorflow/tensorflow/issues/36999
    Spec(
        name="recompute-same-twice",
        program=_recompute_same,
        reference=lambda x: 6 * x,
        vjp=lambda g, x: 6 * g,
        ulp={"grad": 0.5},
        recipes=MATRIX,
        ops="Mul",
    ),
    Spec(
        name="recompute-signed-zeros",
        program=_recompute_zeros,
        reference=lambda x, z: x * z,
        vjp=lambda g, x, z: (g * z, g * x),
        ulp={"grad": 0.5},
        recipes={"zeros": _signed_zeros},
        ops="Mul",
    ),
    Spec(
        name="recompute-unused",
        program=_recompute_unused,
        reference=lambda x, z: -2 * x,
        vjp=lambda g, x, z: (-2 * g, np.zeros_like(z)),
        recipes=PAIR,
        ops="Mul",
    ),
    *(
        Spec(
            name=f"stop-gradient{suffix}",
            program=lambda tf, x: tf.stop_gradient(x),
            reference=lambda x: x,
            vjp=lambda g, x: None,
            recipes=recipes,
            ops="StopGradient",
            dtypes=dtypes,
        )
        for suffix, recipes, dtypes in (
            ("", {"edges": edges}, (*FLOATS, *COMPLEX)),
            ("-other", {"plain": plain}, (*INTEGERS, "bool")),
            ("-shapes", SHAPES, ("float32",)),
        )
    ),
    Spec(
        name="stop-gradient-part",
        program=lambda tf, x: x * tf.stop_gradient(x),
        reference=lambda x: x * x,
        vjp=lambda g, x: g * x,
        ulp={"output": 0.5, "grad": 0.5},
        recipes=MATRIX,
        ops="Mul;StopGradient",
        dtypes=FLOATS,
    ),
    Spec(
        name="stop-gradient-string",
        program=lambda tf, x: tf.stop_gradient(x),
        reference=lambda x: x,
        recipes={"plain": plain},
        ops="StopGradient",
        dtypes=("S",),
        modes=("eager", "function", "graph"),  # XLA has no strings
    ),
)

OVERRIDE_SPECS = tuple(
    Spec(
        name=f"override-{name}-{mechanism}",
        program=program(o, name),
        reference=o.reference,
        vjp=o.vjp,
        recipes=VECTOR,
        ops=o.op,
        dtypes=_dtypes(o, mechanism),
        ulp={"grad": 0.5} if name == "fraction" else {},
        tier="smoke" if name == "straight-through" and mechanism in ("called-map", "custom-gradient") else "default",
    )
    for name, o in OVERRIDES.items()
    for mechanism, program in MECHANISMS.items()
    if _expressible(o, mechanism)
)

SPECS = (*CUSTOM_SPECS, *MAP_SPECS, *OVERRIDE_SPECS, *STOP_SPECS)
