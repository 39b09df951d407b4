"""Functions and variables with the values of those that programs of claims are about, made in another way."""


def loaded_by_assign(tf):
    """Variables whose load is an assignment in their graph."""

    def loading(variable):
        def load(value, session):
            with variable.graph.as_default():
                session.run(variable.assign(value))

        variable.load = load
        return variable

    v1 = tf.compat.v1
    return {
        "compat.v1.get_variable": lambda *args, **more: loading(v1.get_variable(*args, **more)),
        "compat.v1.Variable": lambda *args, **more: loading(v1.Variable(*args, **more)),
        "compat.v1.global_variables": lambda: list(map(loading, v1.global_variables())),
    }


def flip(tf):
    """Flips by the numbers that random_flip_left_right draws."""

    def random_flip_left_right(images, seed):
        if len(images.shape) == 3:
            return tf.where(tf.random.uniform([], seed=seed) < 0.5, tf.reverse(images, [1]), images)
        flips = tf.round(tf.random.uniform([images.shape[0]], seed=seed))
        return tf.where(tf.reshape(flips, [-1, 1, 1, 1]) > 0, tf.reverse(images, [2]), images)

    return {"image.random_flip_left_right": random_flip_left_right}
