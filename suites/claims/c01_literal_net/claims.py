"""The post's net to the letter: the claims."""

from functools import partial

import numpy as np

from tf_opdiff.harness.spec.plan import MODES
from tf_opdiff.harness.spec.spec import Spec
from tf_opdiff.suites.claims.c01_addition.claims import FORMULA
from tf_opdiff.suites.claims.c01_addition.topic import TOPIC
from tf_opdiff.suites.claims.c01_literal_net import program, reference
from tf_opdiff.suites.claims.evidence import PY_FUNC


def _net(draw, dtype):
    """The post's b and labels; c and k, which it leaves to an initializer."""
    c, k = (draw.uniform(2, low=0.25, high=1.5).astype(dtype) for _ in range(2))
    return np.array([1, 2], dtype), np.array([0, 1], np.int32), c, k


LOSS = "called:compat.v1.losses.softmax_cross_entropy;called:compat.v1.train.Optimizer.apply_gradients"
LOSS_OP = dict.fromkeys(MODES, "SoftmaxCrossEntropyWithLogits") | {"+deterministic": "LogSoftmax"}
BOUNDS = {
    "output[0]": reference.first_bound,
    "output[1]": reference.last_bound,
    "output[2]": reference.weight_bound,
    "output[3]": reference.weight_bound,
}
Net = partial(
    Spec,
    bound=BOUNDS,
    recipes={"net": _net},
    ops={key: f"AddV2;Mul;{op}" for key, op in LOSS_OP.items()},
    modes=("graph",),
    sessions=True,
)

SPECS = (
    Net(
        name="claim-c01-literal-overridden",
        program=program.train_overridden,
        reference=reference.trained(reference.by_formula),
        evidence=f"{LOSS};{PY_FUNC};called:RegisterGradient;ran:PyFunc;replaced:PyFunc;ran:ResourceApplyAdam",
        claims=(
            TOPIC.claim(
                "j",
                "Compare the outputs: the loss of the post's net is at first what it is with tf.add.",
                "output[0]",
                reference=reference.trained(reference.right),
            ),
            TOPIC.claim(
                "k",
                "Compare the outputs: after 200 steps of Adam, the post's net gives the same loss as with tf.add.",
                "output[1]",
                reference=reference.trained(reference.right),
                refuted={"*/graph": f"{FORMULA}; after 200 steps, the weights are others"},
                instead="claim-c01-literal-plain",
            ),
        ),
    ),
    Net(
        name="claim-c01-literal-plain",
        program=program.train_plain,
        reference=reference.trained(reference.right),
        evidence=f"{LOSS};ran:ResourceApplyAdam",
    ),
)
