"""Random numbers that are drawn for the examples of a queue, in threads, in a dataset, and in Python."""

import threading

import numpy as np

from tf_opdiff.suites.claims.c25_queues.program import run_until_stopped


def run_in_threads(tf, s, fetches):
    coordinator = tf.train.Coordinator()
    results: list[tuple] = []
    ran: set[str] = set()

    def run(fetched):
        ran.add(threading.current_thread().name)
        run_until_stopped(s, coordinator, fetched, results)

    threads = [threading.Thread(target=run, args=(f,)) for f in fetches]
    for thread in threads:
        thread.start()
    coordinator.join(threads)
    return results, len(ran)


def enqueuing(threads):
    """How many of a runner's threads put something into its queue; another one closes it."""
    return sum("close" not in thread.name for thread in threads)


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
        results, ran = run_in_threads(tf, s, [(-example, -noise)] * 4)
        examples, noises = np.array(results).T
        return np.sort(examples), np.sort(noises), len(np.unique(noises)), ran


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
        results, ran = run_in_threads(tf, s, [(-batch, -noise * tf.ones_like(batch))] * 4)
        examples, noises = np.concatenate(results, axis=1)
        return np.sort(examples), np.sort(noises), len(np.unique(noises)), ran


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
        results, ran = run_in_threads(tf, s, [(-example, -noise) for example, noise in pipelines])
        examples, noises = np.array(results).T
        return np.sort(examples), np.sort(noises), len(np.unique(noises)), ran


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
        return batch[np.argsort(numbers)], enqueuing(threads)


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


def draw_in_runner(tf, session, x):
    with session() as s:
        tf.compat.v1.set_random_seed(87654321)  # that of a graph without one, where nothing else sets a seed
        with tf.device("CPU:0"):
            examples = tf.queue.FIFOQueue(100, x.dtype, shapes=[()])
            fill, close = examples.enqueue_many([x]), examples.close()
            example = examples.dequeue()
            with tf.control_dependencies([example]):
                noise = tf.random.uniform([], seed=7)
            transformed = tf.queue.FIFOQueue(100, [x.dtype, noise.dtype], shapes=[(), ()])
            runner = tf.compat.v1.train.QueueRunner(transformed, [transformed.enqueue((example, noise))] * 4)
            batch, noises = transformed.dequeue_many(len(x))
        coordinator = tf.train.Coordinator()
        s.run(fill)
        s.run(close)
        threads = runner.create_threads(s, coordinator, start=True)
        batch, noises = s.run((-batch, -noises))
        coordinator.request_stop()
        coordinator.join(threads)
        return np.sort(batch), np.sort(noises), len(np.unique(noises)), enqueuing(threads)


def queue_and_python_random(tf, x):
    with tf.device("CPU:0"):
        return {"_queue": tf.queue.FIFOQueue(100, x.dtype, shapes=[()]), "_random": np.random.RandomState(7)}


def enqueue_a_python_number(tf, state, x):
    queue = state["_queue"]
    with tf.device("CPU:0"):
        noisy = x + tf.constant(state["_random"].uniform(), x.dtype)
        with tf.control_dependencies([queue.enqueue_many([noisy])]):
            batch = queue.dequeue_many(12)
    return -batch
