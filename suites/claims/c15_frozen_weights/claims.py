"""Frozen weights and optimisers: the claims."""

import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import FLOATS
from tf_opdiff.harness.spec.spec import Raises, Spec
from tf_opdiff.suites.claims.c15_frozen_weights import inputs, more_specs, program, reference, session_program
from tf_opdiff.suites.claims.c15_frozen_weights.inputs import SCHEDULE
from tf_opdiff.suites.claims.c15_frozen_weights.shared_claims import AS_IF_NOT_LEFT_OUT, CORRECTED, MOVES, OTHERS_STAY
from tf_opdiff.suites.claims.c15_frozen_weights.topic import TOPIC
from tf_opdiff.suites.claims.c15_frozen_weights.training import ASSIGN_SLOTS, LOAD_SLOTS, TF2, Training
from tf_opdiff.suites.claims.evidence import MINIMIZE
from tf_opdiff.suites.reference.promises.running import bound

LATER = "An optimizer that was first given some of the variables can be given the others later."
TOGETHER, APART = {"together": inputs.together}, {"apart": inputs.apart}
SPECS = (
    Spec(
        name="claim-c15-masked",
        program=program.masked,
        reference=lambda w, mask: w,
        vjp=lambda g, w, mask: (g * mask, g * w),
        recipes={"weights": lambda draw, dtype: (np.resize(draw.values(dtype, 9), (6, 9)), SCHEDULE.astype(dtype))},
        ops="StopGradient;Abs",
        dtypes=FLOATS,
        ulp={"grad[1]": 0.5},
        claims=(
            TOPIC.claim(
                "a",
                "The gradient of a masked weight is 0, as a number; the value of the weight goes through.",
                "output",
                "grad[0]",
            ),
        ),
    ),
    *Training(
        in_session=session_program.sgd_in_session,
        program=program.train_masked,
        state=program.with_sgd,
        reference=reference.sgd,
        optimizer="GradientDescent",
    ).specs(
        "claim-c15-sgd",
        TOGETHER,
        TOPIC.claim(
            "b",
            "Plain gradient descent leaves masked weights where they are.",
            "output[1]",
            reference=reference.moving(reference.sgd, reference.unmasked),
        ),
    ),
    *Training(
        in_session=session_program.adam_in_session,
        program=program.train_masked,
        state=program.with_adam,
        reference=reference.adam,
    ).specs(
        "claim-c15-adam",
        TOGETHER,
        TOPIC.claim("c", MOVES, "output[1]", reference=reference.moving(reference.adam, reference.updated_earlier)),
    ),
    *Training(
        in_session=session_program.zero_slots_in_session,
        program=program.zero_slots,
        state=program.with_adam,
        reference=reference.zeroed,
        slots=";built:AssignVariableOp",
        slots_in_session=ASSIGN_SLOTS,
    ).specs(
        "claim-c15-zeroed-slots",
        TOGETHER,
        TOPIC.claim(
            "d",
            "Zeroing m and v of the masked weights stops that.",
            "output[1]",
            reference=reference.moving(reference.zeroed, reference.unmasked),
        ),
    ),
    *Training(
        in_session=session_program.zero_m_in_session,
        program=program.zero_m,
        state=program.with_adam,
        reference=reference.zeroed_m,
        slots=";built:AssignVariableOp",
        slots_in_session=ASSIGN_SLOTS,
    ).specs(
        "claim-c15-zeroed-m",
        TOGETHER,
        TOPIC.claim(
            "i",
            "Both m and v have to be zeroed: with m alone, the weights go on moving.",
            "output[1]",
            reference=reference.moving(reference.zeroed_m, reference.updated_earlier),
            refuted={"*/*": "0/(√v + ε) is 0 whatever v is, and a gradient of 0 adds nothing to m"},
            instead="claim-c15-zeroed-m",
        ),
    ),
    *Training(
        in_session=session_program.restore_slots_in_session,
        program=program.restore_slots,
        state=program.with_adam,
        reference=reference.restored,
        outputs=1,
        slots=";built:AssignVariableOp",
        slots_in_session=LOAD_SLOTS,
    ).specs(
        "claim-c15-restored-slots",
        APART,
        TOPIC.claim(
            "e",
            "Restoring m and v resumes as if the weight had never been frozen.",
            "output[0]",
            reference=reference.never_frozen,
            refuted={"*/*": "the bias correction counts the frozen steps, too: " + CORRECTED},
            instead="claim-c15-own-adam",
        ),
    ),
    Spec(
        name="claim-c15-own-adam",
        program=program.own_adam,
        reference=reference.own,
        recipes=APART,
        bound={"output[0]": bound(reference.own, 0)},
        dtypes=("float32", "float64"),
        ops="Pow;Sqrt",
        evidence="called:GradientTape;built:StopGradient",
        claims=(
            TOPIC.claim(
                "j",
                "An Adam that counts the steps of each weight for itself resumes as if it had never been frozen.",
                "output[0]",
                reference=reference.never_frozen,
            ),
        ),
    ),
    *Training(
        in_session=session_program.subset_in_session,
        program=program.subset,
        state=program.two_variables,
        reference=reference.subset,
        outputs=3,
        names=("a", "b"),
    ).specs(
        "claim-c15-subset",
        {"apart": inputs.in_two(inputs.apart)},
        OTHERS_STAY,
        AS_IF_NOT_LEFT_OUT,
    ),
    Spec(
        name="claim-c15-later-in-session",
        program=session_program.later_in_session,
        reference=reference.later,
        bound={f"output[{i}]": bound(reference.later, i) for i in range(2)},
        recipes={"apart": inputs.in_two(inputs.apart)},
        ops="ResourceApplyAdam",
        evidence=MINIMIZE,
        dtypes=("float32", "float64"),
        modes=("graph",),
        sessions=True,
        claims=(TOPIC.claim("l", LATER, "output"),),
    ),
    Spec(
        name="claim-c15-later",
        program=program.later,
        state=program.two_variables_not_built,
        reference=lambda *inputs: Raises("ValueError", "Unknown variable"),
        bound={f"output[{i}]": bound(reference.later, i) for i in range(2)},
        recipes={"apart": inputs.in_two(inputs.apart)},
        ops="",
        evidence="called:keras.optimizers.Adam",
        dtypes=("float32", "float64"),
        modes=TF2,
        claims=(
            TOPIC.claim(
                "l",
                LATER,
                "output",
                reference=reference.later,
                refuted={"*/*": "Keras builds an optimizer for the variables of the first call, and knows no others"},
                instead="claim-c15-subset",
            ),
        ),
    ),
    *Training(
        in_session=session_program.two_optimizers_in_session,
        program=program.two_optimizers,
        state=program.two_variables_two_optimizers,
        reference=reference.two_optimizers,
        outputs=3,
        names=("a", "b"),
    ).specs(
        "claim-c15-two-optimizers",
        {"apart": inputs.in_two(inputs.apart)},
        TOPIC.claim(
            "k",
            "With an optimizer of its own, it does go on as if those steps had not been.",
            "output[1]",
            reference=reference.never_left_out,
        ),
    ),
    *Training(
        in_session=session_program.momentum_in_session,
        program=program.train_masked,
        state=program.with_momentum,
        reference=reference.momentum,
        optimizer="Momentum",
    ).specs(
        "claim-c15-momentum",
        TOGETHER,
        TOPIC.claim(
            "g",
            "Gradient descent with momentum leaves masked weights where they are, as plain descent does.",
            "output[1]",
            reference=reference.moving(reference.momentum, reference.unmasked),
            refuted={"*/*": "what moves a weight is the sum of the gradients before, which fades but is not masked"},
            instead="claim-c15-subset",
        ),
    ),
    *more_specs.AS_PRINTED,
    *more_specs.FIXED_MASK,
)
