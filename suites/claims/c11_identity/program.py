"""tf.identity as a straight-through estimator, as a copy, and as a node for control dependencies."""

import numpy as np

from tf_opdiff.harness.spec.spec import Unavailable


def identity_alone(tf, x):
    return tf.identity(x)


def straight_through(tf, x):
    with tf.compat.v1.get_default_graph().gradient_override_map({"Sign": "Identity"}):
        return tf.sign(x)


def straight_through_everywhere(tf, x):
    return x + tf.stop_gradient(tf.sign(x) - x)


def placed(tf, session, array):
    with session() as s:
        x = tf.compat.v1.placeholder(array.dtype, array.shape)
        doubled = x * 2
        with tf.device("CPU:0"):
            first = tf.identity(doubled)
        with tf.device("CPU:1"):
            second = tf.identity(first)
        metadata = tf.compat.v1.RunMetadata()
        values = s.run([first, second], {x: array}, run_metadata=metadata)
        return *values, np.array([ran_on(tensor, metadata) for tensor in (first, second)])


def ran_on(tensor, metadata):
    nodes = [node for graph in metadata.partition_graphs for node in graph.node]
    device = next(node.device for node in nodes if node.name == tensor.op.name)
    return device.rpartition("device:")[2].encode()


def copied(tf, x):
    if len(tf.config.list_logical_devices()) < 2:
        raise Unavailable("TensorFlow lists one device only: there is none to copy to")
    doubled = x * 2
    with tf.device("CPU:0"):
        copy = tf.identity(doubled)
    return copy, tf.constant([doubled.device.endswith("CPU:0"), copy.device.endswith("CPU:0")])


def tower_loss(tf, x):
    total_loss = tf.reduce_mean(tf.square(x))
    averages = tf.compat.v1.train.ExponentialMovingAverage(0.9)
    averages_op = averages.apply([total_loss])
    return total_loss, averages.average(total_loss), averages_op


def with_identity(tf, session, batches):
    with session() as s:
        x = tf.compat.v1.placeholder(batches.dtype, batches.shape[1:])
        total_loss, average, averages_op = tower_loss(tf, x)
        with tf.control_dependencies([averages_op]):
            total_loss = tf.identity(total_loss)
        return losses_and_averages(tf, s, x, total_loss, average, batches)


def without_identity(tf, session, batches):
    with session() as s:
        x = tf.compat.v1.placeholder(batches.dtype, batches.shape[1:])
        total_loss, average, averages_op = tower_loss(tf, x)
        with tf.control_dependencies([averages_op]):
            fetched, waiting = total_loss, tf.no_op()
        losses, averages = losses_and_averages(tf, s, x, fetched, average, batches)
        s.run(waiting, {x: batches[-1]})  # a control: what is made in the context does run the update
        return losses, averages, s.run(average)


def losses_and_averages(tf, s, x, total_loss, average, batches):
    s.run(tf.compat.v1.global_variables_initializer())
    losses, averages = [], []
    for batch in batches:
        losses.append(s.run(total_loss, {x: batch}))
        averages.append(s.run(average))
    return np.stack(losses), np.stack(averages)


def moving_average(tf, x):
    return {"average": tf.Variable(tf.zeros([], x.dtype))}


def averaged_without_identity(tf, state, x):
    average = state["average"]
    total_loss = tf.reduce_mean(tf.square(x))
    averages_op = average.assign_sub((average - total_loss) * 0.125)
    with tf.control_dependencies([averages_op]):
        tf.no_op()  # a control: in a graph, this op waits for the update
        return total_loss, average


def averaged_with_identity(tf, state, x):
    average = state["average"]
    total_loss = tf.reduce_mean(tf.square(x))
    averages_op = average.assign_sub((average - total_loss) * 0.125)
    with tf.control_dependencies([averages_op]):
        return tf.identity(total_loss), tf.identity(average)
