"""Updates of moving averages before and after the train step, and averages that are assigned the batch's numbers."""

from tf_opdiff.suites.claims.c20_batch_norm.program import trajectories


def network(tf, weights, xs, ys):
    x = tf.compat.v1.placeholder(xs.dtype, xs.shape[1:])
    y = tf.compat.v1.placeholder(ys.dtype, ys.shape[1:])
    w = tf.compat.v1.get_variable("w", initializer=weights)
    ones, zeros = tf.ones(ys.shape[2:], ys.dtype), tf.zeros(ys.shape[2:], ys.dtype)
    gamma = tf.compat.v1.get_variable("gamma", initializer=ones)
    beta = tf.compat.v1.get_variable("beta", initializer=zeros)
    moving_mean = tf.compat.v1.get_variable("moving_mean", initializer=zeros, trainable=False)
    moving_variance = tf.compat.v1.get_variable("moving_variance", initializer=ones, trainable=False)
    mean, variance = tf.nn.moments(x @ w, [0])
    normalised = tf.nn.batch_normalization(x @ w, mean, variance, beta, gamma, 2**-10)
    loss = tf.reduce_mean(tf.square(normalised - y))
    return x, y, w, loss, ((moving_mean, mean), (moving_variance, variance))


def assign_the_batch(tf, session, weights, xs, ys):
    with session() as s:
        x, y, _, loss, averages = network(tf, weights, xs, ys)
        for moving, now in averages:
            tf.compat.v1.add_to_collection(tf.compat.v1.GraphKeys.UPDATE_OPS, moving.assign(now))
        updates = tf.compat.v1.get_collection(tf.compat.v1.GraphKeys.UPDATE_OPS)
        with tf.control_dependencies(updates):
            train = tf.compat.v1.train.GradientDescentOptimizer(0.125).minimize(loss)
        return trajectories(tf, s, train, x, y, xs, ys)


def update_after_train(tf, session, weights, xs, ys):
    with session() as s:
        x, y, _, loss, averages = network(tf, weights, xs, ys)
        train = tf.compat.v1.train.GradientDescentOptimizer(0.125).minimize(loss)
        with tf.control_dependencies([train]):
            updates = [moving.assign_sub((moving - now) * 0.25) for moving, now in averages]
        return trajectories(tf, s, updates, x, y, xs, ys)


def compute_after_train(tf, session, weights, xs, ys):
    with session() as s:
        x, y, w, loss, averages = network(tf, weights, xs, ys)
        train = tf.compat.v1.train.GradientDescentOptimizer(0.125).minimize(loss)
        with tf.control_dependencies([train]):
            moments = tf.nn.moments(x @ w, [0])
            pairs = zip(averages, moments, strict=True)
            updates = [moving.assign_sub((moving - now) * 0.25) for (moving, _), now in pairs]
        return trajectories(tf, s, updates, x, y, xs, ys)
