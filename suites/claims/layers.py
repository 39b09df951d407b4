"""Keras layers with a gradient of one's own, or none: C05."""

import numpy as np

from tf_opdiff.harness.spec.recipes import FLOATS, plain
from tf_opdiff.harness.spec.spec import Claim, Raises, Side, Spec
from tf_opdiff.suites.claims import topics
from tf_opdiff.suites.claims.subjects import CUSTOM_GRADIENT, PY_FUNC, py_func_mapped
from tf_opdiff.suites.reference.registered import registered

TAPE = "a tape records an op by its type and never sees the mark that the map left on the node"
TAPE_LINK = "https://github.com/tensorflow/tensorflow/issues/36870"
REFUSED = {
    "*/xla": Side(
        reference=lambda x: Raises("INVALID_ARGUMENT", "unsupported operations"),
        why="not compatible with XLA: calling it inside tf.function(jit_compile=True) raises an error",
        link="https://www.tensorflow.org/api_docs/python/tf/numpy_function",
    )
}
NO_KERNEL = "XLA has no kernel of PyFunc, and refuses the program"


def layer_of(tf, function, x):
    layer = tf.keras.layers.Lambda(function, dtype=x.dtype.name)
    return layer(x)


def floor_layer(tf, x):
    return layer_of(tf, tf.floor, x)


def sign_layer(tf, x):
    return layer_of(tf, tf.sign, x)


def cube(x):
    return x * x * x


def skip_layer(tf, x):
    @tf.custom_gradient
    def skipped(x):
        return cube(x), lambda g: g

    return layer_of(tf, skipped, x)


def reversing_layer(tf, x):
    @tf.custom_gradient
    def reversed_and_doubled(x):
        return cube(x), lambda g: -2 * g

    return layer_of(tf, reversed_and_doubled, x)


def skip_by_stop_gradient(tf, x):
    def skipped(x):
        return x + tf.stop_gradient(cube(x) - x)

    return layer_of(tf, skipped, x)


def skip_by_py_func(tf, x):
    registered(tf, "SkipLayer", lambda op, g: g)

    def skipped(x):
        with tf.compat.v1.get_default_graph().gradient_override_map({"PyFunc": "SkipLayer"}), tf.device("CPU:0"):
            y = tf.compat.v1.py_func(cube, [x], x.dtype)
        return tf.ensure_shape(y, x.shape)

    return layer_of(tf, skipped, x)


def skip_by_called_py_func(tf, x):
    @tf.function(autograph=False)
    def skipped(x):
        return skip_by_py_func(tf, x)

    return skipped(x)


_declared: list[str] = []


def declare_not_differentiable(tf, op_type):
    if op_type not in _declared:
        _declared.append(op_type)
        tf.no_gradient(op_type)


def undifferentiated_layer(tf, x):
    declare_not_differentiable(tf, "Snapshot")

    def copied(x):
        return tf.raw_ops.Snapshot(input=x)

    return layer_of(tf, copied, x)


def _cubed(x):
    return x**3


def _zeros(g, x):
    return np.zeros_like(x)


LAMBDA = "called:keras.layers.Lambda"
PLAIN = {"plain": plain}
CUBE = {"output": 1.5}

SPECS = (
    Spec(
        name="claim-c05-floor-layer",
        program=floor_layer,
        reference=np.floor,
        vjp=lambda g, x: None,
        recipes=PLAIN,
        ops="Floor",
        evidence=LAMBDA,
        dtypes=FLOATS,
        claims=(
            Claim(
                topic=topics.C05,
                letter="a",
                says="A layer can't have no gradient: at the least, it is 0.",
                about=("grad",),
                denies=True,
                refuted={"*/*": "the gradient of floor is None, and Lambda hands that on"},
                instead="claim-c05-skip-layer",
            ),
        ),
    ),
    Spec(
        name="claim-c05-sign-layer",
        program=sign_layer,
        reference=np.sign,
        vjp=_zeros,
        recipes=PLAIN,
        ops="Sign",
        evidence=LAMBDA,
        dtypes=FLOATS,
        claims=(
            Claim(
                topic=topics.C05,
                letter="e",
                says="The gradient of a layer can be 0.",
                about=("grad",),
            ),
        ),
    ),
    Spec(
        name="claim-c05-skip-layer",
        program=skip_layer,
        reference=_cubed,
        vjp=lambda g, x: g,
        ulp=CUBE,
        recipes=PLAIN,
        ops="Mul",
        evidence=f"{LAMBDA};{CUSTOM_GRADIENT}",
        dtypes=FLOATS,
        claims=(
            Claim(
                topic=topics.C05,
                letter="b",
                says="To leave a layer out of the derivative, one must write an op in C++.",
                about=("output", "grad"),
                denies=True,
                refuted={"*/*": "tf.custom_gradient gives a function of Python ops any gradient, here the upstream"},
                instead="claim-c05-skip-by-stop-gradient",
            ),
            Claim(
                topic=topics.C05,
                letter="f",
                says="The gradient of a layer can be 1, whatever the layer computes.",
                about=("grad",),
            ),
        ),
    ),
    Spec(
        name="claim-c05-reversing-layer",
        program=reversing_layer,
        reference=_cubed,
        vjp=lambda g, x: -2 * g,
        ulp=CUBE,
        recipes=PLAIN,
        ops="Mul",
        evidence=f"{LAMBDA};{CUSTOM_GRADIENT}",
        dtypes=FLOATS,
        claims=(
            Claim(
                topic=topics.C05,
                letter="g",
                says="The gradient of a layer can't be changed to anything but 0 or 1.",
                about=("grad",),
                denies=True,
                refuted={"*/*": "the gradient is a function like any other: here it is −2 times the upstream"},
                instead="claim-c05-skip-layer",
            ),
        ),
    ),
    Spec(
        name="claim-c05-skip-by-stop-gradient",
        program=skip_by_stop_gradient,
        reference=_cubed,
        vjp=lambda g, x: g,
        bound={"output": lambda u, g, x: 4 * u * (np.abs(x) ** 3 + np.abs(x))},
        recipes=PLAIN,
        ops="Mul;AddV2",
        evidence=LAMBDA,
        dtypes=FLOATS,
    ),
    Spec(
        name="claim-c05-skip-by-py-func",
        program=skip_by_py_func,
        reference=_cubed,
        vjp=lambda g, x: g,
        ulp=CUBE,
        recipes=PLAIN,
        ops="EnsureShape",
        evidence=py_func_mapped("SkipLayer", LAMBDA),
        dtypes=FLOATS,
        contract=REFUSED
        | dict.fromkeys(
            ("*/eager", "*/function"), Side(reference=_cubed, vjp=lambda g, x: None, why=TAPE, link=TAPE_LINK)
        ),
        claims=(
            Claim(
                topic=topics.C05,
                letter="c",
                says="py_func with an overridden gradient leaves the layer out, in Python alone.",
                about=("output", "grad"),
                refuted={"*/xla": NO_KERNEL}
                | dict.fromkeys(("*/eager", "*/function"), f"{TAPE}: the gradient is None"),
                instead="claim-c05-skip-layer",
            ),
        ),
    ),
    Spec(
        name="claim-c05-skip-by-called-py-func",
        program=skip_by_called_py_func,
        reference=_cubed,
        vjp=lambda g, x: g,
        ulp=CUBE,
        recipes=PLAIN,
        ops="EnsureShape",
        evidence=f"{LAMBDA};{PY_FUNC};called:function;replaced:PyFunc=SkipLayer",
        contract=REFUSED,
        claims=(
            Claim(
                topic=topics.C05,
                letter="h",
                says="Within a tf.function that is called, it does so in eager mode as well.",
                about=("output", "grad"),
                refuted={"*/xla": NO_KERNEL},
                instead="claim-c05-skip-layer",
            ),
        ),
    ),
    Spec(
        name="claim-c05-not-differentiable",
        program=undifferentiated_layer,
        reference=lambda x: x,
        vjp=lambda g, x: None,
        recipes=PLAIN,
        ops="Snapshot",
        evidence=LAMBDA,
        claims=(
            Claim(
                topic=topics.C05,
                letter="d",
                says="tf.no_gradient (NoGradient, NotDifferentiable) makes an op propagate zeros.",
                about=("grad",),
                vjp=_zeros,
                refuted={"*/*": "what it makes is None: no gradient at all, where zeros would be one"},
                instead="claim-c05-sign-layer",
            ),
        ),
    ),
)
