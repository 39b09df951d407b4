"""Center loss: the claims."""

from functools import partial

import numpy as np

from tf_opdiff.harness.spec.spec import Claim, Spec
from tf_opdiff.suites.claims.c22_center_loss import program, reference
from tf_opdiff.suites.claims.c22_center_loss.topic import TOPIC
from tf_opdiff.suites.claims.evidence import CONTROL_DEPENDENCIES
from tf_opdiff.suites.reference.running import bound


def _batches(draw, dtype):
    """Weights of two layers, centers, and batches: a class up to five times in one, and one of four only in two."""
    labels = np.array(
        [[0, 0, 0, 1, 1, 2], [2, 1, 1, 1, 1, 1], [0, 3, 0, 2, 3, 2], [1, 0, 2, 1, 0, 2], [2, 2, 2, 2, 0, 3]], np.int64
    )
    floats = draw.uniform(3, 2), draw.uniform(2, 4), draw.uniform(4, 2, low=-2, high=2), draw.uniform(5, 6, 3)
    return (*(a.astype(dtype) for a in floats), labels)


FINAL = {f"output[{i}]": reference.last(bound(reference.moving, i - 3)) for i in (4, 5, 6)}
BESIDE = "The centers are moved by an op beside the train op, which does not run it."
InSession = partial(Spec, recipes={"batches": _batches}, dtypes=("float32", "float64"), modes=("graph",), sessions=True)

SPECS = (
    InSession(
        name="claim-c22-train-alone",
        program=program.train_alone,
        reference=reference.staying,
        bound=reference.bounds(reference.staying),
        ops="ResourceApplyGradientDescent",
        evidence="built:ResourceScatterSub",
        claims=(Claim(topic=TOPIC, letter="a", says=BESIDE, about=("output[3]",), ulp={}),),
    ),
    InSession(
        name="claim-c22-fetched",
        program=program.fetch_both,
        reference=reference.moving,
        bound=reference.bounds(reference.moving),
        ops="ResourceApplyGradientDescent;ResourceScatterSub",
        evidence="ran:ResourceScatterSub",
        claims=(
            Claim(
                topic=TOPIC,
                letter="b",
                says="Fetched beside the train op, scatter_sub moves each center by α times the paper's Δc, several "
                "samples of one class included.",
                about=("output[3]",),
            ),
            Claim(
                topic=TOPIC,
                letter="d",
                says="A center goes α·n/(n + 1) of the way to the mean of its n samples, and stays if there are none.",
                about=("output[3]",),
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
            Claim(
                topic=TOPIC,
                letter="c",
                says="It must be fetched explicitly: while only the train op is, the centers stay.",
                about=("output[3]",),
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
        modes=("eager", "function", "xla"),
        ops="ResourceScatterSub",
        bound=reference.bounds(reference.moving) | FINAL,
        claims=(
            Claim(
                topic=TOPIC,
                letter="a",
                says=BESIDE,
                about=("output[3]",),
                reference=reference.staying,
                ulp={},
                refuted={"*/*": "outside of v1 graphs, what changes a variable runs in the order of the program"},
            ),
        ),
    ),
)
