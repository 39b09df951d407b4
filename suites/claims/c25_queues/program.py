"""Queues, and the threads that take from them."""

import threading

import numpy as np


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
            enqueue, close, size = queue.enqueue_many([part]), queue.close(), queue.size()
            batch = queue.dequeue_many(6)
        coordinator = tf.train.Coordinator()
        batches: list[np.ndarray] = []
        thread = threading.Thread(target=run_until_stopped, args=(s, coordinator, -batch, batches))
        thread.start()
        s.run(enqueue, {part: x[:4]})
        while thread.is_alive() and s.run(size):  # a control: the thread takes four, and waits for two more
            pass
        held, batches_then = s.run(size), len(batches)
        s.run(enqueue, {part: x[4:]})
        s.run(close)
        coordinator.join([thread])
        return np.stack(batches), np.array([held, batches_then])


def take_a_hundred(tf, session, x, dequeue):
    with session() as s:
        with tf.device("CPU:0"):
            queue = tf.queue.FIFOQueue(100, x.dtype, shapes=[()])
            enqueue, close = queue.enqueue_many([x]), queue.close()
            batch = dequeue(queue)
        s.run(enqueue)
        s.run(close)
        return s.run(-batch)


def take_too_many(tf, session, x):
    return take_a_hundred(tf, session, x, lambda queue: queue.dequeue_many(100))


def take_up_to(tf, session, x):
    return take_a_hundred(tf, session, x, lambda queue: queue.dequeue_up_to(100))


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


def mean_of_queue(tf, session, fillings, taken, **names):
    """The moving average of the elements taken from the first queue; all are filled, the last one first."""
    (_, x), *_ = fillings.items()
    with session() as s:
        with tf.device("CPU:0"):
            queues = {name: tf.queue.FIFOQueue(100, x.dtype, shapes=[()], **names) for name in fillings}
            fill = [queues[name].enqueue_many([values]) for name, values in fillings.items()]
            example = next(iter(queues.values())).dequeue()
        mean = tf.compat.v1.Variable(tf.zeros_like(x[0]))
        step = mean.assign_add(0.5 * (example - mean))
        s.run(mean.initializer)
        for enqueue in reversed(fill):
            s.run(enqueue)
        return np.stack([s.run(step) for _ in range(taken)])


def train_on_queue(tf, session, x, validation, **names):
    return mean_of_queue(tf, session, {"training": x, "validation": validation}, 6, **names)


def train_on_shared_queue(tf, session, x, validation):
    return train_on_queue(tf, session, x, validation, shared_name="examples")


def train_on_own_queue(tf, session, x, validation):
    return train_on_queue(tf, session, x, validation)


def validate_on_queue(tf, session, x, validation, **names):
    return mean_of_queue(tf, session, {"validation": validation, "training": x}, len(validation), **names)


def validate_on_shared_queue(tf, session, x, validation):
    return validate_on_queue(tf, session, x, validation, shared_name="examples")


def validate_on_own_queue(tf, session, x, validation):
    return validate_on_queue(tf, session, x, validation)
