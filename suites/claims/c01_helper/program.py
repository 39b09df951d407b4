"""The answer's parts one by one: grad, the slide's formulas, py_func without a map, its argument stateful, its name."""

import numpy as np

from tf_opdiff.suites.reference.registered import registered


# d = x + c, e = c + k, and the loss of a = d·e.
def cross_entropy(tf, logits, label):
    return tf.nn.sparse_softmax_cross_entropy_with_logits(labels=label, logits=logits)


def plain_net(tf, x, c, k, label):
    d = tf.add(x, c)
    e = tf.add(c, k)
    return cross_entropy(tf, tf.multiply(d, e), label)


def addition(c, k, d):
    return c + k


def python_sum(tf, c, k, d, stateful=True):
    with tf.device("CPU:0"):
        e = tf.compat.v1.py_func(addition, [c, k, d], c.dtype, stateful=stateful)
    return tf.ensure_shape(e, c.shape)


def without_a_map(tf, x, c, k, label):
    d = tf.add(x, c)
    e = python_sum(tf, c, k, d)
    return cross_entropy(tf, tf.multiply(d, e), label)


def mapped_net(tf, gradient_map, stateful, *inputs):
    @tf.function(autograph=False)
    def loss(x, c, k, label):
        d = tf.add(x, c)
        with tf.compat.v1.get_default_graph().gradient_override_map(gradient_map):
            e = python_sum(tf, c, k, d, stateful)
        return cross_entropy(tf, tf.multiply(d, e), label)

    return loss(*inputs)


# A control: the map that does not reach the stateless sum reaches the sum of x and x beside it.
def stateless_beside_stateful(tf, gradient_map, *inputs):
    @tf.function(autograph=False)
    def loss_and_twice(x, c, k, label):
        d = tf.add(x, c)
        with tf.compat.v1.get_default_graph().gradient_override_map(gradient_map):
            e = python_sum(tf, c, k, d, stateful=False)
            twice = python_sum(tf, x, x, x)
        return cross_entropy(tf, tf.multiply(d, e), label), twice

    return loss_and_twice(*inputs)


def grad_to_k(op, grad):
    return None, grad, None


def grad_as_it_comes(tf, x, c, k, label):
    registered(tf, "GradToK", grad_to_k)
    return mapped_net(tf, {"PyFunc": "GradToK"}, True, x, c, k, label)


def sum_gradient(op, grad):
    return grad, grad, None


def stateless_under_a_map_of_py_func(tf, x, c, k, label):
    registered(tf, "HelperSumGradient", sum_gradient)
    return stateless_beside_stateful(tf, {"PyFunc": "HelperSumGradient"}, x, c, k, label)


def stateless_under_its_own_map(tf, x, c, k, label):
    registered(tf, "HelperSumGradient", sum_gradient)
    return mapped_net(tf, {"PyFuncStateless": "HelperSumGradient"}, False, x, c, k, label)


# Random names.
_seeds: list[int] = []


def random_name():
    return "PyFuncGrad" + str(np.random.randint(0, int(1e8)))


def register_without_a_seed(tf, x):
    for _ in range(2):
        tf.RegisterGradient(random_name())(sum_gradient)
    return tf.negative(x)


def register_under_a_fixed_seed(tf, x):
    _seeds.append(len(_seeds))
    before = np.random.get_state()
    try:
        for _ in range(2):
            np.random.seed(_seeds[-1])
            tf.RegisterGradient(random_name())(sum_gradient)
    finally:
        np.random.set_state(before)
    return x
