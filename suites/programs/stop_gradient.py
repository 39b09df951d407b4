"""Ops that stop a gradient, forbid it, or let it pass: StopGradient, PreventGradient, `tf.grad_pass_through`."""

from tf_opdiff.harness.spec.inputs.recipes import COMPLEX, FLOATS, INTEGERS, edges, plain
from tf_opdiff.harness.spec.plan import WITHOUT_XLA
from tf_opdiff.harness.spec.spec import Raises, Side, Spec
from tf_opdiff.suites.forms.recipes.quarters import MATRIX, SHAPES


def _variable(tf, x, *_):
    return {"v": tf.Variable(x + x.dtype.type(1))}


def _pass_through_assign(tf, state, x):
    return tf.grad_pass_through(state["v"].assign)(2 * x)


_PREVENTED = Side(
    reference=lambda x: x,
    vjp=lambda g, x: Raises("LookupError", "Gradient explicitly disabled. Reason: b'no way'"),
    why="the graph returns an error when the gradient of this op is requested",
    link="https://www.tensorflow.org/api_docs/python/tf/raw_ops/PreventGradient",
)

SPECS = (
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
        vjp=lambda g, x: g,
        contract={"*/*": _PREVENTED},
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
        name="prevent-gradient-shapes",
        program=lambda tf, x: tf.raw_ops.PreventGradient(input=x, message=""),
        reference=lambda x: x,
        recipes=SHAPES,
        ops="PreventGradient",
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
        modes=WITHOUT_XLA,  # XLA has no strings
    ),
)
