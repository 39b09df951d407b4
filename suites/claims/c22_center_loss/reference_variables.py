"""Center loss with the reference variables of TensorFlow 1.x, and its loss alone."""

from tf_opdiff.suites.claims.c22_center_loss.program import network, trajectories


def fetch_both_of_references(tf, session, weights, head, start, samples, labels):
    with session() as s:
        with tf.compat.v1.variable_scope("", use_resource=False):
            x, label, loss, update = network(tf, weights, head, start, samples, labels)
        train = tf.compat.v1.train.GradientDescentOptimizer(0.03125).minimize(loss)
        return trajectories(tf, s, loss, (train, update), x, label, samples, labels)


def half_squares(tf, features, centers, labels):
    return 0.5 * tf.reduce_sum(tf.square(features - tf.gather(centers, labels)))
