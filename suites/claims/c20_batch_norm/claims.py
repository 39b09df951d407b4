"""The updates of batch normalisation: the claims."""

from functools import partial

import numpy as np

from tf_opdiff.harness.spec.plan import without_modes
from tf_opdiff.harness.spec.spec import Spec
from tf_opdiff.suites.claims.c20_batch_norm import order_program, order_reference, program, reference
from tf_opdiff.suites.claims.c20_batch_norm.reference import updated
from tf_opdiff.suites.claims.c20_batch_norm.topic import TOPIC
from tf_opdiff.suites.claims.evidence import CONTROL_DEPENDENCIES
from tf_opdiff.suites.reference.promises.running import bound

TF2 = without_modes("graph")


def _batches(draw, dtype):
    """Weights large enough that no feature has a small variance, and batches of samples with what is wanted of them."""
    weights = draw.uniform(3, 4, low=1, high=2) * np.where(draw.booleans(3, 4), 1, -1)
    return tuple(a.astype(dtype) for a in (weights, draw.uniform(5, 8, 3), draw.uniform(5, 8, 4, low=-2, high=2)))


def _images(draw, dtype):
    """A few small images, scale and offset, and the averages so far."""
    factors = [draw.uniform(4, low=0.5, high=2) for _ in range(4)]
    return tuple(a.astype(dtype) for a in (draw.uniform(3, 2, 2, 4), *factors))


UPDATES = "built:AssignSubVariableOp;called:compat.v1.add_to_collection"
LAYER = "called:keras.layers.BatchNormalization"
MOVING = ("output[3]", "output[4]")
PRUNED = "control dependencies bind what is made in the context, and minimize made its ops before it"
ALONE = "A train step alone does not evaluate the updates of the moving mean and variance."
BIASED = "The moving variance is the average of the variances that the batches are normalised by."
WAITING = "Updates that wait for the train step see the weights from after it."
InSession = partial(Spec, recipes={"batches": _batches}, dtypes=("float32", "float64"), modes=("graph",), sessions=True)

SPECS = (
    InSession(
        name="claim-c20-train-alone",
        program=program.train_alone,
        reference=reference.updated_once,
        bound=reference.bounds(reference.updated_once, 7),
        ops="ResourceApplyGradientDescent",
        evidence=UPDATES,
        claims=(TOPIC.claim("a", ALONE, *MOVING),),
    ),
    InSession(
        name="claim-c20-control-dependencies",
        program=program.around_minimize,
        reference=reference.updated,
        bound=reference.bounds(reference.updated, 5),
        ops="ResourceApplyGradientDescent;AssignSubVariableOp",
        evidence=f"{UPDATES};{CONTROL_DEPENDENCIES};ran:AssignSubVariableOp",
        claims=(
            TOPIC.claim("b", "control_dependencies on UPDATE_OPS around minimize evaluate them once a step.", *MOVING),
            TOPIC.claim("d", BIASED, "output[4]"),
            TOPIC.claim(
                "f",
                "First come the updates and then the train step: the updates see the weights from before it.",
                *MOVING,
                reference=order_reference.before_the_step,
            ),
        ),
    ),
    InSession(
        name="claim-c20-assign-the-batch",
        program=order_program.assign_the_batch,
        reference=order_reference.of_last_batch,
        bound=reference.bounds(order_reference.of_last_batch, 5),
        ops="ResourceApplyGradientDescent;AssignVariableOp",
        evidence=f"called:compat.v1.add_to_collection;{CONTROL_DEPENDENCIES};ran:AssignVariableOp",
        claims=(
            TOPIC.claim(
                "g",
                "moving_mean.assign(mean) keeps a moving average.",
                *MOVING,
                reference=reference.updated,
                refuted={"*/*": "assign stores the mean of this batch; nothing of the batches before is left in it"},
                instead="claim-c20-control-dependencies",
            ),
        ),
    ),
    InSession(
        name="claim-c20-update-after-train",
        program=order_program.update_after_train,
        reference=order_reference.before_the_step,
        bound=reference.bounds(order_reference.before_the_step, 5),
        ops="ResourceApplyGradientDescent;AssignSubVariableOp",
        evidence=f"{CONTROL_DEPENDENCIES};ran:AssignSubVariableOp",
        claims=(
            TOPIC.claim(
                "h",
                WAITING,
                *MOVING,
                reference=order_reference.after_the_step,
                refuted={"*/*": "what they assign was computed from the weights that the loss read, before the step"},
                instead="claim-c20-compute-after-train",
            ),
        ),
    ),
    InSession(
        name="claim-c20-compute-after-train",
        program=order_program.compute_after_train,
        reference=order_reference.after_the_step,
        bound=reference.bounds(order_reference.after_the_step, 5),
        ops="ResourceApplyGradientDescent;AssignSubVariableOp",
        evidence=f"{CONTROL_DEPENDENCIES};ran:AssignSubVariableOp",
        claims=(TOPIC.claim("h", WAITING, *MOVING),),
    ),
    InSession(
        name="claim-c20-fetched",
        program=program.fetch_updates,
        reference=reference.updated,
        bound=reference.bounds(reference.updated, 5),
        ops="ResourceApplyGradientDescent;AssignSubVariableOp",
        evidence=f"{UPDATES};ran:AssignSubVariableOp",
        claims=(
            TOPIC.claim(
                "c",
                "Fetching UPDATE_OPS beside the train op evaluates them, too, and leaves the training as it is.",
                "output",
            ),
        ),
    ),
    InSession(
        name="claim-c20-made-before",
        program=program.around_what_was_made,
        reference=reference.updated_once,
        bound=reference.bounds(reference.updated_once, 7),
        ops="ResourceApplyGradientDescent",
        evidence=f"{UPDATES};{CONTROL_DEPENDENCIES}",
        claims=(
            TOPIC.claim(
                "e",
                "control_dependencies also work around a train op that was made before.",
                *MOVING,
                reference=reference.updated,
                refuted={"*/*": PRUNED},
                instead="claim-c20-control-dependencies",
            ),
        ),
    ),
    Spec(
        name="claim-c20-layer",
        program=program.train_layer,
        reference=lambda *inputs: (*(outputs := updated(*inputs)), {"w": outputs[0][-1]}),
        state=program.with_layer,
        recipes={"batches": _batches},
        dtypes=("float32", "float64"),
        modes=TF2,
        ops="AssignVariableOp",
        evidence=LAYER,
        bound=reference.bounds(reference.updated, 5)
        | {"output[5]": lambda u, g, *inputs: bound(updated, 0)(u, g, *inputs)[-1]},
        claims=(
            TOPIC.claim(
                "a",
                ALONE,
                *MOVING,
                reference=reference.not_updated,
                ulp={},
                refuted={"*/*": "the layer assigns as it is called, and outside of v1 graphs no assignment is pruned"},
            ),
            TOPIC.claim("d", BIASED, "output[4]"),
        ),
    ),
    Spec(
        name="claim-c20-layer-of-images",
        program=program.normalise_images,
        reference=reference.first_images,
        state=program.with_layer_of_images,
        recipes={"images": lambda draw, dtype: _images(draw, dtype)[:1]},
        dtypes=("float32", "float64"),
        modes=TF2,
        ops="AssignVariableOp",
        evidence=LAYER,
        bound=reference.bounds(reference.first_images, 3),
        claims=(TOPIC.claim("d", BIASED, "output[2]"),),
    ),
    Spec(
        name="claim-c20-fused",
        program=program.fused,
        reference=reference.fused,
        recipes={"images": _images},
        ops="FusedBatchNormV3",
        bound=reference.bounds(reference.fused, 3),
        claims=(
            TOPIC.claim(
                "d",
                BIASED,
                "output[2]",
                reference=reference.by_moments,
                refuted={
                    "*/*": "fused_batch_norm normalises by Σ(x−mean)²/N, and averages Σ(x−mean)²/(N−1) (Bessel): "
                    "12/11 of it here"
                },
                instead="claim-c20-moments",
            ),
        ),
    ),
    Spec(
        name="claim-c20-moments",
        program=program.by_moments,
        reference=reference.by_moments,
        recipes={"images": _images},
        ops="Mean;SquaredDifference",
        dtypes=("float32", "float64"),
        bound=reference.bounds(reference.by_moments, 3),
    ),
)
