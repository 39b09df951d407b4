"""Queues and threads: the claims."""

import numpy as np

from tf_opdiff.harness.spec.spec import Raises, Side, Spec
from tf_opdiff.suites.claims.c25_queues import program, random_specs
from tf_opdiff.suites.claims.c25_queues.examples import HOST_ONLY, examples, in_session, with_validation
from tf_opdiff.suites.claims.c25_queues.reference import means, shuffled
from tf_opdiff.suites.claims.c25_queues.topic import TOPIC
from tf_opdiff.suites.claims.evidence import FIFO_QUEUE

FILLED = "One must see to it that a queue is completely filled, or what is taken from it is not right."
AMONG = "A shuffling queue chooses among what it holds, so it shuffles only as well as it is filled."
LEAKS = "Validation data gets into training through a queue that is shared."
LEAKS_BACK = "Training data gets into validation through a queue that is shared."
NUMBERED = "a queue that is made eagerly is named by a number of its own, whatever its shared_name says"
WAITS = "a queue that lacks what is asked of it lets the caller wait for that, whatever its capacity"


def _filled(**more):
    return TOPIC.claim("a", FILLED, "output", denies=True, **more)


SPECS = (
    Spec(
        name="claim-c25-partly-filled",
        program=program.take_from_partly_filled,
        reference=lambda x: (-x[0], -x[1:6], -x[6:]),
        recipes={"examples": examples},
        ops="Neg",
        evidence=f"{FIFO_QUEUE};built:QueueEnqueueManyV2;ran:QueueDequeueManyV2;ran:QueueDequeueUpToV2",
        state=program.a_queue,
        contract=HOST_ONLY,
        claims=(_filled(plans=("*/eager", "*/function", "*/graph"), refuted={"*/*": WAITS}),),
    ),
    in_session(
        name="claim-c25-wait-for-enough",
        program=program.wait_for_enough,
        reference=lambda x: (-x.reshape(2, 6), np.zeros(2, np.int64)),
        ops="Neg",
        evidence=f"{FIFO_QUEUE};ran:QueueDequeueManyV2",
        claims=(_filled(refuted={"*/*": WAITS}),),
    ),
    in_session(
        name="claim-c25-take-too-many",
        program=program.take_too_many,
        reference=lambda x: Raises("OUT_OF_RANGE", "insufficient elements (requested 100, current size 12)"),
        ops="",
        evidence=FIFO_QUEUE,
        claims=(_filled(reference=np.negative, instead="claim-c25-take-up-to"),),
    ),
    in_session(
        name="claim-c25-take-up-to",
        program=program.take_up_to,
        reference=np.negative,
        ops="Neg",
        evidence=f"{FIFO_QUEUE};ran:QueueDequeueUpToV2",
    ),
    in_session(
        name="claim-c25-forget-to-start",
        program=program.forget_to_start,
        reference=lambda x: Raises("OUT_OF_RANGE", "insufficient elements (requested 12, current size 0)"),
        ops="",
        evidence=f"{FIFO_QUEUE};called:compat.v1.train.QueueRunner",
        claims=(_filled(reference=np.negative, instead="claim-c25-start-queue-runners"),),
    ),
    in_session(
        name="claim-c25-start-queue-runners",
        program=program.start_queue_runners,
        reference=np.negative,
        ops="Neg",
        evidence=f"{FIFO_QUEUE};ran:QueueDequeueManyV2;called:compat.v1.train.start_queue_runners",
    ),
    in_session(
        name="claim-c25-shuffle-one-at-a-time",
        program=program.shuffle_one_at_a_time,
        reference=np.negative,
        ops="Neg",
        evidence="ran:RandomShuffleQueueV2;ran:QueueDequeueV2",
        claims=(TOPIC.claim("d", AMONG, "output", instead="claim-c25-shuffle-among-eight"),),
    ),
    in_session(
        name="claim-c25-shuffle-among-eight",
        program=program.shuffle_among_eight,
        reference=lambda x: shuffled(x, 7),
        ops="Neg",
        evidence="ran:RandomShuffleQueueV2;ran:QueueDequeueV2",
        claims=(TOPIC.claim("d", AMONG, "output"),),
    ),
    Spec(
        name="claim-c25-queues-of-one-name",
        program=program.take_for_both,
        reference=lambda x, v: (-x, -v),
        recipes={"examples": with_validation},
        ops="Neg",
        evidence=f"{FIFO_QUEUE};ran:QueueDequeueManyV2",
        state=program.two_queues_of_one_name,
        contract=HOST_ONLY
        | {
            "*/graph": Side(
                reference=lambda x, v: (-np.concatenate([x[:5], v, x[5:8]]), -x[8:]),
                why="In a graph, queues of one shared_name are one queue.",
                link="https://www.tensorflow.org/api_docs/python/tf/queue/FIFOQueue#__init__",
            )
        },
        claims=(
            TOPIC.claim(
                "b",
                LEAKS,
                "output[0]",
                reference=lambda x, v: (-np.concatenate([x[:5], v, x[5:8]]), -x[8:]),
                plans=("*/eager", "*/function", "*/graph"),
                refuted=dict.fromkeys(("*/eager", "*/function"), NUMBERED),
                instead="claim-c25-two-queues",
            ),
            TOPIC.claim(
                "f",
                LEAKS_BACK,
                "output[1]",
                reference=lambda x, v: (-np.concatenate([x[:5], v, x[5:8]]), -x[8:]),
                plans=("*/eager", "*/function", "*/graph"),
                refuted=dict.fromkeys(("*/eager", "*/function"), NUMBERED),
                instead="claim-c25-two-queues",
            ),
        ),
    ),
    Spec(
        name="claim-c25-two-queues",
        program=program.take_for_both,
        reference=lambda x, v: (-x, -v),
        recipes={"examples": with_validation},
        ops="Neg",
        evidence=f"{FIFO_QUEUE};ran:QueueDequeueManyV2",
        state=program.two_queues,
        contract=HOST_ONLY,
    ),
    in_session(
        name="claim-c25-train-on-shared-queue",
        program=program.train_on_shared_queue,
        reference=lambda x, v: means([*v, *x[:2]]),
        recipe=with_validation,
        ops="AssignAddVariableOp;Sub",
        evidence=f"{FIFO_QUEUE};ran:QueueDequeueV2",
        claims=(TOPIC.claim("b", LEAKS, "output", instead="claim-c25-train-on-own-queue"),),
    ),
    in_session(
        name="claim-c25-train-on-own-queue",
        program=program.train_on_own_queue,
        reference=lambda x, v: means(x[:6]),
        recipe=with_validation,
        ops="AssignAddVariableOp;Sub",
        evidence=f"{FIFO_QUEUE};ran:QueueDequeueV2",
    ),
    in_session(
        name="claim-c25-validate-on-shared-queue",
        program=program.validate_on_shared_queue,
        reference=lambda x, v: means(x[:4]),
        recipe=with_validation,
        ops="AssignAddVariableOp;Sub",
        evidence=f"{FIFO_QUEUE};ran:QueueDequeueV2",
        claims=(TOPIC.claim("f", LEAKS_BACK, "output", instead="claim-c25-validate-on-own-queue"),),
    ),
    in_session(
        name="claim-c25-validate-on-own-queue",
        program=program.validate_on_own_queue,
        reference=lambda x, v: means(v),
        recipe=with_validation,
        ops="AssignAddVariableOp;Sub",
        evidence=f"{FIFO_QUEUE};ran:QueueDequeueV2",
    ),
    *random_specs.RANDOM,
)
