"""Skipping a layer on the way back: the claims."""

from functools import partial

import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import FLOATS, plain
from tf_opdiff.harness.spec.spec import Side, Spec
from tf_opdiff.suites.claims.c05_layers import program
from tf_opdiff.suites.claims.c05_layers.topic import TOPIC
from tf_opdiff.suites.claims.evidence import CUSTOM_GRADIENT, PY_FUNC, py_func_mapped
from tf_opdiff.suites.forms.contracts import NO_KERNEL, REFUSED_BY_XLA, TAPE, TAPE_LINK


def _cubed(x):
    return x**3


def _zeros(g, x):
    return np.zeros_like(x)


LAMBDA = "called:keras.layers.Lambda"
PLAIN = {"plain": plain}
CUBE = {"output": 1.5}

Cubed = partial(Spec, reference=_cubed, vjp=lambda g, x: g, ulp=CUBE, recipes=PLAIN, dtypes=FLOATS)
Layer = partial(Spec, recipes=PLAIN, dtypes=FLOATS)

SPECS = (
    Layer(
        name="claim-c05-floor-layer",
        program=program.floor_layer,
        reference=np.floor,
        vjp=lambda g, x: None,
        ops="Floor",
        evidence=LAMBDA,
        claims=(
            TOPIC.claim(
                "a",
                "A layer can't have no gradient: at the least, it is 0.",
                "grad",
                denies=True,
                refuted={"*/*": "the gradient of floor is None, and Lambda hands that on"},
                instead="claim-c05-skip-layer",
            ),
        ),
    ),
    Layer(
        name="claim-c05-sign-layer",
        program=program.sign_layer,
        reference=np.sign,
        vjp=_zeros,
        ops="Sign",
        evidence=LAMBDA,
        claims=(TOPIC.claim("e", "The gradient of a layer can be 0.", "grad"),),
    ),
    Cubed(
        name="claim-c05-skip-layer",
        program=program.skip_layer,
        ops="Mul",
        evidence=f"{LAMBDA};{CUSTOM_GRADIENT}",
        claims=(
            TOPIC.claim(
                "b",
                "To leave a layer out of the derivative, one must write an op in C++.",
                "output",
                "grad",
                denies=True,
                refuted={"*/*": "tf.custom_gradient gives a function of Python ops any gradient, here the upstream"},
                instead="claim-c05-skip-by-stop-gradient",
            ),
            TOPIC.claim("f", "The gradient of a layer can be 1, whatever the layer computes.", "grad"),
        ),
    ),
    Layer(
        name="claim-c05-reversing-layer",
        program=program.reversing_layer,
        reference=_cubed,
        vjp=lambda g, x: -2 * g,
        ulp=CUBE,
        ops="Mul",
        evidence=f"{LAMBDA};{CUSTOM_GRADIENT}",
        claims=(
            TOPIC.claim(
                "g",
                "The gradient of a layer can't be changed to anything but 0 or 1.",
                "grad",
                denies=True,
                refuted={"*/*": "the gradient is a function like any other: here it is −2 times the upstream"},
                instead="claim-c05-skip-layer",
            ),
        ),
    ),
    Layer(
        name="claim-c05-skip-by-stop-gradient",
        program=program.skip_by_stop_gradient,
        reference=_cubed,
        vjp=lambda g, x: g,
        bound={"output": lambda u, g, x: 4 * u * (np.abs(x) ** 3 + np.abs(x))},
        ops="Mul;AddV2",
        evidence=LAMBDA,
    ),
    Cubed(
        name="claim-c05-skip-by-py-func",
        program=program.skip_by_py_func,
        ops="EnsureShape",
        evidence=py_func_mapped("SkipLayer", LAMBDA),
        contract=REFUSED_BY_XLA
        | dict.fromkeys(
            ("*/eager", "*/function"), Side(reference=_cubed, vjp=lambda g, x: None, why=TAPE, link=TAPE_LINK)
        ),
        claims=(
            TOPIC.claim(
                "c",
                "py_func with an overridden gradient leaves the layer out, in Python alone.",
                "output",
                "grad",
                refuted={"*/xla": NO_KERNEL}
                | dict.fromkeys(("*/eager", "*/function"), f"{TAPE}: the gradient is None"),
                instead="claim-c05-skip-layer",
            ),
        ),
    ),
    Spec(
        name="claim-c05-skip-by-called-py-func",
        program=program.skip_by_called_py_func,
        reference=_cubed,
        vjp=lambda g, x: g,
        ulp=CUBE,
        recipes=PLAIN,
        ops="EnsureShape",
        evidence=f"{LAMBDA};{PY_FUNC};called:function;replaced:PyFunc=SkipLayer",
        contract=REFUSED_BY_XLA,
        claims=(
            TOPIC.claim(
                "h",
                "Within a tf.function that is called, it does so in eager mode as well.",
                "output",
                "grad",
                refuted={"*/xla": NO_KERNEL},
                instead="claim-c05-skip-layer",
            ),
        ),
    ),
    Spec(
        name="claim-c05-not-differentiable",
        program=program.undifferentiated_layer,
        reference=lambda x: x,
        vjp=lambda g, x: None,
        recipes=PLAIN,
        ops="Snapshot",
        evidence=LAMBDA,
        claims=(
            TOPIC.claim(
                "d",
                "tf.no_gradient (NoGradient, NotDifferentiable) makes an op propagate zeros.",
                "grad",
                vjp=_zeros,
                refuted={"*/*": "what it makes is None: no gradient at all, where zeros would be one"},
                instead="claim-c05-sign-layer",
            ),
        ),
    ),
)
