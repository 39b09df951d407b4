"""Gradients by name: the claims."""

from functools import partial

import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import SIZE, plain
from tf_opdiff.harness.spec.plan import PLANS_WITHOUT_XLA, WITHOUT_XLA
from tf_opdiff.harness.spec.spec import Raises, Spec
from tf_opdiff.suites.claims.c06_compiled_op.claims import CUBE, REFUSED
from tf_opdiff.suites.claims.c06_compiled_op.cpp.build import SOURCES
from tf_opdiff.suites.claims.c06_compiled_op.topic import TOPIC
from tf_opdiff.suites.claims.c06_gradients_by_name import program
from tf_opdiff.suites.claims.c06_gradients_by_name.cpp.build import SOURCE

PLAIN = {"plain": plain}
FLOAT = ("float32", "float64")
NO_GRADIENT = TOPIC.claim(
    "e",
    "NoGradient can't be used outside TensorFlow.",
    "grad",
    denies=True,
    plans=PLANS_WITHOUT_XLA,
    refuted={"*/*": "tf.no_gradient takes any name that has no gradient yet: the gradient is None, without an error"},
    instead="claim-c06-square-stopped",
)
LOADED = "called:load_op_library"


def _two(draw, dtype):
    """Values and upstreams in quarters, whose products are exact, and none of them 0."""
    quarters = (draw.integers(SIZE, low=1, high=17) / 4 * np.where(draw.booleans(SIZE), 1, -1) for _ in range(2))
    return tuple(numbers.astype(dtype) for numbers in quarters)


def _powers(draw, dtype):
    """Powers of four, whose roots and quotients are exact, and upstreams."""
    return (4.0 ** draw.integers(SIZE, low=-3, high=4)).astype(dtype), draw.values(dtype, SIZE)


def _cubed(x):
    return x * x * x


Squared = partial(Spec, reference=np.square, vjp=lambda g, x: None, ulp={"output": 0.5}, recipes=PLAIN)
Imported = partial(Spec, recipes=PLAIN, ops="SkipCube", evidence=LOADED, files=SOURCES, modes=("graph",), sessions=True)

SPECS = (
    Spec(
        name="claim-c06-not-differentiable",
        program=program.cube_not_differentiable,
        reference=lambda x: -(x * x * x),
        vjp=lambda g, x: None,
        ulp=CUBE,
        recipes=PLAIN,
        ops="Neg",
        evidence=dict.fromkeys(WITHOUT_XLA, f"{LOADED};ran:CubeNotDifferentiable") | {"xla": LOADED},
        files=(SOURCE,),
        dtypes=FLOAT,
        contract=REFUSED,
        claims=(NO_GRADIENT,),
    ),
    Squared(
        name="claim-c06-square-mapped-to-no-gradient",
        program=program.square_mapped_to_no_gradient,
        ops="Square",
        evidence="called:function;replaced:Square=SquareWithoutGradient",
        dtypes=FLOAT,
        claims=(NO_GRADIENT,),
    ),
    Spec(
        name="claim-c06-square-declared",
        program=program.square_declared_not_differentiable,
        reference=lambda x: Raises("KeyError", "Registering two gradient with name 'Square'!"),
        ulp={"output": 0.5},
        recipes=PLAIN,
        ops="",
        evidence="called:no_gradient",
        claims=(
            TOPIC.claim(
                "f",
                "NoGradient switches the gradient of any op off.",
                "output",
                reference=np.square,
                refuted={"*/*": "Square has a gradient already, and a second one under a taken name is a KeyError"},
                instead="claim-c06-square-stopped",
            ),
        ),
    ),
    Squared(
        name="claim-c06-square-stopped",
        program=program.square_stopped,
        ops="Square",
    ),
    Spec(
        name="claim-c06-square-gradient-in-cpp",
        program=program.square_gradient_in_cpp,
        reference=lambda x, grad: -2 * x * grad,
        recipes={"two": _two},
        ops="Neg",
        evidence="built:SymbolicGradient;called:raw_ops.SymbolicGradient",
        dtypes=FLOAT,
        claims=(
            TOPIC.claim(
                "g",
                "The gradient of an op is not defined at C++ level.",
                "output",
                denies=True,
                refuted={
                    "*/*": "SymbolicGradient finds the gradient that C++ registers for Square: the result is 2·x·g"
                },
            ),
        ),
    ),
    Spec(
        name="claim-c06-sqrt-grad",
        program=program.sqrt_grad,
        reference=lambda x, grad: (0.5 * grad / np.sqrt(x), 0.5 * grad / np.sqrt(x)),
        recipes={"powers": _powers},
        ops="Sqrt;SqrtGrad",
        evidence="called:GradientTape;called:raw_ops.SqrtGrad",
        dtypes=FLOAT,
        claims=(TOPIC.claim("i", "Ops whose names end in Grad implement the gradients of other ops.", "output"),),
    ),
    Imported(
        name="claim-c06-imported-without-library",
        program=program.import_without_the_library,
        reference=lambda x: Raises("NOT_FOUND", "Op type not registered 'SkipCube'"),
        claims=(
            TOPIC.claim(
                "h",
                "Another program that imports the graph without the library does not find the op.",
                "output",
                instead="claim-c06-imported-with-library",
            ),
        ),
    ),
    Imported(
        name="claim-c06-imported-with-library",
        program=program.import_with_the_library,
        reference=_cubed,
        ulp=CUBE,
    ),
)
