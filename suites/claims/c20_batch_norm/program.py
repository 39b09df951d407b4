"""Batch normalisation in a session, by a Keras layer, fused, and by hand."""

import numpy as np


# In a session.
def batch_norm(tf, x):
    ones, zeros = tf.ones(x.shape[1:], x.dtype), tf.zeros(x.shape[1:], x.dtype)
    gamma = tf.compat.v1.get_variable("gamma", initializer=ones)
    beta = tf.compat.v1.get_variable("beta", initializer=zeros)
    moving_mean = tf.compat.v1.get_variable("moving_mean", initializer=zeros, trainable=False)
    moving_variance = tf.compat.v1.get_variable("moving_variance", initializer=ones, trainable=False)
    mean, variance = tf.nn.moments(x, [0])
    for moving, now in ((moving_mean, mean), (moving_variance, variance)):
        update = moving.assign_sub((moving - now) * 0.25)
        tf.compat.v1.add_to_collection(tf.compat.v1.GraphKeys.UPDATE_OPS, update)
    return tf.nn.batch_normalization(x, mean, variance, beta, gamma, 2**-10)


def network(tf, weights, xs, ys):
    x = tf.compat.v1.placeholder(xs.dtype, xs.shape[1:])
    y = tf.compat.v1.placeholder(ys.dtype, ys.shape[1:])
    w = tf.compat.v1.get_variable("w", initializer=weights)
    return x, y, tf.reduce_mean(tf.square(batch_norm(tf, x @ w) - y))


def trajectories(tf, s, fetched, x, y, xs, ys):
    s.run(tf.compat.v1.global_variables_initializer())
    steps = []
    for batch, wanted in zip(xs, ys, strict=True):
        s.run(fetched, {x: batch, y: wanted})
        steps.append(s.run(tf.compat.v1.global_variables()))
    return tuple(map(np.stack, zip(*steps, strict=True)))


def then(tf, s, fetched, trajectory, feed):
    """A control: after the training, what does run the updates; it gives the averages."""
    s.run(fetched, feed)
    return *trajectory, *s.run(tf.compat.v1.global_variables()[-2:])


def train_alone(tf, session, weights, xs, ys):
    with session() as s:
        x, y, loss = network(tf, weights, xs, ys)
        train = tf.compat.v1.train.GradientDescentOptimizer(0.125).minimize(loss)
        trajectory = trajectories(tf, s, train, x, y, xs, ys)
        updates = tf.compat.v1.get_collection(tf.compat.v1.GraphKeys.UPDATE_OPS)
        return then(tf, s, updates, trajectory, {x: xs[-1]})


def around_minimize(tf, session, weights, xs, ys):
    with session() as s:
        x, y, loss = network(tf, weights, xs, ys)
        updates = tf.compat.v1.get_collection(tf.compat.v1.GraphKeys.UPDATE_OPS)
        with tf.control_dependencies(updates):
            train = tf.compat.v1.train.GradientDescentOptimizer(0.125).minimize(loss)
        return trajectories(tf, s, train, x, y, xs, ys)


def around_what_was_made(tf, session, weights, xs, ys):
    with session() as s:
        x, y, loss = network(tf, weights, xs, ys)
        minimize = tf.compat.v1.train.GradientDescentOptimizer(0.125).minimize(loss)
        updates = tf.compat.v1.get_collection(tf.compat.v1.GraphKeys.UPDATE_OPS)
        with tf.control_dependencies(updates):
            train, waiting = minimize, tf.no_op()
        trajectory = trajectories(tf, s, train, x, y, xs, ys)
        return then(tf, s, waiting, trajectory, {x: xs[-1]})


def fetch_updates(tf, session, weights, xs, ys):
    with session() as s:
        x, y, loss = network(tf, weights, xs, ys)
        train = tf.compat.v1.train.GradientDescentOptimizer(0.125).minimize(loss)
        updates = tf.compat.v1.get_collection(tf.compat.v1.GraphKeys.UPDATE_OPS)
        return trajectories(tf, s, (train, updates), x, y, xs, ys)


# With a layer of Keras.
def with_layer(tf, weights, xs, ys):
    w = tf.Variable(weights)
    layer = tf.keras.layers.BatchNormalization(momentum=0.75, epsilon=2**-10, dtype=weights.dtype.name)
    layer.build(ys.shape[1:])
    sgd = tf.keras.optimizers.SGD(0.125)
    sgd.build([w, layer.gamma, layer.beta])
    return {"w": w, "_layer": layer, "_sgd": sgd}


def train_layer(tf, state, weights, xs, ys):
    w, layer, steps = state["w"], state["_layer"], []
    for x, y in zip(tf.unstack(xs), tf.unstack(ys), strict=True):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(layer(x @ w, training=True) - y))
        trained = [w, layer.gamma, layer.beta]
        state["_sgd"].apply(tape.gradient(loss, trained), trained)
        steps.append([tf.identity(v) for v in (*trained, layer.moving_mean, layer.moving_variance)])
    return tuple(map(tf.stack, zip(*steps, strict=True)))


def with_layer_of_images(tf, x):
    layer = tf.keras.layers.BatchNormalization(momentum=0.75, epsilon=2**-10, dtype=x.dtype.name)
    layer.build(x.shape)
    return {"_layer": layer}


def normalise_images(tf, state, x):
    layer = state["_layer"]
    return layer(x, training=True), tf.identity(layer.moving_mean), tf.identity(layer.moving_variance)


# Fused, and by hand.
def fused(tf, x, gamma, beta, moving_mean, moving_variance):
    return tf.compat.v1.nn.fused_batch_norm(
        x, gamma, beta, moving_mean, moving_variance, epsilon=2**-10, exponential_avg_factor=0.25
    )


def by_moments(tf, x, gamma, beta, moving_mean, moving_variance):
    mean, variance = tf.nn.moments(x, [0, 1, 2])
    moving_mean -= (moving_mean - mean) * 0.25
    moving_variance -= (moving_variance - variance) * 0.25
    return tf.nn.batch_normalization(x, mean, variance, beta, gamma, 2**-10), moving_mean, moving_variance
