"""An op in C++: the claims."""

from functools import partial

from tf_opdiff.harness.spec.inputs.recipes import SHAPES, edges, plain
from tf_opdiff.harness.spec.plan import PLANS_WITHOUT_XLA, WITHOUT_XLA
from tf_opdiff.harness.spec.spec import Raises, Side, Spec
from tf_opdiff.suites.claims.c06_compiled_op import program
from tf_opdiff.suites.claims.c06_compiled_op.cpp.build import SOURCES
from tf_opdiff.suites.claims.c06_compiled_op.topic import TOPIC

RECIPES = {"edges": edges, "plain": plain, **SHAPES}
FLOAT = ("float32", "float64")
NO_KERNEL = "XLA compiles ops that have a kernel for XLA, and the library has none"
REFUSED = {
    "*/xla": Side(
        reference=lambda x: Raises("INVALID_ARGUMENT", "unsupported operations"),
        why="the whole function needs to be compilable by XLA, or InvalidArgumentError is thrown; this op is not",
        link="https://www.tensorflow.org/api_docs/python/tf/function",
    )
}


def _cubed(x):
    return x * x * x


#: Two products, each rounded: the first error is doubled at most where the second takes it into a lower binade.
CUBE = {"output": 1.5}

Cubed = partial(Spec, reference=_cubed, ulp=CUBE, dtypes=FLOAT)

SPECS = (
    Cubed(
        name="claim-c06-skip-cube",
        program=program.skip_cube,
        vjp=lambda g, x: g,
        elementwise=True,
        recipes=RECIPES,
        ops=dict.fromkeys(WITHOUT_XLA, "SkipCube"),
        files=SOURCES,
        contract=REFUSED,
        claims=(
            TOPIC.claim(
                "a",
                "An op in C++ works without rebuilding TensorFlow.",
                "output",
                refuted={"*/xla": NO_KERNEL},
                instead="claim-c06-custom-gradient",
            ),
            TOPIC.claim(
                "c",
                "A gradient that Python registers under the op's name is the op's, in eager mode as in a graph.",
                "grad",
                refuted={"*/xla": NO_KERNEL},
                instead="claim-c06-custom-gradient",
            ),
            TOPIC.claim(
                "d",
                "With a CUDA kernel beside the other, it runs on a GPU.",
                "output",
                plans=("gpu/eager", "gpu/function", "gpu/graph"),
            ),
        ),
    ),
    Cubed(
        name="claim-c06-without-gradient",
        program=program.cube_without_gradient,
        vjp=lambda g, x: Raises("LookupError", "CubeWithoutGradient"),
        recipes={"plain": plain},
        ops=dict.fromkeys(WITHOUT_XLA, "CubeWithoutGradient"),
        files=SOURCES,
        contract=REFUSED,
        claims=(
            TOPIC.claim(
                "b",
                "Nothing but that name links the two: before it is registered, asking for the gradient is a "
                "LookupError.",
                "grad",
                plans=PLANS_WITHOUT_XLA,
            ),
        ),
    ),
    Cubed(
        name="claim-c06-custom-gradient",
        program=program.skip_cube_by_custom_gradient,
        vjp=lambda g, x: g,
        recipes={"plain": plain},
        ops="Mul",
    ),
)
