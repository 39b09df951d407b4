"""An estimator of the Hessian's diagonal by central differences of gradients, divided element by element."""


def square_of_sum(tf, a):
    return tf.square(tf.reduce_sum(a, axis=-1))


def sum_of_cubes(tf, a):
    return tf.reduce_sum(a * a * a, axis=-1)


def gradient(tf, f, at):
    with tf.GradientTape() as tape:
        tape.watch(at)
        b = f(tf, at)
    return tape.gradient(b, at)


def central_difference(tf, f, a, delta):
    return gradient(tf, f, a + delta) - gradient(tf, f, a - delta)


def estimate(tf, a, delta):
    return tf.reduce_mean(central_difference(tf, square_of_sum, a, delta) / (2 * delta), axis=0)


def estimate_of_cubes(tf, a, delta):
    return tf.reduce_mean(central_difference(tf, sum_of_cubes, a, delta) / (2 * delta), axis=0)


# As the post prints it: parentheses around 2delta, and none around the difference.
def estimate_without_parentheses(tf, a, delta):
    above, below = gradient(tf, sum_of_cubes, a + delta), gradient(tf, sum_of_cubes, a - delta)
    return tf.reduce_mean(above - below / (2 * delta), axis=0)


def estimate_by_products(tf, a, delta):
    return tf.reduce_mean(central_difference(tf, square_of_sum, a, delta) / 2 * delta, axis=0)
