"""Center loss: the claims."""

from functools import partial

import numpy as np

from tf_opdiff.harness.spec.plan import without_modes
from tf_opdiff.harness.spec.spec import Sparse, Spec
from tf_opdiff.suites.claims.c22_center_loss import program, reference, reference_variables
from tf_opdiff.suites.claims.c22_center_loss.topic import TOPIC
from tf_opdiff.suites.claims.evidence import CONTROL_DEPENDENCIES
from tf_opdiff.suites.reference.promises.running import bound


def _batches(draw, dtype):
    """Weights of two layers, centers, and batches: a class up to five times in one, and one of four only in two."""
    labels = np.array(
        [[0, 0, 0, 1, 1, 2], [2, 1, 1, 1, 1, 1], [0, 3, 0, 2, 3, 2], [1, 0, 2, 1, 0, 2], [2, 2, 2, 2, 0, 3]], np.int64
    )
    floats = draw.uniform(3, 2), draw.uniform(2, 4), draw.uniform(4, 2, low=-2, high=2), draw.uniform(5, 6, 3)
    return (*(a.astype(dtype) for a in floats), labels)


def _features(draw, dtype):
    """Features of six samples, and four centers, in quarters: their squares and sums are exact."""
    features, centers = draw.integers(6, 3, low=-9, high=10) / 4, draw.integers(4, 3, low=-9, high=10) / 4
    return features.astype(dtype), centers.astype(dtype), np.array([2, 0, 2, 3, 0, 2], np.int64)


def _half_squares(features, centers, labels):
    return 0.5 * np.sum(np.square(features - centers[labels]))


def _half_squares_vjp(g, features, centers, labels):
    away = g * (features - centers[labels])
    return away, Sparse(-away, labels, centers.shape), None


FINAL = {f"output[{i}]": reference.last(bound(reference.moving, i - 3)) for i in (4, 5, 6)}
BESIDE = "The centers are moved by an op beside the train op, which does not run it."
SCATTERED = TOPIC.claim(
    "b",
    "Fetched beside the train op, scatter_sub moves each center by α times the paper's Δc, several "
    "samples of one class included.",
    "output[3]",
)
InSession = partial(Spec, recipes={"batches": _batches}, dtypes=("float32", "float64"), modes=("graph",), sessions=True)

SPECS = (
    InSession(
        name="claim-c22-train-alone",
        program=program.train_alone,
        reference=reference.moved_once,
        bound=reference.bounds(reference.moved_once),
        ops="ResourceApplyGradientDescent",
        evidence="built:ResourceScatterSub",
        claims=(TOPIC.claim("a", BESIDE, "output[3]", ulp={}),),
    ),
    InSession(
        name="claim-c22-fetched",
        program=program.fetch_both,
        reference=reference.moving,
        bound=reference.bounds(reference.moving),
        ops="ResourceApplyGradientDescent;ResourceScatterSub",
        evidence="ran:ResourceScatterSub",
        claims=(
            SCATTERED,
            TOPIC.claim(
                "d",
                "A center goes α·n/(n + 1) of the way to the mean of its n samples, and stays if there are none.",
                "output[3]",
                reference=reference.by_mean,
            ),
        ),
    ),
    InSession(
        name="claim-c22-control-dependencies",
        program=program.around_minimize,
        reference=reference.moving,
        bound=reference.bounds(reference.moving),
        ops="ResourceApplyGradientDescent;ResourceScatterSub",
        evidence=f"ran:ResourceScatterSub;{CONTROL_DEPENDENCIES}",
        claims=(
            TOPIC.claim(
                "c",
                "It must be fetched explicitly: while only the train op is, the centers stay.",
                "output[3]",
                reference=reference.staying,
                ulp={},
                refuted={"*/*": "minimize under control_dependencies on it makes a train op that waits for it"},
                instead="claim-c22-control-dependencies",
            ),
        ),
    ),
    Spec(
        name="claim-c22-program-order",
        program=program.train_and_move,
        state=program.variables,
        reference=reference.with_final,
        recipes={"batches": _batches},
        dtypes=("float32", "float64"),
        modes=without_modes("graph"),
        ops="ResourceScatterSub",
        bound=reference.bounds(reference.moving) | FINAL,
        claims=(
            TOPIC.claim(
                "a",
                BESIDE,
                "output[3]",
                reference=reference.staying,
                ulp={},
                refuted={"*/*": "outside of v1 graphs, what changes a variable runs in the order of the program"},
            ),
        ),
    ),
    InSession(
        name="claim-c22-reference-variables",
        program=reference_variables.fetch_both_of_references,
        reference=reference.moving,
        bound=reference.bounds(reference.moving),
        ops="ApplyGradientDescent;ScatterSub",
        evidence="ran:ScatterSub",
        claims=(SCATTERED,),
    ),
    Spec(
        name="claim-c22-half-squares",
        program=reference_variables.half_squares,
        reference=_half_squares,
        vjp=_half_squares_vjp,
        ulp={"grad": 0.5},
        recipes={"features": _features},
        dtypes=("float32", "float64"),
        ops="GatherV2;Square;Sum",
        claims=(TOPIC.claim("e", "The gradient of the loss, ½·Σ‖x − c‖², by a feature x is x − c.", "grad[0]"),),
    ),
)
