"""The post's net to the letter: an addition by py_func, whose registered gradient adds again."""

import numpy as np

STEPS = 200


def py_func(tf, func, inp, dtypes, *, stateful=True, name=None, grad=None):
    """The post's helper."""
    rnd_name = "PyFuncGrad" + str(np.random.randint(0, int(1e8)))
    tf.RegisterGradient(rnd_name)(grad)
    g = tf.compat.v1.get_default_graph()
    with g.gradient_override_map({"PyFunc": rnd_name}):
        return tf.compat.v1.py_func(func, inp, dtypes, stateful=stateful, name=name)


def addition(c, k, d):
    return c + k


def addition_gradient(op, grad):
    c, k, d = op.inputs
    e = c + k
    return (e + d) * grad, d * grad, e * grad


def overridden_add(tf, c, k, d, name=None):
    with tf.compat.v1.name_scope(name, "Addition", [c, k, d]) as scope, tf.device("CPU:0"):
        results = py_func(tf, addition, [c, k, d], [tf.float32], name=scope, grad=addition_gradient)
        return tf.ensure_shape(results[0], c.shape)


def plain_add(tf, c, k, d):
    return tf.add(c, k)


def train(tf, session, add, b, labels, c, k):
    with session() as s:
        c = tf.compat.v1.get_variable("c", initializer=c)
        k = tf.compat.v1.get_variable("k", initializer=k)
        d = tf.add(b, c)
        e = add(tf, c, k, d)
        a = tf.multiply(d, e)
        loss = tf.compat.v1.losses.softmax_cross_entropy(labels, a)
        adam = tf.compat.v1.train.AdamOptimizer(0.001, 0.9, 0.999, epsilon=0.1)
        gradients = adam.compute_gradients(loss)
        step = adam.apply_gradients(gradients)
        s.run(tf.compat.v1.global_variables_initializer())
        first = s.run(loss)
        for _ in range(STEPS):
            s.run(step)
        return first, s.run(loss), *s.run([c, k])


def train_overridden(tf, session, b, labels, c, k):
    return train(tf, session, overridden_add, b, labels, c, k)


def train_plain(tf, session, b, labels, c, k):
    return train(tf, session, plain_add, b, labels, c, k)
