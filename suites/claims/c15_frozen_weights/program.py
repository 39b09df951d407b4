"""Masked weights trained by the optimisers of Keras, and by an Adam that counts the steps of each weight."""


# The mask.
def masked(tf, weights, mask):
    return mask * weights + tf.stop_gradient(tf.abs(1 - mask) * weights)


def error(tf, weights, x, y):
    return tf.reduce_mean(tf.square(tf.linalg.matvec(x, weights) - y))


# With a tape.
def with_sgd(tf, weights, masks, x, y):
    w = tf.Variable(weights)
    sgd = tf.keras.optimizers.SGD(0.125)
    sgd.build([w])
    return {"w": w, "_optimizer": sgd}


def with_momentum(tf, weights, masks, x, y):
    w = tf.Variable(weights)
    momentum = tf.keras.optimizers.SGD(0.125, momentum=0.75)
    momentum.build([w])
    return {"w": w, "_optimizer": momentum}


def with_adam(tf, weights, masks, x, y):
    w = tf.Variable(weights)
    adam = tf.keras.optimizers.Adam(0.125, beta_1=0.75, beta_2=0.875, epsilon=2**-10)
    adam.build([w])
    return {"w": w, "_optimizer": adam}


def train_step(tf, state, mask, x, y):
    w, optimizer = state["w"], state["_optimizer"]
    with tf.GradientTape() as tape:
        loss = error(tf, masked(tf, w, mask), x, y)
    optimizer.apply(tape.gradient(loss, [w]), [w])


def train_steps(tf, state, masks, x, y, zeroed=()):
    w, trajectory, moved = state["w"], [], []
    for mask in tf.unstack(masks):
        before = w.read_value()
        for slot in zeroed:
            slot.assign(slot * mask)
        train_step(tf, state, mask, x, y)
        trajectory.append(w.read_value())
        moved.append(trajectory[-1] != before)
    return tf.stack(trajectory), tf.stack(moved)


def train_masked(tf, state, weights, masks, x, y):
    return train_steps(tf, state, masks, x, y)


def zero_slots(tf, state, weights, masks, x, y):
    *_, m, v = state["_optimizer"].variables
    return train_steps(tf, state, masks, x, y, zeroed=(m, v))


def zero_m(tf, state, weights, masks, x, y):
    *_, m, _ = state["_optimizer"].variables
    return train_steps(tf, state, masks, x, y, zeroed=(m,))


def restore_slots(tf, state, weights, masks, x, y):
    w, trajectory = state["w"], []
    *_, m, v = state["_optimizer"].variables
    kept_m, kept_v = tf.zeros_like(weights), tf.zeros_like(weights)
    for mask in tf.unstack(masks):
        m.assign(kept_m * mask)
        v.assign(kept_v * mask)
        train_step(tf, state, mask, x, y)
        kept_m = tf.where(mask > 0, m, kept_m)
        kept_v = tf.where(mask > 0, v, kept_v)
        trajectory.append(w.read_value())
    return tf.stack(trajectory)


def two_variables(tf, first, second, x, y):
    a, b = tf.Variable(first), tf.Variable(second)
    adam = tf.keras.optimizers.Adam(0.125, beta_1=0.75, beta_2=0.875, epsilon=2**-10)
    adam.build([a, b])
    return {"a": a, "b": b, "_optimizer": adam}


def subset(tf, state, first, second, x, y):
    a, b, adam = state["a"], state["b"], state["_optimizer"]
    trajectory = []
    for trained in ([a, b], [a, b], [a], [a], [a, b], [a, b]):
        with tf.GradientTape() as tape:
            loss = error(tf, tf.concat([a, b], 0), x, y)
        adam.apply(tape.gradient(loss, trained), trained)
        trajectory.append((a.read_value(), b.read_value()))
    first, second = map(tf.stack, zip(*trajectory, strict=True))
    return first, second, second[1:] != second[:-1]


def two_variables_not_built(tf, first, second, x, y):
    adam = tf.keras.optimizers.Adam(0.125, beta_1=0.75, beta_2=0.875, epsilon=2**-10)
    return {"a": tf.Variable(first), "b": tf.Variable(second), "_optimizer": adam}


def later(tf, state, first, second, x, y):
    a, b, adam = state["a"], state["b"], state["_optimizer"]
    for trained in ([a], [a, b]):
        with tf.GradientTape() as tape:
            loss = error(tf, tf.concat([a, b], 0), x, y)
        adam.apply(tape.gradient(loss, trained), trained)
    return a.read_value(), b.read_value()


def two_variables_two_optimizers(tf, first, second, x, y):
    a, b = tf.Variable(first), tf.Variable(second)
    adams = [tf.keras.optimizers.Adam(0.125, beta_1=0.75, beta_2=0.875, epsilon=2**-10) for _ in range(2)]
    adams[0].build([a])
    adams[1].build([b])
    return {"a": a, "b": b, "_optimizers": adams}


def two_optimizers(tf, state, first, second, x, y):
    a, b, adams = state["a"], state["b"], state["_optimizers"]
    trajectory = []
    for trained in ([a, b], [a, b], [a], [a], [a, b], [a, b]):
        with tf.GradientTape() as tape:
            loss = error(tf, tf.concat([a, b], 0), x, y)
        for adam, variable, gradient in zip(adams, trained, tape.gradient(loss, trained), strict=False):
            adam.apply([gradient], [variable])
        trajectory.append((a.read_value(), b.read_value()))
    first, second = map(tf.stack, zip(*trajectory, strict=True))
    return first, second, second[1:] != second[:-1]


# Anywhere.
def own_adam(tf, weights, masks, x, y):
    w, trajectory = weights, []
    m = v = count = tf.zeros_like(weights)
    for mask in tf.unstack(masks):
        with tf.GradientTape() as tape:
            tape.watch(w)
            loss = error(tf, masked(tf, w, mask), x, y)
        gradient = tape.gradient(loss, w)
        count += mask
        m += mask * (gradient - m) * 0.25
        v += mask * (tf.square(gradient) - v) * 0.125
        steps = tf.maximum(count, 1)
        rate = 0.125 * tf.sqrt(1 - 0.875**steps) / (1 - 0.75**steps)
        w -= mask * rate * m / (tf.sqrt(v) + 2**-10)
        trajectory.append(w)
    return tf.stack(trajectory)
