"""Three uses of tf.identity: the claims."""

from functools import partial

import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import FLOATS, plain
from tf_opdiff.harness.spec.spec import Side, Spec
from tf_opdiff.suites.claims.c11_identity import program, reference
from tf_opdiff.suites.claims.c11_identity.reference import averages, five, five_averages, losses
from tf_opdiff.suites.claims.c11_identity.topic import TOPIC
from tf_opdiff.suites.claims.evidence import CONTROL_DEPENDENCIES, mapped, waiting_for
from tf_opdiff.suites.forms.contracts import TAPE, TAPED, taped


def _batches(draw, dtype):
    return (draw.values(dtype, 5, 9),)


def _nine(draw, dtype):
    return (draw.values(dtype, 9),)


#: 1 less a decay of 0.9: ExponentialMovingAverage computes it in float32, whatever the dtype of the average.
RATE = np.float64(np.float32(1) - np.float32(0.9))
WIDE = ("float32", "float64")
NOT_RUN = "total_loss was made outside the context and waits for nothing; in a session nobody asks for the averages"
IN_ORDER = "outside of v1 graphs a program runs in its order: the averages are updated where the line stands"

Sign = partial(Spec, reference=np.sign, vjp=lambda g, x: g, recipes={"plain": plain}, dtypes=FLOATS)
Copied = partial(Spec, recipes={"plain": plain}, ops="Mul", evidence="called:identity", dtypes=WIDE)
Tower = partial(Spec, bound=reference.LOSS, recipes={"batches": _batches}, dtypes=WIDE, modes=("graph",), sessions=True)
Averaged = partial(
    Spec,
    state=program.moving_average,
    steps=5,
    reference=lambda x: (five(x), five_averages(x), {"average": five_averages(x)[-1]}),
    bound=reference.LOSS,
    recipes={"nine": _nine},
    ops="AssignSubVariableOp",
    dtypes=WIDE,
)

SPECS = (
    Sign(
        name="claim-c11-straight-through",
        program=program.straight_through,
        ops="Sign",
        evidence=mapped("Sign", "Identity"),
        contract=taped(np.sign, lambda g, x: np.zeros_like(x)),
        claims=(
            TOPIC.claim(
                "a",
                "Identity in the place of sign's gradient makes a straight-through estimator.",
                "grad",
                refuted=dict.fromkeys(TAPED, f"{TAPE}: sign keeps its own gradient, which is 0"),
                instead="claim-c11-straight-through-everywhere",
            ),
        ),
    ),
    Sign(
        name="claim-c11-straight-through-everywhere",
        program=program.straight_through_everywhere,
        ulp={"output": 1},
        ops="Sign;StopGradient",
    ),
    Copied(
        name="claim-c11-placed",
        program=program.placed,
        reference=lambda x: (2 * x, 2 * x, np.array([b"CPU:0", b"CPU:1"])),
        modes=("graph",),
        sessions=True,
        claims=(TOPIC.claim("b", "tf.identity under the scope of another device moves a tensor there.", "output"),),
    ),
    Copied(
        name="claim-c11-copied",
        program=program.copied,
        constant=("output[1]",),  # where the tensors are
        reference=lambda x: (2 * x, np.array([False, True])),
        modes=("eager",),  # elsewhere a program is traced, and a tensor is nowhere yet
        claims=(
            TOPIC.claim(
                "d",
                "Eagerly, too, tf.identity under the scope of another device gives a tensor that is there.",
                "output",
            ),
        ),
    ),
    Tower(
        name="claim-c11-tower-loss",
        program=program.with_identity,
        reference=lambda x: (losses(x), averages(losses(x), RATE)),
        ops="Square;Mean;AssignSubVariableOp",
        evidence=f"called:identity;{CONTROL_DEPENDENCIES};ran:AssignSubVariableOp",
        claims=(
            TOPIC.claim(
                "c",
                "tf.identity is a node to hang control dependencies on: fetching the loss updates the averages.",
                "output",
            ),
        ),
    ),
    Tower(
        name="claim-c11-tower-loss-as-it-is",
        program=program.without_identity,
        reference=lambda x: (losses(x), np.zeros(5), averages(losses(x)[-1:], RATE)[0]),
        bound={quantity: bound for quantity, bound in reference.LOSS.items() if quantity != "output[1]"},  # exactly 0
        ops="Square;Mean",
        evidence=f"{CONTROL_DEPENDENCIES};built:AssignSubVariableOp",
        claims=(
            TOPIC.claim(
                "e",
                "The context alone does it: the loss, fetched as it is, updates the averages as well.",
                "output[1]",
                reference=lambda x: (losses(x), averages(losses(x), RATE), averages(losses(x), RATE)[-1]),
                refuted={"*/graph": NOT_RUN},
                instead="claim-c11-tower-loss",
            ),
        ),
    ),
    Averaged(
        name="claim-c11-average-without-identity",
        program=program.averaged_without_identity,
        evidence=waiting_for("AssignSubVariableOp"),
        contract={
            "*/graph": Side(
                reference=lambda x: (five(x), np.zeros(5), {"average": np.float64(0)}),
                why=NOT_RUN,
                link="https://www.tensorflow.org/api_docs/python/tf/Graph#control_dependencies",
            )
        },
        claims=(
            TOPIC.claim(
                "f",
                "Without the identity the averages are not updated.",
                "output[1]",
                reference=lambda x: (five(x), np.zeros(5), {"average": np.float64(0)}),
                refuted=dict.fromkeys(("*/eager", "*/function", "*/xla"), IN_ORDER),
                instead="claim-c11-average-with-identity",
            ),
        ),
    ),
    Averaged(
        name="claim-c11-average-with-identity",
        program=program.averaged_with_identity,
        evidence=f"called:identity;{CONTROL_DEPENDENCIES}",
    ),
    Spec(
        name="claim-c11-identity",
        program=program.identity_alone,
        reference=lambda x: x,
        vjp=lambda g, x: g,
        recipes={"plain": plain},
        ops="Identity",
        evidence="called:identity",
        dtypes=FLOATS,
        claims=(
            TOPIC.claim(
                "g",
                "tf.identity itself hands on the value, and on the way back the upstream, unchanged.",
                "output",
                "grad",
            ),
        ),
    ),
)
