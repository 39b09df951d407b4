"""The rules of the answer on py_func: the claims."""

from functools import partial

import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import plain
from tf_opdiff.harness.spec.plan import PLANS_WITHOUT_XLA
from tf_opdiff.harness.spec.spec import Raises, Side, Spec
from tf_opdiff.suites.claims.c02_ops_in_python_function.claims import EAGER, EAGER_LINK
from tf_opdiff.suites.claims.c02_ops_in_python_function.topic import TOPIC
from tf_opdiff.suites.claims.c02_python_function_rules import program
from tf_opdiff.suites.claims.evidence import PY_FUNC, by_py_func
from tf_opdiff.suites.forms.contracts import REFUSED_BY_XLA


def _minus_square(x):
    return -(x * x)


def _minus_sum(x, y, z):
    return -(x * y + z)


def _three(draw, dtype):
    """Quarters, whose products and sums are exact."""
    return tuple((draw.integers(9, low=-16, high=17) / 4).astype(dtype) for _ in range(3))


def _single(draw, dtype):
    """float32, whatever the dtype of the case is."""
    return plain(draw, np.dtype(np.float32))


def _replaced(gradient):
    return f"{PY_FUNC};called:function;replaced:PyFunc={gradient}"


PLAIN = {"plain": plain}
Mapped = partial(Spec, recipes=PLAIN, ops="Neg", dtypes=("float32", "float64"), ulp={"output": 0.5, "grad": 0.5})
Wide = partial(Spec, recipes={"single": _single}, ops="Neg", dtypes=("float64",))
Imported = partial(
    Spec,
    recipes=PLAIN,
    ops="Neg",
    evidence=f"{PY_FUNC};called:graph_util.import_graph_def",
    modes=("graph",),
    sessions=True,
)

SPECS = (
    Mapped(
        name="claim-c02-numpy-in-gradient",
        program=program.numpy_in_gradient,
        reference=_minus_square,
        vjp=lambda g, x: Raises("NotImplementedError", "Cannot convert a symbolic tf.Tensor"),
        evidence=_replaced("SquareGradientByNumPy"),
        contract=REFUSED_BY_XLA,
        claims=(
            TOPIC.claim(
                "e",
                "The gradient has to be written with TensorFlow ops: NumPy in it is an error.",
                "grad",
                plans=PLANS_WITHOUT_XLA,
                instead="claim-c02-numpy-in-py-func-in-gradient",
            ),
        ),
    ),
    Mapped(
        name="claim-c02-numpy-in-py-func-in-gradient",
        program=program.numpy_in_py_func_in_gradient,
        reference=_minus_square,
        vjp=lambda g, x: -2 * x * g,
        evidence=_replaced("SquareGradientByPyFunc"),
        contract=REFUSED_BY_XLA,
    ),
    Mapped(
        name="claim-c02-two-of-three",
        program=program.two_of_three,
        reference=_minus_sum,
        vjp=lambda g, x, y, z: Raises("ValueError", "Num gradients 2 generated for op"),
        recipes={"three": _three},
        evidence=_replaced("TwoOfThree"),
        contract=REFUSED_BY_XLA,
        claims=(
            TOPIC.claim(
                "f",
                "The gradient function has to return a gradient for each variable that is passed: two for three "
                "is an error.",
                "grad",
                plans=PLANS_WITHOUT_XLA,
                instead="claim-c02-none-for-the-third",
            ),
        ),
    ),
    Mapped(
        name="claim-c02-none-for-the-third",
        program=program.none_for_the_third,
        reference=_minus_sum,
        vjp=lambda g, x, y, z: (-g * y, -g * x, None),
        recipes={"three": _three},
        evidence=_replaced("NoneForTheThird"),
        contract=REFUSED_BY_XLA,
    ),
    Wide(
        name="claim-c02-float64-for-float32",
        program=program.float64_for_float32,
        reference=lambda x: Raises("INVALID_ARGUMENT", "is double, but expects float"),
        evidence=by_py_func(),
        contract=REFUSED_BY_XLA | {"*/eager": Side(reference=_minus_square, why=EAGER, link=EAGER_LINK)},
        claims=(
            TOPIC.claim(
                "g",
                "The function has to return the dtype that was declared: float64 for tf.float32 is an error.",
                "output",
                plans=PLANS_WITHOUT_XLA,
                refuted={"*/eager": "executed eagerly, there is no op: the array becomes a tensor of its own dtype"},
                instead="claim-c02-float32-for-float32",
            ),
        ),
    ),
    Wide(
        name="claim-c02-float32-for-float32",
        program=program.float32_for_float32,
        reference=lambda x: _minus_square(x).astype(np.float32).astype(np.float64),
        evidence=by_py_func(),
        contract=REFUSED_BY_XLA,
    ),
    Imported(
        name="claim-c02-imported-without-its-graph",
        program=program.imported_without_its_graph,
        reference=lambda x: Raises("INVALID_ARGUMENT", "callback"),
        claims=(
            TOPIC.claim(
                "i",
                "The process that exported the graph does not find the function either, once that graph is gone.",
                "output",
                instead="claim-c02-imported-beside-its-graph",
            ),
        ),
    ),
    Spec(
        name="claim-c02-imported-in-another-process",
        program=program.imported_in_another_process,
        reference=lambda x: Raises("INVALID_ARGUMENT", "callback"),
        recipes=PLAIN,
        ops="Neg",
        evidence=PY_FUNC,
        modes=("graph",),
        sessions=True,
        claims=(
            TOPIC.claim(
                "h",
                "py_func is not serialised: another process does not find the Python function in the graph that "
                "it imports.",
                "output",
                instead="claim-c02-imported-beside-its-graph",
            ),
        ),
    ),
    Imported(
        name="claim-c02-imported-beside-its-graph",
        program=program.imported_beside_its_graph,
        reference=_minus_square,
        ulp={"output": 0.5},
    ),
)
