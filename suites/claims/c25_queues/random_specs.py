"""Random numbers for the examples of queues: their specs."""

import numpy as np

from tf_opdiff.harness.spec.spec import Side, Spec
from tf_opdiff.suites.claims.c25_queues import random_program, reference
from tf_opdiff.suites.claims.c25_queues.examples import HOST_ONLY, examples, in_session
from tf_opdiff.suites.claims.c25_queues.reference import SEED, drawn
from tf_opdiff.suites.claims.c25_queues.topic import TOPIC
from tf_opdiff.suites.claims.evidence import FIFO_QUEUE
from tf_opdiff.suites.reference.random_numbers import philox

OWN = "A random transform in several threads gives every element a number of its own."


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


RANDOM: tuple[Spec, ...] = (
    in_session(
        name="claim-c25-draw-in-runner",
        program=random_program.draw_in_runner,
        reference=lambda x: drawn(x, philox.uniforms(SEED, 12)),
        ops="Neg",
        evidence="ran:QueueDequeueManyV2;built:QueueDequeueV2;built:RandomUniform;called:compat.v1.train.QueueRunner",
        claims=(_own(("output[2]",)),),
    ),
    in_session(
        name="claim-c25-draw-for-each",
        program=random_program.draw_for_each,
        reference=lambda x: drawn(x, philox.uniforms(SEED, 12)),
        ops="Neg",
        evidence="ran:QueueDequeueV2;ran:RandomUniform;called:train.Coordinator",
        claims=(_own(("output[2]",)),),
    ),
    in_session(
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
    in_session(
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
    in_session(
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
        recipes={"examples": examples},
        ops="Neg",
        evidence="ran:ParallelMapDatasetV2;built:RandomUniform",
        contract=HOST_ONLY,
        claims=(_own(("output[1]",), plans=("*/eager", "*/function", "*/graph")),),
    ),
    Spec(
        name="claim-c25-draw-in-dataset",
        program=random_program.draw_in_dataset,
        reference=reference.numbered,
        recipes={"examples": examples},
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
        recipes={"examples": examples},
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
        recipes={"examples": examples},
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
