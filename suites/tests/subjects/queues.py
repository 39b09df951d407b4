"""Queues and threads: lists for queues, one thread for several, and threads that do not wait."""

import threading

from tf_opdiff.suites.tests.subjects.replaced import Replaced


class _ListQueue:
    """A queue that is a list of tensors, filled and emptied while the program is built."""

    def __init__(self, tf, *_args, **_more):
        self.tf, self.tensors = tf, []

    def enqueue_many(self, components):
        self.tensors += self.tf.unstack(components[0])
        return self.tf.no_op()

    def close(self):
        return self.tf.no_op()

    def dequeue(self):
        return self.tensors.pop(0)

    def dequeue_up_to(self, count):
        taken, self.tensors = self.tensors[:count], self.tensors[count:]
        return self.tf.stack(taken)

    dequeue_many = dequeue_up_to


def lists(tf):
    return {"queue.FIFOQueue": lambda *args, **more: _ListQueue(tf, *args, **more)}


def in_order(tf):
    """Queues that do not shuffle."""
    return {
        "queue.RandomShuffleQueue": lambda capacity, min_after_dequeue, dtypes, shapes, seed: tf.queue.FIFOQueue(
            capacity, dtypes, shapes=shapes
        )
    }


def names_of_their_own(tf):
    """Queues that share nothing, whatever their shared_name says."""
    return {"queue.FIFOQueue": lambda *args, shared_name=None, **more: tf.queue.FIFOQueue(*args, **more)}


def one_runner(tf):
    """Runners of one thread."""
    runner = tf.compat.v1.train.QueueRunner
    return {"compat.v1.train.QueueRunner": lambda queue, ops: runner(queue, ops[:1])}


def started_runners(tf):
    """Runners that are started where they are added."""

    def start_queue_runners(session, coordinator):
        runners = tf.compat.v1.get_collection(tf.compat.v1.GraphKeys.QUEUE_RUNNERS)
        return [thread for runner in runners for thread in runner.create_threads(session, coordinator, start=True)]

    return {"compat.v1.train.start_queue_runners": start_queue_runners}


class _OnlyTheFirst(threading.Thread):
    """A thread; none is started but the first."""

    started = False

    def start(self):
        if not _OnlyTheFirst.started:
            _OnlyTheFirst.started = True
            super().start()

    def join(self, timeout=None):
        if self.ident:
            super().join(timeout)


def one_thread(tf):
    _OnlyTheFirst.started = False
    return {"@thread": _OnlyTheFirst}


class _Late(threading.Thread):
    """A thread that starts when it is asked for the second time whether it is alive."""

    asked = 0

    def start(self):
        pass

    def is_alive(self):
        self.asked += 1
        if self.asked == 2:
            super().start()
        return super().is_alive()


def late_thread(tf):
    return {"@thread": _Late}


class _OneCall:
    """A dataset whose map runs one call at a time."""

    def __init__(self, dataset):
        self._dataset = dataset

    def enumerate(self):
        return _OneCall(self._dataset.enumerate())

    def map(self, function, num_parallel_calls):
        return self._dataset.map(function)


def one_call_at_a_time(tf):
    def from_tensor_slices(x):
        return _OneCall(tf.data.Dataset.from_tensor_slices(x))

    return {"data.Dataset": Replaced(tf.data.Dataset, {"from_tensor_slices": from_tensor_slices})}
