"""Frozen weights as the answer has them: its masks, its Adam, its calls of apply_gradients, and other optimizers."""

from dataclasses import replace
from typing import Any

from tf_opdiff.harness.spec.spec import Raises, Spec
from tf_opdiff.suites.claims.c15_frozen_weights import (
    as_printed,
    inputs,
    other_optimizers,
    other_reference,
    program,
    reference,
    session_program,
)
from tf_opdiff.suites.claims.c15_frozen_weights.shared_claims import AS_IF_NOT_LEFT_OUT, MOVES, OTHERS_STAY
from tf_opdiff.suites.claims.c15_frozen_weights.topic import TOPIC
from tf_opdiff.suites.claims.c15_frozen_weights.training import Training
from tf_opdiff.suites.reference.promises.running import bound

APPLY = "called:compat.v1.train.Optimizer.compute_gradients;called:compat.v1.train.Optimizer.apply_gradients"
PRINTED: dict[str, Any] = {"recipes": {"target": inputs.target}, "modes": ("graph",), "sessions": True}


def _stays(reference_, **more):
    """The claim about masked weights under a mask that stays."""
    return TOPIC.claim(
        "n",
        "While the mask does not change, masked weights stay where they are, whatever the optimizer.",
        "output[1]",
        reference=reference.moving(reference_, reference.unmasked),
        **more,
    )


def _fixed(name, claim, recipe=inputs.fixed, **training):
    """Both specs of a training under a mask that stays."""
    own = Training(program=program.train_masked, **training).specs
    return own(f"claim-c15-fixed-{name}", {"fixed": recipe}, claim)


FTRL: dict[str, Any] = {
    "in_session": other_optimizers.ftrl_in_session,
    "state": other_optimizers.with_ftrl,
    "reference": other_reference.ftrl,
    "optimizer": "Ftrl",
    "keras": "Ftrl",
    "update": "AssignVariableOp",
    "unsigned_zeros": ("output",),  # a weight is minus a sum of gradients, which may be a zero, divided by a number
}


AS_PRINTED: tuple[Spec, ...] = (
    Spec(
        name="claim-c15-apply-in-the-loop",
        program=as_printed.apply_in_the_loop,
        reference=lambda target: Raises("FAILED_PRECONDITION", "Could not find variable"),
        ops="",
        evidence=f"{APPLY};called:stop_gradient",
        claims=(
            TOPIC.claim(
                "m",
                "apply_gradients can be called in the training loop, after the variables are initialized.",
                "output",
                reference=other_reference.literal,
                refuted={"*/*": "Adam makes its own variables in that call: no initializer has run for these"},
                instead="claim-c15-apply-before-the-loop",
            ),
        ),
        **PRINTED,
    ),
    Spec(
        name="claim-c15-apply-before-the-loop",
        program=as_printed.apply_before_the_loop,
        reference=other_reference.literal,
        bound={"output[0]": bound(other_reference.literal, 0)},
        ops="ResourceApplyAdam",
        evidence=f"{APPLY};built:StopGradient",
        claims=(
            TOPIC.claim("c", MOVES, "output[1]", reference=other_reference.literal_moving),
            TOPIC.claim(
                "o", "compute_gradients(loss, W) takes the variable itself; it need not be in a list.", "output[0]"
            ),
        ),
        **PRINTED,
    ),
    Spec(
        name="claim-c15-subset-applied",
        program=as_printed.subset_applied,
        reference=reference.subset,
        bound={f"output[{i}]": bound(reference.subset, i) for i in range(2)},
        recipes={"apart": inputs.in_two(inputs.apart)},
        ops="ResourceApplyAdam",
        evidence=APPLY,
        dtypes=("float32", "float64"),
        modes=("graph",),
        sessions=True,
        claims=(OTHERS_STAY, replace(AS_IF_NOT_LEFT_OUT, instead="claim-c15-two-optimizers-in-session")),
    ),
)


FIXED_MASK: tuple[Spec, ...] = (
    *_fixed(
        "momentum",
        _stays(reference.momentum),
        in_session=session_program.momentum_in_session,
        state=program.with_momentum,
        reference=reference.momentum,
        optimizer="Momentum",
    ),
    *_fixed(
        "adam",
        _stays(reference.adam),
        in_session=session_program.adam_in_session,
        state=program.with_adam,
        reference=reference.adam,
    ),
    *_fixed(
        "rmsprop",
        _stays(other_reference.rmsprop),
        in_session=other_optimizers.rmsprop_in_session,
        state=other_optimizers.with_rmsprop,
        reference=other_reference.rmsprop,
        reference_in_session=other_reference.rmsprop_in_session,
        optimizer="RMSProp",
        keras="RMSprop",
    ),
    *_fixed(
        "adagrad",
        _stays(other_reference.adagrad),
        in_session=other_optimizers.adagrad_in_session,
        state=other_optimizers.with_adagrad,
        reference=other_reference.adagrad,
        optimizer="Adagrad",
        keras="Adagrad",
    ),
    *_fixed(
        "ftrl",
        _stays(
            other_reference.ftrl,
            refuted={"*/*": "Ftrl makes each weight anew of its sums of gradients: without any, the weight becomes 0"},
            instead="claim-c15-subset",
        ),
        **FTRL,
    ),
    *_fixed("ftrl-from-zeros", _stays(other_reference.ftrl), recipe=inputs.fixed_from_zeros, **FTRL),
)
