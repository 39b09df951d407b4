"""Images flipped in threads: the claims."""

import numpy as np

from tf_opdiff.harness.spec.spec import Spec
from tf_opdiff.suites.claims.c25_flips import reference
from tf_opdiff.suites.claims.c25_queues import flip_program
from tf_opdiff.suites.claims.c25_queues.random_specs import OWN
from tf_opdiff.suites.claims.c25_queues.topic import TOPIC


def _images(draw, dtype):
    """Twelve images with twelve different sums; each row increases from left to right."""
    numbers = np.argsort(draw.bits(12)).reshape(12, 1, 1, 1)
    return ((numbers + np.arange(6).reshape(1, 2, 3, 1) / 4).astype(dtype),)


QUEUES = "ran:RandomShuffleQueueV2;built:QueueEnqueueV2;called:compat.v1.train.QueueRunner"


def _spec(name, program, reference, taken):
    return Spec(
        name=name,
        program=program,
        reference=reference,
        recipes={"images": _images},
        ops="ReverseV2",
        evidence=f"{QUEUES};ran:{taken};ran:RandomUniform;called:image.random_flip_left_right",
        modes=("graph",),
        sessions=True,
        claims=(TOPIC.claim("c", OWN, "output[1]"),),
    )


SPECS = (
    _spec("claim-c25-flip-each", flip_program.flip_each, reference.of_each, "QueueDequeueV2"),
    _spec("claim-c25-flip-batches", flip_program.flip_batches, reference.of_batches, "QueueDequeueManyV2"),
)
