"""An estimator of the Hessian's diagonal by central differences of gradients, divided element by element."""


def square_of_sum(tf, a):
    return tf.square(tf.reduce_sum(a, axis=-1))


def sum_of_cubes(tf, a):
    return tf.reduce_sum(a * a * a, axis=-1)


def central_difference(tf, f, a, delta):
    def gradient(at):
        with tf.GradientTape() as tape:
            tape.watch(at)
            b = f(tf, at)
        return tape.gradient(b, at)

    return gradient(a + delta) - gradient(a - delta)


def estimate(tf, a, delta):
    return tf.reduce_mean(central_difference(tf, square_of_sum, a, delta) / (2 * delta), axis=0)


def estimate_of_cubes(tf, a, delta):
    return tf.reduce_mean(central_difference(tf, sum_of_cubes, a, delta) / (2 * delta), axis=0)


def estimate_without_parentheses(tf, a, delta):
    return tf.reduce_mean(central_difference(tf, square_of_sum, a, delta) / 2 * delta, axis=0)
