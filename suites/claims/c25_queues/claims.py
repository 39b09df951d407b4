"""Queues and threads: the claims."""

import numpy as np

from tf_opdiff.harness.spec.spec import Raises, Side, Spec
from tf_opdiff.suites.claims.c25_queues import program, random_program, reference
from tf_opdiff.suites.claims.c25_queues.reference import SEED, drawn, means, shuffled
from tf_opdiff.suites.claims.c25_queues.topic import TOPIC
from tf_opdiff.suites.claims.evidence import FIFO_QUEUE
from tf_opdiff.suites.reference import philox


def _examples(draw, dtype):
    """Quarters, no two alike, in some order."""
    return ((np.argsort(draw.bits(12)) / 4 - 1.125).astype(dtype),)


def _with_validation(draw, dtype):
    """Examples, and large ones for validation."""
    return *_examples(draw, dtype), (32 + np.argsort(draw.bits(4)) / 4).astype(dtype)


NO_KERNEL = "XLA has no kernel for queues, which are resources of the host."
FILLED = "One must see to it that a queue is completely filled, or what is taken from it is not right."
AMONG = "A shuffling queue chooses among what it holds, so it shuffles only as well as it is filled."
LEAKS = "Validation data gets into training through a queue that is shared."
LEAKS_BACK = "Training data gets into validation through a queue that is shared."
NUMBERED = "a queue that is made eagerly is named by a number of its own, whatever its shared_name says"
OWN = "A random transform in several threads gives every element a number of its own."
WAITS = "a queue that lacks what is asked of it lets the caller wait for that, whatever its capacity"


def _filled(**more):
    return TOPIC.claim("a", FILLED, "output", denies=True, **more)


def _own(about, **more):
    return TOPIC.claim("c", OWN, *about, instead="claim-c25-draw-by-number", **more)


def _by_python(traced, **more):
    return TOPIC.claim(
        "e",
        "A number that Python draws differs from run to run.",
        "output",
        refuted=dict.fromkeys(
            traced, "Python draws it once, while the graph is built, where it is a constant from then on"
        ),
        instead="claim-c25-draw-in-dataset",
        **more,
    )


def _in_session(recipe=_examples, **spec):
    return Spec(recipes={"examples": recipe}, modes=("graph",), sessions=True, **spec)


HOST_ONLY = {"*/xla": Side(reference=reference.refuses, why=NO_KERNEL)}

SPECS = (
    Spec(
        name="claim-c25-partly-filled",
        program=program.take_from_partly_filled,
        reference=lambda x: (-x[0], -x[1:6], -x[6:]),
        recipes={"examples": _examples},
        ops="Neg",
        evidence=f"{FIFO_QUEUE};built:QueueEnqueueManyV2;ran:QueueDequeueManyV2;ran:QueueDequeueUpToV2",
        state=program.a_queue,
        contract=HOST_ONLY,
        claims=(_filled(plans=("*/eager", "*/function", "*/graph"), refuted={"*/*": WAITS}),),
    ),
    _in_session(
        name="claim-c25-wait-for-enough",
        program=program.wait_for_enough,
        reference=lambda x: (-x.reshape(2, 6), np.zeros(2, np.int64)),
        ops="Neg",
        evidence=f"{FIFO_QUEUE};ran:QueueDequeueManyV2",
        claims=(_filled(refuted={"*/*": WAITS}),),
    ),
    _in_session(
        name="claim-c25-take-too-many",
        program=program.take_too_many,
        reference=lambda x: Raises("OUT_OF_RANGE", "insufficient elements (requested 100, current size 12)"),
        ops="",
        evidence=FIFO_QUEUE,
        claims=(_filled(reference=np.negative, instead="claim-c25-take-up-to"),),
    ),
    _in_session(
        name="claim-c25-take-up-to",
        program=program.take_up_to,
        reference=np.negative,
        ops="Neg",
        evidence=f"{FIFO_QUEUE};ran:QueueDequeueUpToV2",
    ),
    _in_session(
        name="claim-c25-forget-to-start",
        program=program.forget_to_start,
        reference=lambda x: Raises("OUT_OF_RANGE", "insufficient elements (requested 12, current size 0)"),
        ops="",
        evidence=f"{FIFO_QUEUE};called:compat.v1.train.QueueRunner",
        claims=(_filled(reference=np.negative, instead="claim-c25-start-queue-runners"),),
    ),
    _in_session(
        name="claim-c25-start-queue-runners",
        program=program.start_queue_runners,
        reference=np.negative,
        ops="Neg",
        evidence=f"{FIFO_QUEUE};ran:QueueDequeueManyV2;called:compat.v1.train.start_queue_runners",
    ),
    _in_session(
        name="claim-c25-shuffle-one-at-a-time",
        program=program.shuffle_one_at_a_time,
        reference=np.negative,
        ops="Neg",
        evidence="ran:RandomShuffleQueueV2;ran:QueueDequeueV2",
        claims=(TOPIC.claim("d", AMONG, "output", instead="claim-c25-shuffle-among-eight"),),
    ),
    _in_session(
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
        recipes={"examples": _with_validation},
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
        recipes={"examples": _with_validation},
        ops="Neg",
        evidence=f"{FIFO_QUEUE};ran:QueueDequeueManyV2",
        state=program.two_queues,
        contract=HOST_ONLY,
    ),
    _in_session(
        name="claim-c25-train-on-shared-queue",
        program=program.train_on_shared_queue,
        reference=lambda x, v: means([*v, *x[:2]]),
        recipe=_with_validation,
        ops="AssignAddVariableOp;Sub",
        evidence=f"{FIFO_QUEUE};ran:QueueDequeueV2",
        claims=(TOPIC.claim("b", LEAKS, "output", instead="claim-c25-train-on-own-queue"),),
    ),
    _in_session(
        name="claim-c25-train-on-own-queue",
        program=program.train_on_own_queue,
        reference=lambda x, v: means(x[:6]),
        recipe=_with_validation,
        ops="AssignAddVariableOp;Sub",
        evidence=f"{FIFO_QUEUE};ran:QueueDequeueV2",
    ),
    _in_session(
        name="claim-c25-validate-on-shared-queue",
        program=program.validate_on_shared_queue,
        reference=lambda x, v: means(x[:4]),
        recipe=_with_validation,
        ops="AssignAddVariableOp;Sub",
        evidence=f"{FIFO_QUEUE};ran:QueueDequeueV2",
        claims=(TOPIC.claim("f", LEAKS_BACK, "output", instead="claim-c25-validate-on-own-queue"),),
    ),
    _in_session(
        name="claim-c25-validate-on-own-queue",
        program=program.validate_on_own_queue,
        reference=lambda x, v: means(v),
        recipe=_with_validation,
        ops="AssignAddVariableOp;Sub",
        evidence=f"{FIFO_QUEUE};ran:QueueDequeueV2",
    ),
    _in_session(
        name="claim-c25-draw-in-runner",
        program=random_program.draw_in_runner,
        reference=lambda x: drawn(x, philox.uniforms(SEED, 12)),
        ops="Neg",
        evidence="ran:QueueDequeueManyV2;built:QueueDequeueV2;built:RandomUniform;called:compat.v1.train.QueueRunner",
        claims=(_own(("output[2]",)),),
    ),
    _in_session(
        name="claim-c25-draw-for-each",
        program=random_program.draw_for_each,
        reference=lambda x: drawn(x, philox.uniforms(SEED, 12)),
        ops="Neg",
        evidence="ran:QueueDequeueV2;ran:RandomUniform;called:train.Coordinator",
        claims=(_own(("output[2]",)),),
    ),
    _in_session(
        name="claim-c25-draw-for-batches",
        program=random_program.draw_for_batches,
        reference=lambda x: drawn(x, np.repeat(philox.uniforms(SEED, 4), 3)),
        ops="Neg",
        evidence="ran:QueueDequeueManyV2;ran:RandomUniform;called:train.Coordinator",
        claims=(
            _own(
                ("output[2]",),
                reference=lambda x: drawn(x, philox.uniforms(SEED, 12)),
                refuted={"*/*": "an op draws once in a run: what is drawn for a batch is the same for all in it"},
            ),
        ),
    ),
    _in_session(
        name="claim-c25-draw-in-each-thread",
        program=random_program.draw_in_each_thread,
        reference=lambda x: drawn(x, np.repeat(philox.uniforms(SEED, 3), 4)),
        ops="Neg",
        evidence="ran:QueueDequeueV2;ran:RandomUniform;called:train.Coordinator",
        claims=(
            _own(
                ("output[2]",),
                reference=lambda x: drawn(x, philox.uniforms(SEED, 12)),
                refuted={"*/*": "ops of one seed draw the same numbers, so each thread's op repeats the others'"},
            ),
        ),
    ),
    _in_session(
        name="claim-c25-draw-by-number",
        program=random_program.draw_by_number,
        reference=lambda x: (reference.numbered(x), np.int64(reference.THREADS)),
        ops="Neg",
        evidence="ran:QueueDequeueManyV2;built:StatelessRandomUniformV2;called:compat.v1.train.QueueRunner",
        ulp={"output": 0.5},
        claims=(_own(("output",)),),
    ),
    Spec(
        name="claim-c25-draw-in-map",
        constant=("output[1]",),  # the size of a known shape, which Python has
        program=random_program.draw_in_map,
        reference=lambda x: (-x, np.int32(12)),
        recipes={"examples": _examples},
        ops="Neg",
        evidence="ran:ParallelMapDatasetV2;built:RandomUniform",
        contract=HOST_ONLY,
        claims=(_own(("output[1]",), plans=("*/eager", "*/function", "*/graph")),),
    ),
    Spec(
        name="claim-c25-draw-in-dataset",
        program=random_program.draw_in_dataset,
        reference=reference.numbered,
        recipes={"examples": _examples},
        ops="Neg",
        evidence="ran:ParallelMapDatasetV2;built:StatelessRandomUniformV2",
        ulp={"output": 0.5},
        contract=HOST_ONLY,
        claims=(_own(("output",), plans=("*/eager", "*/function", "*/graph")),),
    ),
    Spec(
        name="claim-c25-draw-in-python",
        program=random_program.draw_in_python,
        reference=lambda x: np.stack([x + np.float32(u) for u in np.random.RandomState(SEED).uniform(size=4)]),
        recipes={"examples": _examples},
        ops="AddV2",
        ulp={"output": 0.5},
        state=random_program.python_random,
        steps=4,
        contract={
            plan: Side(
                reference=lambda x: np.stack([x + np.float32(np.random.RandomState(SEED).uniform())] * 4),
                why="Python runs while the graph is built, and not again.",
                link="https://www.tensorflow.org/guide/function#executing_python_side_effects",
            )
            for plan in ("*/function", "*/xla", "*/graph")
        },
        claims=(_by_python(("*/function", "*/xla", "*/graph")),),
    ),
    Spec(
        name="claim-c25-enqueue-a-python-number",
        program=random_program.enqueue_a_python_number,
        reference=reference.python_numbers,
        recipes={"examples": _examples},
        ops="Neg",
        evidence=f"{FIFO_QUEUE};built:QueueEnqueueManyV2;ran:QueueDequeueManyV2",
        ulp={"output": 0.5},
        state=random_program.queue_and_python_random,
        steps=4,
        contract=HOST_ONLY
        | dict.fromkeys(
            ("*/function", "*/graph"),
            Side(
                reference=reference.one_python_number,
                why="Python runs while the graph is built, and not again.",
                link="https://www.tensorflow.org/guide/function#executing_python_side_effects",
            ),
        ),
        claims=(_by_python(("*/function", "*/graph"), plans=("*/eager", "*/function", "*/graph")),),
    ),
)
