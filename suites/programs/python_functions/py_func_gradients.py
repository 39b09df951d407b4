"""The gradients of Python functions as ops: their own, and those that a map or `tf.custom_gradient` gives them."""

import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import FLOATS, empty, matrix, scalar
from tf_opdiff.harness.spec.plan import WITHOUT_XLA
from tf_opdiff.harness.spec.spec import Spec
from tf_opdiff.suites.forms.contracts import REFUSED_BY_XLA, taped
from tf_opdiff.suites.forms.programs.py_func import ALL, PY_FUNCTION, calls, counting, py_function, squaring
from tf_opdiff.suites.reference.control_flow.py_func import half, square
from tf_opdiff.suites.reference.registered import registered


def mapped(api):
    """A program that squares under a gradient override map."""

    call, name = api.call, api.op

    def program(tf, x):
        gradient = registered(tf, "HalfSquare", lambda op, g: half(g, op.inputs[0]))
        with tf.compat.v1.get_default_graph().gradient_override_map({name: gradient}):
            return squaring(call)(tf, x)

    return program


def called(program):
    """The program as a `tf.function` of its own, whose graph is then what gets differentiated."""
    return lambda tf, x: tf.function(lambda x: program(tf, x), autograph=False)(x)


def wrapped(call):
    """A program that squares within `tf.custom_gradient`."""

    def program(tf, x):
        @tf.custom_gradient
        def squared(x):
            return squaring(call)(tf, x), lambda g: half(g, x)

        return squared(x)

    return program


def unconnected(g, x):
    """The VJP of a function that has no gradient."""
    return


def _natural(g, x):
    """The VJP of `square` itself."""
    return 2 * x * g


SPECS = (
    Spec(
        name="py-function-calls-gradient",
        ops=PY_FUNCTION.ops,
        state=calls,
        program=lambda tf, state, x, call=py_function: squaring(
            lambda tf, function, *rest: call(tf, counting(state, function), *rest)
        )(tf, x),
        reference=lambda x: (x * x, {"calls": np.int64(1)}),
        vjp=lambda g, x: 2 * x * g,
        ulp={"output[0]": 0.5, "grad": 0.5},
        recipes={"matrix": matrix},
        contract=REFUSED_BY_XLA,
    ),
    *(
        Spec(
            name=f"{api.name}-custom-gradient",
            ops=api.ops,
            program=wrapped(api.call),
            reference=square,
            vjp=half,
            ulp={"output": 0.5, "grad": 0.5},
            recipes={"matrix": matrix},
            dtypes=FLOATS,
            contract=REFUSED_BY_XLA,
        )
        for api in ALL
    ),
    *(
        Spec(
            name=f"{api.name}-override-called-map",
            ops=dict.fromkeys(WITHOUT_XLA, api.op),
            program=called(mapped(api)),
            reference=square,
            vjp=half,
            ulp={"output": 0.5, "grad": 0.5},
            recipes={"matrix": matrix},
            dtypes=FLOATS,
            contract=REFUSED_BY_XLA,
        )
        for api in ALL
    ),
    *(
        Spec(
            name=f"{api.name}-override-map",
            ops=api.ops,
            program=mapped(api),
            reference=square,
            vjp=half,
            ulp={"output": 0.5, "grad": 0.5},
            recipes={"matrix": matrix},
            contract=REFUSED_BY_XLA
            | taped(square, _natural if api.eager else unconnected, plans=("*/eager", "*/function")),
        )
        for api in ALL
    ),
    Spec(
        name="py-function-gradient",
        ops=PY_FUNCTION.ops,
        program=squaring(py_function),
        reference=square,
        vjp=lambda g, x: 2 * x * g,
        ulp={"output": 0.5, "grad": 0.5},
        recipes={"empty": empty, "matrix": matrix, "scalar": scalar},
        dtypes=FLOATS,
        contract=REFUSED_BY_XLA,
        tier="smoke",
    ),
)
