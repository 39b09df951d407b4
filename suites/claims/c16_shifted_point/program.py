"""Estimates of the norm of a Hessian from gradients at two points."""


def f(tf, a):
    return tf.reduce_sum(a * a * a)


def gradient_of_f(tf, a):
    with tf.GradientTape() as tape:
        tape.watch(a)
        b = f(tf, a)
    return tape.gradient(b, a)


def gradient_at_sum(tf, a, delta):
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(a)
        b = f(tf, a)
        shifted = a + delta
    before = tape.gradient(b, a)
    after = tape.gradient(b, shifted)
    return tf.norm(after - before) / tf.norm(delta)


def gradients_at_sum(tf, a, delta):
    b = f(tf, a)
    before = tf.gradients(b, a)[0]
    after = tf.gradients(b, a + delta)[0]
    return tf.norm(after - before) / tf.norm(delta)


def rebuilt(tf, a, delta):
    before = gradient_of_f(tf, a)
    after = gradient_of_f(tf, a + delta)
    return tf.norm(after - before) / tf.norm(delta)


def moved(tf, session, a, delta):
    with session() as s:
        point = tf.compat.v1.get_variable("point", initializer=a)
        gradient = tf.gradients(f(tf, point), point)[0]
        s.run(tf.compat.v1.global_variables_initializer())
        before = s.run(gradient)
        s.run(point.assign_add(delta))
        after = s.run(gradient)
        return s.run(tf.norm(after - before) / tf.norm(delta))


def hessian_norm(tf, a, delta):
    with tf.GradientTape() as tape:
        tape.watch(a)
        gradient = gradient_of_f(tf, a)
    return tf.norm(tape.jacobian(gradient, a))


def point(tf, a, delta):
    return {"point": tf.Variable(a)}


def moved_in_order(tf, state, a, delta):
    before = gradient_of_f(tf, state["point"])
    state["point"].assign_add(delta)
    after = gradient_of_f(tf, state["point"])
    return tf.norm(after - before) / tf.norm(delta)
