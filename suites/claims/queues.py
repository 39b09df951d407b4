"""Queues, and the threads that take from them: C25."""

import threading

import numpy as np

from tf_opdiff.harness.spec.spec import Claim, Raises, Side, Spec
from tf_opdiff.suites.claims import topics
from tf_opdiff.suites.claims.subjects import FIFO_QUEUE
from tf_opdiff.suites.references import philox

SEED = 7


# Queues that are not full.
def a_queue(tf, x):
    with tf.device("CPU:0"):
        return {"_queue": tf.queue.FIFOQueue(100, x.dtype, shapes=[()])}


def take_from_partly_filled(tf, state, x):
    queue = state["_queue"]
    with tf.device("CPU:0"):
        with tf.control_dependencies([queue.enqueue_many([x])]):
            first = queue.dequeue()
        with tf.control_dependencies([first]):
            batch = queue.dequeue_many(5)
        with tf.control_dependencies([batch]):
            rest = queue.dequeue_up_to(6)
    return -first, -batch, -rest


def run_until_stopped(s, coordinator, fetches, results):
    with coordinator.stop_on_exception():
        while True:
            results.append(s.run(fetches))


def wait_for_enough(tf, session, x):
    with session() as s:
        with tf.device("CPU:0"):
            queue = tf.queue.FIFOQueue(100, x.dtype, shapes=[()])
            part = tf.compat.v1.placeholder(x.dtype, [None])
            enqueue, close = queue.enqueue_many([part]), queue.close()
            batch = queue.dequeue_many(6)
        coordinator = tf.train.Coordinator()
        batches: list[np.ndarray] = []
        thread = threading.Thread(target=run_until_stopped, args=(s, coordinator, -batch, batches))
        thread.start()
        s.run(enqueue, {part: x[:4]})
        s.run(enqueue, {part: x[4:]})
        s.run(close)
        coordinator.join([thread])
        return np.stack(batches)


def take_too_many(tf, session, x):
    with session() as s:
        with tf.device("CPU:0"):
            queue = tf.queue.FIFOQueue(100, x.dtype, shapes=[()])
            enqueue, close = queue.enqueue_many([x]), queue.close()
            batch = queue.dequeue_many(100)
        s.run(enqueue)
        s.run(close)
        return s.run(-batch)


def take_up_to(tf, session, x):
    with session() as s:
        with tf.device("CPU:0"):
            queue = tf.queue.FIFOQueue(100, x.dtype, shapes=[()])
            enqueue, close = queue.enqueue_many([x]), queue.close()
            batch = queue.dequeue_up_to(100)
        s.run(enqueue)
        s.run(close)
        return s.run(-batch)


def forget_to_start(tf, session, x):
    with session() as s:
        with tf.device("CPU:0"):
            queue = tf.queue.FIFOQueue(100, x.dtype, shapes=[()])
            runner = tf.compat.v1.train.QueueRunner(queue, [queue.enqueue_many([x])])
            tf.compat.v1.train.add_queue_runner(runner)
            batch, close = queue.dequeue_many(12), queue.close()
        s.run(close)  # else the next line would wait for ever
        return s.run(-batch)


def start_queue_runners(tf, session, x):
    with session() as s:
        with tf.device("CPU:0"):
            queue = tf.queue.FIFOQueue(100, x.dtype, shapes=[()])
            runner = tf.compat.v1.train.QueueRunner(queue, [queue.enqueue_many([x])])
            tf.compat.v1.train.add_queue_runner(runner)
            batch = queue.dequeue_many(12)
        coordinator = tf.train.Coordinator()
        threads = tf.compat.v1.train.start_queue_runners(s, coordinator)
        result = s.run(-batch)
        coordinator.request_stop()
        coordinator.join(threads)
        return result


def shuffle(tf, session, x, kept):
    with session() as s:
        with tf.device("CPU:0"):
            queue = tf.queue.RandomShuffleQueue(100, min_after_dequeue=kept, dtypes=x.dtype, shapes=[()], seed=7)
            example = tf.compat.v1.placeholder(x.dtype, [])
            enqueue, close, dequeue = queue.enqueue(example), queue.close(), queue.dequeue()
        result = -dequeue
        shuffled = []
        for i in range(len(x)):
            s.run(enqueue, {example: x[i]})
            if i >= kept:
                shuffled.append(s.run(result))
        s.run(close)
        shuffled += [s.run(result) for _ in range(kept)]
        return np.stack(shuffled)


def shuffle_one_at_a_time(tf, session, x):
    return shuffle(tf, session, x, kept=0)


def shuffle_among_eight(tf, session, x):
    return shuffle(tf, session, x, kept=7)


# Training and validation.
def two_queues_of_one_name(tf, x, validation):
    with tf.device("CPU:0"):
        train, validate = (tf.queue.FIFOQueue(100, x.dtype, shapes=[()], shared_name="examples") for _ in range(2))
    return {"_train": train, "_validate": validate}


def two_queues(tf, x, validation):
    with tf.device("CPU:0"):
        train, validate = (tf.queue.FIFOQueue(100, x.dtype, shapes=[()]) for _ in range(2))
    return {"_train": train, "_validate": validate}


def take_for_both(tf, state, x, validation):
    train, validate = state["_train"], state["_validate"]
    with tf.device("CPU:0"):
        with tf.control_dependencies([train.enqueue_many([x[:5]])]):
            filled = validate.enqueue_many([validation])
        with tf.control_dependencies([filled]):
            filled = train.enqueue_many([x[5:]])
        with tf.control_dependencies([filled]):
            for_training = train.dequeue_many(12)
        with tf.control_dependencies([for_training]):
            for_validation = validate.dequeue_many(4)
    return -for_training, -for_validation


def train_on_queue(tf, session, x, validation, **names):
    with session() as s:
        with tf.device("CPU:0"):
            train = tf.queue.FIFOQueue(100, x.dtype, shapes=[()], **names)
            validate = tf.queue.FIFOQueue(100, x.dtype, shapes=[()], **names)
            fill = validate.enqueue_many([validation]), train.enqueue_many([x])
            example = train.dequeue()
        mean = tf.compat.v1.Variable(tf.zeros_like(x[0]))
        step = mean.assign_add(0.5 * (example - mean))
        s.run(mean.initializer)
        for enqueue in fill:
            s.run(enqueue)
        return np.stack([s.run(step) for _ in range(6)])


def train_on_shared_queue(tf, session, x, validation):
    return train_on_queue(tf, session, x, validation, shared_name="examples")


def train_on_own_queue(tf, session, x, validation):
    return train_on_queue(tf, session, x, validation)


# Random transforms in threads.
def run_in_threads(tf, s, fetches):
    coordinator = tf.train.Coordinator()
    results: list[tuple] = []
    threads = [threading.Thread(target=run_until_stopped, args=(s, coordinator, f, results)) for f in fetches]
    for thread in threads:
        thread.start()
    coordinator.join(threads)
    return results


def draw_for_each(tf, session, x):
    with session() as s:
        with tf.device("CPU:0"):
            queue = tf.queue.FIFOQueue(100, x.dtype, shapes=[()])
            enqueue, close = queue.enqueue_many([x]), queue.close()
            example = queue.dequeue()
            with tf.control_dependencies([example]):
                noise = tf.random.uniform([], seed=7)
        s.run(enqueue)
        s.run(close)
        results = run_in_threads(tf, s, [(-example, -noise)] * 4)
        examples, noises = np.array(results).T
        return np.sort(examples), np.sort(noises), len(np.unique(noises))


def draw_for_batches(tf, session, x):
    with session() as s:
        with tf.device("CPU:0"):
            queue = tf.queue.FIFOQueue(100, x.dtype, shapes=[()])
            enqueue, close = queue.enqueue_many([x]), queue.close()
            batch = queue.dequeue_many(3)
            with tf.control_dependencies([batch]):
                noise = tf.random.uniform([], seed=7)
        s.run(enqueue)
        s.run(close)
        results = run_in_threads(tf, s, [(-batch, -noise * tf.ones_like(batch))] * 4)
        examples, noises = np.concatenate(results, axis=1)
        return np.sort(examples), np.sort(noises), len(np.unique(noises))


def draw_in_each_thread(tf, session, x):
    with session() as s:
        pipelines = []
        with tf.device("CPU:0"):
            for part in np.split(x, 4):
                queue = tf.queue.FIFOQueue(100, x.dtype, shapes=[()])
                s.run(queue.enqueue_many([part]))
                s.run(queue.close())
                example = queue.dequeue()
                with tf.control_dependencies([example]):
                    noise = tf.random.uniform([], seed=7)
                pipelines.append((example, noise))
        results = run_in_threads(tf, s, [(-example, -noise) for example, noise in pipelines])
        examples, noises = np.array(results).T
        return np.sort(examples), np.sort(noises), len(np.unique(noises))


def draw_by_number(tf, session, x):
    with session() as s:
        with tf.device("CPU:0"):
            examples = tf.queue.FIFOQueue(100, [tf.int32, x.dtype], shapes=[(), ()])
            enqueue = examples.enqueue_many([np.arange(len(x), dtype=np.int32), x])
            close = examples.close()
            number, example = examples.dequeue()
            noise = tf.random.stateless_uniform([], seed=tf.stack([7, number]))
            noisy = tf.queue.FIFOQueue(100, [tf.int32, x.dtype], shapes=[(), ()])
            runner = tf.compat.v1.train.QueueRunner(noisy, [noisy.enqueue((number, example + noise))] * 4)
            numbers, batch = noisy.dequeue_many(len(x))
        coordinator = tf.train.Coordinator()
        s.run(enqueue)
        s.run(close)
        threads = runner.create_threads(s, coordinator, start=True)
        numbers, batch = s.run((numbers, -batch))
        coordinator.request_stop()
        coordinator.join(threads)
        return batch[np.argsort(numbers)]


def draw_in_map(tf, x):
    def draw(example):
        return example, tf.random.uniform([], seed=7)

    with tf.device("CPU:0"):
        drawn = tf.data.Dataset.from_tensor_slices(x).map(draw, num_parallel_calls=4).batch(12)
        examples, noises = drawn.get_single_element()
        different, _ = tf.unique(noises)
    return -examples, tf.size(different)


def draw_in_dataset(tf, x):
    def add_noise(number, example):
        return number, example + tf.random.stateless_uniform([], seed=tf.stack([7, tf.cast(number, tf.int32)]))

    with tf.device("CPU:0"):
        examples = tf.data.Dataset.from_tensor_slices(x).enumerate()
        noisy = examples.map(add_noise, num_parallel_calls=4).batch(12)
        _, batch = noisy.get_single_element()
    return -batch


def python_random(tf, x):
    return {"_random": np.random.RandomState(7)}


def draw_in_python(tf, state, x):
    return x + tf.constant(state["_random"].uniform(), x.dtype)


def _shuffled(x, kept):
    """Chosen among one more than are kept: a random word modulo their number. The last one takes the place."""
    held, coming, taken = list(x[: kept + 1]), list(x[kept + 1 :]), []
    for word in philox.words(SEED, x.size):
        at = word % len(held)
        taken.append(held[at])
        held[at] = held[-1]
        held.pop()
        held += [coming.pop(0)] if coming else []
    return -np.array(taken)


def _means(values):
    found, mean = [], 0.0
    for value in values:
        mean += 0.5 * (value - mean)
        found.append(mean)
    return np.array(found)


def _drawn(x, draws):
    """Examples and numbers, sorted for want of an order, and how many numbers there are."""
    return np.sort(-x), np.sort(-draws), np.int64(len(np.unique(draws)))


def _numbered(x):
    noise = np.array([philox.stateless_uniform(SEED, i) for i in range(x.size)])
    return -(x + noise)


def _examples(draw, dtype):
    """Quarters, no two alike, in some order."""
    return ((np.argsort(draw.bits(12)) / 4 - 1.125).astype(dtype),)


def _with_validation(draw, dtype):
    """And large ones for validation."""
    return *_examples(draw, dtype), (32 + np.argsort(draw.bits(4)) / 4).astype(dtype)


NO_KERNEL = "XLA has no kernel for queues, which are resources of the host."
FILLED = "One must see to it that a queue is completely filled, or what is taken from it is not right."
AMONG = "A shuffling queue chooses among what it holds, so it shuffles only as well as it is filled."
LEAKS = "Validation data gets into training through a queue that is shared."
OWN = "A random transform in several threads gives every element a number of its own."
WAITS = "a queue that lacks what is asked of it lets the caller wait for that, whatever its capacity"


def _filled(**more):
    return Claim(topic=topics.C25, letter="a", says=FILLED, about=("output",), denies=True, **more)


def _own(about, **more):
    return Claim(topic=topics.C25, letter="c", says=OWN, about=about, instead="claim-c25-draw-by-number", **more)


def _refuses(x, *rest):
    return Raises("INVALID_ARGUMENT")


def _in_session(recipe=_examples, **spec):
    return Spec(recipes={"examples": recipe}, modes=("graph",), sessions=True, **spec)


HOST_ONLY = {"*/xla": Side(reference=_refuses, why=NO_KERNEL)}

SPECS = (
    Spec(
        name="claim-c25-partly-filled",
        program=take_from_partly_filled,
        reference=lambda x: (-x[0], -x[1:6], -x[6:]),
        recipes={"examples": _examples},
        ops="Neg",
        evidence=f"{FIFO_QUEUE};built:QueueEnqueueManyV2;ran:QueueDequeueManyV2;ran:QueueDequeueUpToV2",
        state=a_queue,
        contract=HOST_ONLY,
        claims=(_filled(plans=("*/eager", "*/function", "*/graph"), refuted={"*/*": WAITS}),),
    ),
    _in_session(
        name="claim-c25-wait-for-enough",
        program=wait_for_enough,
        reference=lambda x: -x.reshape(2, 6),
        ops="Neg",
        evidence=f"{FIFO_QUEUE};ran:QueueDequeueManyV2",
        claims=(_filled(refuted={"*/*": WAITS}),),
    ),
    _in_session(
        name="claim-c25-take-too-many",
        program=take_too_many,
        reference=lambda x: Raises("OUT_OF_RANGE", "insufficient elements (requested 100, current size 12)"),
        ops="",
        evidence=FIFO_QUEUE,
        claims=(_filled(reference=np.negative, instead="claim-c25-take-up-to"),),
    ),
    _in_session(
        name="claim-c25-take-up-to",
        program=take_up_to,
        reference=np.negative,
        ops="Neg",
        evidence=f"{FIFO_QUEUE};ran:QueueDequeueUpToV2",
    ),
    _in_session(
        name="claim-c25-forget-to-start",
        program=forget_to_start,
        reference=lambda x: Raises("OUT_OF_RANGE", "insufficient elements (requested 12, current size 0)"),
        ops="",
        evidence=f"{FIFO_QUEUE};called:compat.v1.train.QueueRunner",
        claims=(_filled(reference=np.negative, instead="claim-c25-start-queue-runners"),),
    ),
    _in_session(
        name="claim-c25-start-queue-runners",
        program=start_queue_runners,
        reference=np.negative,
        ops="Neg",
        evidence=f"{FIFO_QUEUE};ran:QueueDequeueManyV2;called:compat.v1.train.start_queue_runners",
    ),
    _in_session(
        name="claim-c25-shuffle-one-at-a-time",
        program=shuffle_one_at_a_time,
        reference=np.negative,
        ops="Neg",
        evidence="ran:RandomShuffleQueueV2;ran:QueueDequeueV2",
        claims=(
            Claim(topic=topics.C25, letter="d", says=AMONG, about=("output",), instead="claim-c25-shuffle-among-eight"),
        ),
    ),
    _in_session(
        name="claim-c25-shuffle-among-eight",
        program=shuffle_among_eight,
        reference=lambda x: _shuffled(x, 7),
        ops="Neg",
        evidence="ran:RandomShuffleQueueV2;ran:QueueDequeueV2",
        claims=(Claim(topic=topics.C25, letter="d", says=AMONG, about=("output",)),),
    ),
    Spec(
        name="claim-c25-queues-of-one-name",
        program=take_for_both,
        reference=lambda x, v: (-x, -v),
        recipes={"examples": _with_validation},
        ops="Neg",
        evidence=f"{FIFO_QUEUE};ran:QueueDequeueManyV2",
        state=two_queues_of_one_name,
        contract=HOST_ONLY
        | {
            "*/graph": Side(
                reference=lambda x, v: (-np.concatenate([x[:5], v, x[5:8]]), -x[8:]),
                why="In a graph, queues of one shared_name are one queue.",
                link="https://www.tensorflow.org/api_docs/python/tf/queue/FIFOQueue#__init__",
            )
        },
        claims=(
            Claim(
                topic=topics.C25,
                letter="b",
                says=LEAKS,
                about=("output[0]",),
                reference=lambda x, v: (-np.concatenate([x[:5], v, x[5:8]]), -x[8:]),
                plans=("*/eager", "*/function", "*/graph"),
                refuted=dict.fromkeys(
                    ("*/eager", "*/function"),
                    "a queue that is made eagerly is named by a number of its own, whatever its shared_name says",
                ),
                instead="claim-c25-two-queues",
            ),
        ),
    ),
    Spec(
        name="claim-c25-two-queues",
        program=take_for_both,
        reference=lambda x, v: (-x, -v),
        recipes={"examples": _with_validation},
        ops="Neg",
        evidence=f"{FIFO_QUEUE};ran:QueueDequeueManyV2",
        state=two_queues,
        contract=HOST_ONLY,
    ),
    _in_session(
        name="claim-c25-train-on-shared-queue",
        program=train_on_shared_queue,
        reference=lambda x, v: _means([*v, *x[:2]]),
        recipe=_with_validation,
        ops="AssignAddVariableOp;Sub",
        evidence=f"{FIFO_QUEUE};ran:QueueDequeueV2",
        claims=(
            Claim(topic=topics.C25, letter="b", says=LEAKS, about=("output",), instead="claim-c25-train-on-own-queue"),
        ),
    ),
    _in_session(
        name="claim-c25-train-on-own-queue",
        program=train_on_own_queue,
        reference=lambda x, v: _means(x[:6]),
        recipe=_with_validation,
        ops="AssignAddVariableOp;Sub",
        evidence=f"{FIFO_QUEUE};ran:QueueDequeueV2",
    ),
    _in_session(
        name="claim-c25-draw-for-each",
        program=draw_for_each,
        reference=lambda x: _drawn(x, philox.uniforms(SEED, 12)),
        ops="Neg",
        evidence="ran:QueueDequeueV2;ran:RandomUniform;called:train.Coordinator",
        claims=(_own(("output[2]",)),),
    ),
    _in_session(
        name="claim-c25-draw-for-batches",
        program=draw_for_batches,
        reference=lambda x: _drawn(x, np.repeat(philox.uniforms(SEED, 4), 3)),
        ops="Neg",
        evidence="ran:QueueDequeueManyV2;ran:RandomUniform;called:train.Coordinator",
        claims=(
            _own(
                ("output[2]",),
                reference=lambda x: _drawn(x, philox.uniforms(SEED, 12)),
                refuted={"*/*": "an op draws once in a run: what is drawn for a batch is the same for all in it"},
            ),
        ),
    ),
    _in_session(
        name="claim-c25-draw-in-each-thread",
        program=draw_in_each_thread,
        reference=lambda x: _drawn(x, np.repeat(philox.uniforms(SEED, 3), 4)),
        ops="Neg",
        evidence="ran:QueueDequeueV2;ran:RandomUniform;called:train.Coordinator",
        claims=(
            _own(
                ("output[2]",),
                reference=lambda x: _drawn(x, philox.uniforms(SEED, 12)),
                refuted={"*/*": "ops of one seed draw the same numbers, so each thread's op repeats the others'"},
            ),
        ),
    ),
    _in_session(
        name="claim-c25-draw-by-number",
        program=draw_by_number,
        reference=_numbered,
        ops="Neg",
        evidence="ran:QueueDequeueManyV2;built:StatelessRandomUniformV2;called:compat.v1.train.QueueRunner",
        ulp={"output": 0.5},
        claims=(_own(("output",)),),
    ),
    Spec(
        name="claim-c25-draw-in-map",
        constant=("output[1]",),  # the size of a known shape, which Python has
        program=draw_in_map,
        reference=lambda x: (-x, np.int32(12)),
        recipes={"examples": _examples},
        ops="Neg",
        evidence="ran:ParallelMapDatasetV2;built:RandomUniform",
        contract=HOST_ONLY,
        claims=(_own(("output[1]",), plans=("*/eager", "*/function", "*/graph")),),
    ),
    Spec(
        name="claim-c25-draw-in-dataset",
        program=draw_in_dataset,
        reference=_numbered,
        recipes={"examples": _examples},
        ops="Neg",
        evidence="ran:ParallelMapDatasetV2;built:StatelessRandomUniformV2",
        ulp={"output": 0.5},
        contract=HOST_ONLY,
        claims=(_own(("output",), plans=("*/eager", "*/function", "*/graph")),),
    ),
    Spec(
        name="claim-c25-draw-in-python",
        program=draw_in_python,
        reference=lambda x: np.stack([x + np.float32(u) for u in np.random.RandomState(SEED).uniform(size=4)]),
        recipes={"examples": _examples},
        ops="AddV2",
        ulp={"output": 0.5},
        state=python_random,
        steps=4,
        contract={
            plan: Side(
                reference=lambda x: np.stack([x + np.float32(np.random.RandomState(SEED).uniform())] * 4),
                why="Python runs while the graph is built, and not again.",
                link="https://www.tensorflow.org/guide/function#executing_python_side_effects",
            )
            for plan in ("*/function", "*/xla", "*/graph")
        },
        claims=(
            Claim(
                topic=topics.C25,
                letter="e",
                says="A number that Python draws differs from run to run.",
                about=("output",),
                refuted=dict.fromkeys(
                    ("*/function", "*/xla", "*/graph"),
                    "Python draws it once, while the graph is built, where it is a constant from then on",
                ),
                instead="claim-c25-draw-in-dataset",
            ),
        ),
    ),
)
