"""A feature map that is attended to by a Bernoulli sample."""


def attend(tf, p, u, features):
    sample = tf.cast(tf.less(u, p), features.dtype)
    return sample * features


def attend_at_random(tf, p, features):
    sample = tf.cast(tf.less(tf.random.uniform(p.shape, dtype=p.dtype), p), features.dtype)
    return sample * features


def attend_with_gradient(tf, p, u, features):
    @tf.custom_gradient
    def bernoulli(p):
        return tf.cast(u < p, p.dtype), lambda g: g

    return bernoulli(p) * features


def attend_at_random_with_gradient(tf, p, features):
    @tf.custom_gradient
    def bernoulli(p):
        return tf.cast(tf.random.uniform(p.shape, dtype=p.dtype) < p, p.dtype), lambda g: g

    return bernoulli(p) * features


def attend_by_map(tf, p, u, features):
    with tf.compat.v1.get_default_graph().gradient_override_map({"Floor": "Identity"}):
        sample = tf.floor(p + tf.stop_gradient(u))
    return sample * features


def attend_by_called_map(tf, p, u, features):
    @tf.function(autograph=False)
    def attended(p, u, features):
        return attend_by_map(tf, p, u, features)

    return attended(p, u, features)
