"""Center loss: centers that are moved by an op of their own, beside the training."""

import numpy as np


# The loss, and how far centers move: half of the paper's Δc.
def center_loss(tf, logits, labels, difference):
    classified = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    return tf.reduce_sum(classified) + 0.125 * tf.reduce_sum(tf.square(difference))


def center_steps(tf, labels, difference):
    same = tf.cast(tf.equal(labels[:, None], labels[None, :]), difference.dtype)
    return 0.5 * difference / (1 + tf.reduce_sum(same, axis=1, keepdims=True))


# In a session.
def network(tf, weights, head, start, samples, labels):
    x = tf.compat.v1.placeholder(samples.dtype, samples.shape[1:])
    label = tf.compat.v1.placeholder(labels.dtype, labels.shape[1:])
    w = tf.compat.v1.get_variable("w", initializer=weights)
    v = tf.compat.v1.get_variable("head", initializer=head)
    centers = tf.compat.v1.get_variable("centers", initializer=start, trainable=False)
    features = x @ w
    difference = tf.gather(centers, label) - features
    loss = center_loss(tf, features @ v, label, difference)
    update = tf.compat.v1.scatter_sub(centers, label, center_steps(tf, label, difference))
    return x, label, loss, update


def trajectories(tf, s, loss, fetched, x, label, samples, labels):
    s.run(tf.compat.v1.global_variables_initializer())
    steps = []
    for batch, classes in zip(samples, labels, strict=True):
        lost, _ = s.run((loss, fetched), {x: batch, label: classes})
        steps.append((lost, *s.run(tf.compat.v1.global_variables())))
    return tuple(map(np.stack, zip(*steps, strict=True)))


def train_alone(tf, session, weights, head, start, samples, labels):
    with session() as s:
        x, label, loss, update = network(tf, weights, head, start, samples, labels)
        train = tf.compat.v1.train.GradientDescentOptimizer(0.03125).minimize(loss)
        trajectory = trajectories(tf, s, loss, train, x, label, samples, labels)
        s.run(update, {x: samples[-1], label: labels[-1]})  # a control: fetched, the op does move the centers
        return *trajectory, s.run(tf.compat.v1.global_variables()[2])


def fetch_both(tf, session, weights, head, start, samples, labels):
    with session() as s:
        x, label, loss, update = network(tf, weights, head, start, samples, labels)
        train = tf.compat.v1.train.GradientDescentOptimizer(0.03125).minimize(loss)
        return trajectories(tf, s, loss, (train, update), x, label, samples, labels)


def around_minimize(tf, session, weights, head, start, samples, labels):
    with session() as s:
        x, label, loss, update = network(tf, weights, head, start, samples, labels)
        with tf.control_dependencies([update]):
            train = tf.compat.v1.train.GradientDescentOptimizer(0.03125).minimize(loss)
        return trajectories(tf, s, loss, train, x, label, samples, labels)


# With a tape.
def variables(tf, weights, head, start, samples, labels):
    w, v, centers = tf.Variable(weights), tf.Variable(head), tf.Variable(start, trainable=False)
    sgd = tf.keras.optimizers.SGD(0.03125)
    sgd.build([w, v])
    return {"w": w, "head": v, "centers": centers, "_sgd": sgd}


def train_and_move(tf, state, weights, head, start, samples, labels):
    w, v, centers, steps = state["w"], state["head"], state["centers"], []
    for x, label in zip(tf.unstack(samples), tf.unstack(labels), strict=True):
        with tf.GradientTape() as tape:
            features = x @ w
            difference = tf.gather(centers, label) - features
            loss = center_loss(tf, features @ v, label, difference)
        centers.scatter_sub(tf.IndexedSlices(center_steps(tf, label, difference), label))
        state["_sgd"].apply(tape.gradient(loss, [w, v]), [w, v])
        steps.append((loss, w.read_value(), v.read_value(), centers.read_value()))
    return tuple(map(tf.stack, zip(*steps, strict=True)))
