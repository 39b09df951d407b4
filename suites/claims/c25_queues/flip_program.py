"""Images that several threads put into a shuffling queue, and that several threads take from it and flip at random."""

import numpy as np

from tf_opdiff.suites.claims.c25_queues.random_program import enqueuing, run_in_threads


def flip(tf, session, images, dequeue):
    with session() as s:
        with tf.device("CPU:0"):
            source = tf.queue.FIFOQueue(100, images.dtype, shapes=[images.shape[1:]])
            fill, close = source.enqueue_many([images]), source.close()
            queue = tf.queue.RandomShuffleQueue(
                100, min_after_dequeue=4, dtypes=images.dtype, shapes=[images.shape[1:]], seed=7
            )
            runner = tf.compat.v1.train.QueueRunner(queue, [queue.enqueue(source.dequeue())] * 4)
            taken = dequeue(queue)
            with tf.control_dependencies([taken]):  # a thread that finds the queue empty draws no number
                flipped = tf.image.random_flip_left_right(taken, seed=7)
        s.run(fill)
        s.run(close)
        coordinator = tf.train.Coordinator()
        threads = runner.create_threads(s, coordinator, start=True)
        results, ran = run_in_threads(tf, s, [flipped] * 4)
        coordinator.request_stop()
        coordinator.join(threads)
        results = np.reshape(results, images.shape)
        turned = np.count_nonzero(results[:, 0, 0, 0] > results[:, 0, -1, 0])
        return results[np.argsort(results.sum(axis=(1, 2, 3)))].sum(axis=2), turned, enqueuing(threads), ran


def flip_each(tf, session, images):
    return flip(tf, session, images, lambda queue: queue.dequeue())


def flip_batches(tf, session, images):
    return flip(tf, session, images, lambda queue: queue.dequeue_many(4))
