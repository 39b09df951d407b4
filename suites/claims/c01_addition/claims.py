"""An addition that a Python function takes over: the claims."""

from functools import partial

import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import plain
from tf_opdiff.harness.spec.plan import MODES, PLANS_WITHOUT_XLA
from tf_opdiff.harness.spec.spec import Raises, Side, Spec
from tf_opdiff.suites.claims.c01_addition import program, reference
from tf_opdiff.suites.claims.c01_addition.topic import TOPIC
from tf_opdiff.suites.claims.evidence import CUSTOM_GRADIENT, MINIMIZE, PY_FUNC, py_func_mapped
from tf_opdiff.suites.forms.contracts import NO_KERNEL, REFUSED_BY_XLA, TAPE, TAPE_LINK

FORMULA = (
    "g is the upstream of e, δ·d: the formula gives δ·(e + 2·d·e + d²) and δ·d², where δ·(e + d) and δ·d are right"
)


def _net(draw, dtype):
    """x, c and k with two elements each, and the number of the right one."""
    numbers = (draw.uniform(2, low=0.25, high=1.5) * np.where(draw.booleans(2), 1, -1) for _ in range(3))
    return (*(n.astype(dtype) for n in numbers), draw.integers(low=0, high=2))


BOTH = {"output": reference.loss_bound, "grad": reference.grad_bound}
TRAINED_BY_MAP = f"{PY_FUNC};ran:PyFunc;replaced:PyFunc=AddGradient;ran:ResourceApplyAdam"
NET = {"net": _net}
#: Under op determinism, TensorFlow makes the loss of other ops.
OPS = dict.fromkeys(MODES, "AddV2;Mul;SparseSoftmaxCrossEntropyWithLogits") | {"+deterministic": "AddV2;Mul;LogSoftmax"}
FLOAT = ("float32", "float64")
TAPED = dict.fromkeys(
    ("*/eager", "*/function"), Side(reference=reference.loss, vjp=reference.by_d_only, why=TAPE, link=TAPE_LINK)
)
NO_GRADIENT = f"{TAPE}: PyFunc has no gradient of its own, so that k gets None, and c what comes by d"
SAME = {"*/xla": NO_KERNEL}

Loss = partial(Spec, reference=reference.loss, bound=BOTH, recipes=NET, ops=OPS, dtypes=FLOAT)
Trained = partial(Spec, bound={"output": reference.trained_bound}, recipes=NET, ops=OPS, dtypes=FLOAT)
InSession = partial(Trained, modes=("graph",), sessions=True)
InSteps = partial(Trained, state=program.weights, steps=program.STEPS)

SPECS = (
    Loss(
        name="claim-c01-overridden",
        program=program.overridden_loss,
        vjp=reference.by_formula,
        evidence=py_func_mapped("AddGradient"),
        contract=REFUSED_BY_XLA | TAPED,
        claims=(
            TOPIC.claim("a", "The loss is unchanged.", "output", refuted=SAME, instead="claim-c01-custom-gradient"),
            TOPIC.claim(
                "b",
                "The gradients of c and k are the same as with tf.add.",
                "grad[1]",
                "grad[2]",
                vjp=reference.right,
                refuted=SAME | {"*/graph": FORMULA, "*/*": NO_GRADIENT},
                instead="claim-c01-custom-gradient",
            ),
        ),
    ),
    Loss(
        name="claim-c01-overridden-called",
        program=program.called_loss,
        vjp=reference.by_formula,
        evidence=f"{PY_FUNC};called:function;replaced:PyFunc=AddGradient",
        contract=REFUSED_BY_XLA,
        claims=(
            TOPIC.claim(
                "f",
                "Where the map is honoured, as around a tf.function, the gradients are those of tf.add.",
                "grad[1]",
                "grad[2]",
                vjp=reference.right,
                refuted=SAME | {"*/*": FORMULA},
                instead="claim-c01-custom-gradient",
            ),
        ),
    ),
    Loss(
        name="claim-c01-closing-over-d",
        program=program.closing_over_d,
        vjp=reference.closed,
        evidence=f"{PY_FUNC};called:function;replaced:PyFunc",
        contract=REFUSED_BY_XLA,
        claims=(
            TOPIC.claim(
                "c",
                "d must be passed to the Python function for the gradient to use it.",
                "grad[1]",
                "grad[2]",
                denies=True,
                plans=PLANS_WITHOUT_XLA,
                refuted={"*/*": "a gradient function may use any tensor of the graph that it closes over"},
                instead="claim-c01-closing-in-custom-gradient",
            ),
        ),
    ),
    Loss(
        name="claim-c01-closing-in-custom-gradient",
        program=program.closing_in_custom_gradient,
        vjp=reference.closed,
        evidence=CUSTOM_GRADIENT,
    ),
    Loss(
        name="claim-c01-mended",
        program=program.mended_loss,
        vjp=reference.right,
        evidence=f"{PY_FUNC};called:function;replaced:PyFunc=SumGradient",
        contract=REFUSED_BY_XLA,
    ),
    Loss(
        name="claim-c01-custom-gradient",
        program=program.custom_loss,
        vjp=reference.right,
        evidence=CUSTOM_GRADIENT,
    ),
    Spec(
        name="claim-c01-register-twice",
        program=program.register_twice,
        reference=lambda x: Raises("KeyError", "Registering two gradient with name 'AddGradientTwice'!"),
        recipes={"plain": plain},
        ops="",
        evidence="called:RegisterGradient",
        claims=(
            TOPIC.claim(
                "e", "The name of a gradient must be unique: registering it a second time is an error.", "output"
            ),
        ),
    ),
    Spec(
        name="claim-c01-register-in-two-graphs",
        program=program.register_in_two_graphs,
        reference=lambda x: Raises("KeyError", "Registering two gradient with name 'AddGradientOfGraph'!"),
        recipes={"plain": plain},
        ops="",
        evidence="called:RegisterGradient;called:Graph",
        claims=(
            TOPIC.claim(
                "g",
                "It is enough that the name is unique in its graph.",
                "output",
                reference=lambda x: x,
                refuted={"*/*": "names of gradients belong to the process: the graph of the first does not matter"},
                instead="claim-c01-closing-over-d",
            ),
        ),
    ),
    InSession(
        name="claim-c01-train-plain",
        program=program.train_plain,
        reference=reference.trained(reference.right),
        evidence="ran:ResourceApplyAdam",
    ),
    InSession(
        name="claim-c01-train-overridden",
        program=program.train_overridden,
        reference=reference.trained(reference.by_formula),
        evidence=f"{TRAINED_BY_MAP};called:compat.v1.train.Optimizer.compute_gradients",
        claims=(
            TOPIC.claim(
                "h",
                "Training is the same as with tf.add.",
                "output",
                reference=reference.trained(reference.right),
                refuted={"*/graph": f"{FORMULA}; Adam takes another path"},
                instead="claim-c01-train-plain",
            ),
        ),
    ),
    InSession(
        name="claim-c01-train-by-minimize",
        program=program.train_by_minimize,
        reference=reference.trained(reference.by_formula),
        evidence=f"{TRAINED_BY_MAP};{MINIMIZE}",
        claims=(
            TOPIC.claim(
                "d",
                "compute_gradients and apply_gradients must be called explicitly: minimize does not do for an "
                "overridden gradient.",
                "output",
                denies=True,
                refuted={"*/graph": "minimize calls the two: every step is the same"},
                instead="claim-c01-train-by-custom-gradient",
            ),
        ),
    ),
    InSteps(
        name="claim-c01-train-by-formula",
        program=program.train_by_formula,
        reference=reference.steps(reference.by_formula),
        evidence=f"{CUSTOM_GRADIENT};built:ResourceApplyAdam",
        claims=(
            TOPIC.claim(
                "i",
                "Training is the same as with tf.add where tf.custom_gradient takes the place of the map.",
                "output",
                reference=reference.steps(reference.right),
                refuted={"*/*": f"{FORMULA}; Adam takes another path"},
                instead="claim-c01-train-by-custom-gradient",
            ),
        ),
    ),
    InSteps(
        name="claim-c01-train-by-custom-gradient",
        program=program.train_by_custom_gradient,
        reference=reference.steps(reference.right),
        evidence=f"{CUSTOM_GRADIENT};built:ResourceApplyAdam",
    ),
)
