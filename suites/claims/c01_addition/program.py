"""An addition that a Python function takes over, with a gradient from the rule of the whole product."""

import numpy as np

from tf_opdiff.suites.reference.registered import registered

RATE = 0.125
STEPS = 6


# Programs: d = x + c, e = c + k, and the loss of a = d·e.
def cross_entropy(tf, logits, label):
    return tf.nn.sparse_softmax_cross_entropy_with_logits(labels=label, logits=logits)


def plain_loss(tf, x, c, k, label):
    d = x + c
    e = c + k
    return cross_entropy(tf, d * e, label)


def add(c, k, d):
    return c + k


def add_gradient(op, g):
    d = op.inputs[2]
    e = op.outputs[0]
    return (e + d) * g, d * g, e * g


def overridden_sum(tf, c, k, d):
    registered(tf, "AddGradient", add_gradient)
    with tf.compat.v1.get_default_graph().gradient_override_map({"PyFunc": "AddGradient"}), tf.device("CPU:0"):
        e = tf.compat.v1.py_func(add, [c, k, d], c.dtype)
    return tf.ensure_shape(e, c.shape)


def overridden_loss(tf, x, c, k, label):
    d = x + c
    e = overridden_sum(tf, c, k, d)
    return cross_entropy(tf, d * e, label)


def called_loss(tf, x, c, k, label):
    @tf.function(autograph=False)
    def loss(x, c, k, label):
        return overridden_loss(tf, x, c, k, label)

    return loss(x, c, k, label)


def closing_over_d(tf, x, c, k, label):
    @tf.function(autograph=False)
    def loss(x, c, k, label):
        d = x + c
        name = unused_name("AddGradient")

        @tf.RegisterGradient(name)
        def gradient(op, g):
            e = op.outputs[0]
            return (e + d) * g, d * g

        with tf.compat.v1.get_default_graph().gradient_override_map({"PyFunc": name}), tf.device("CPU:0"):
            e = tf.compat.v1.py_func(lambda c, k: c + k, [c, k], c.dtype)
        return cross_entropy(tf, d * tf.ensure_shape(e, c.shape), label)

    return loss(x, c, k, label)


def sum_gradient(op, g):
    return g, g, None


def mended_loss(tf, x, c, k, label):
    registered(tf, "SumGradient", sum_gradient)

    @tf.function(autograph=False)
    def loss(x, c, k, label):
        d = x + c
        with tf.compat.v1.get_default_graph().gradient_override_map({"PyFunc": "SumGradient"}), tf.device("CPU:0"):
            e = tf.compat.v1.py_func(add, [c, k, d], c.dtype)
        return cross_entropy(tf, d * tf.ensure_shape(e, c.shape), label)

    return loss(x, c, k, label)


def custom_sum(tf, c, k):
    @tf.custom_gradient
    def plus(c, k):
        return c + k, lambda g: (g, g)

    return plus(c, k)


def custom_loss(tf, x, c, k, label):
    d = x + c
    e = custom_sum(tf, c, k)
    return cross_entropy(tf, d * e, label)


def closing_in_custom_gradient(tf, x, c, k, label):
    d = x + c

    @tf.custom_gradient
    def plus(c, k):
        e = c + k
        return e, lambda g: ((e + d) * g, d * g)

    return cross_entropy(tf, d * plus(c, k), label)


# Names of gradients.
_used: list[str] = []


def unused_name(name):
    _used.append(name)
    return f"{name}{len(_used)}"


def register_twice(tf, x):
    tf.RegisterGradient("AddGradientTwice")(add_gradient)
    tf.RegisterGradient("AddGradientTwice")(add_gradient)
    return x


def register_in_two_graphs(tf, x):
    for graph in (tf.Graph(), tf.Graph()):
        with graph.as_default():
            assert tf.compat.v1.get_default_graph() is graph
            tf.RegisterGradient("AddGradientOfGraph")(add_gradient)
    return x


# Training.
def train(tf, session, loss_of, step_of, x, c, k, label):
    with session() as s:
        weights = [tf.compat.v1.get_variable(name, initializer=value) for name, value in (("c", c), ("k", k))]
        loss = loss_of(tf, tf.constant(x), *weights, tf.constant(label))
        step = step_of(tf.compat.v1.train.AdamOptimizer(RATE), loss)
        s.run(tf.compat.v1.global_variables_initializer())
        rows = []
        for _ in range(STEPS):
            before = s.run(loss)
            s.run(step)
            rows.append((before, *s.run(weights)))
    return [np.stack(column) for column in zip(*rows, strict=True)]


def compute_and_apply(adam, loss):
    return adam.apply_gradients(adam.compute_gradients(loss))


def minimize(adam, loss):
    return adam.minimize(loss)


def train_plain(tf, session, x, c, k, label):
    return train(tf, session, plain_loss, minimize, x, c, k, label)


def train_overridden(tf, session, x, c, k, label):
    return train(tf, session, overridden_loss, compute_and_apply, x, c, k, label)


def train_by_minimize(tf, session, x, c, k, label):
    return train(tf, session, overridden_loss, minimize, x, c, k, label)


def weights(tf, x, c, k, label):
    return {"c": tf.Variable(c), "k": tf.Variable(k), "_adam": tf.compat.v1.train.AdamOptimizer(RATE)}


def adam_step(tf, state, x, label, sum_of):
    with tf.GradientTape() as tape:
        c, k = tf.identity(state["c"]), tf.identity(state["k"])
        d = x + c
        e = sum_of(tf, c, k, d)
        loss = cross_entropy(tf, d * e, label)
    gradients = tape.gradient(loss, [state["c"], state["k"]])
    step = state["_adam"].apply_gradients(zip(gradients, [state["c"], state["k"]], strict=True))
    with tf.control_dependencies([step]):
        return tf.identity(loss)


def sum_by_formula(tf, c, k, d):
    @tf.custom_gradient
    def plus(c, k, d):
        e = c + k
        return e, lambda g: ((e + d) * g, d * g, e * g)

    return plus(c, k, d)


def sum_by_custom_gradient(tf, c, k, d):
    return custom_sum(tf, c, k)


def train_by_formula(tf, state, x, c, k, label):
    return adam_step(tf, state, x, label, sum_by_formula)


def train_by_custom_gradient(tf, state, x, c, k, label):
    return adam_step(tf, state, x, label, sum_by_custom_gradient)
