"""Two networks that are trained in turn, as in a semi-supervised GAN."""

import numpy as np


def generate(tf, noise, generator):
    return tf.tanh(noise @ generator)


def losses(tf, real, made, discriminator):
    def cross_entropy(samples, labels):
        found = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=samples @ discriminator)
        return tf.reduce_mean(found)

    of_made = cross_entropy(made, [2, 2, 2, 2])
    return cross_entropy(real, [0, 1, 0, 1, 0, 1]) + of_made, -of_made


def train_in_turn(s, train_discriminator, train_generator, weights):
    trajectory = []
    for _ in range(4):
        s.run(train_discriminator)
        s.run(train_generator)
        trajectory.append(s.run(weights))
    return [np.stack(steps) for steps in zip(*trajectory, strict=True)]


def start_in_one_graph(tf, real, noise, discriminator_start, generator_start):
    discriminator = tf.compat.v1.get_variable("discriminator", initializer=discriminator_start)
    generator = tf.compat.v1.get_variable("generator", initializer=generator_start)
    loss, generator_loss = losses(tf, real, generate(tf, noise, generator), discriminator)
    return discriminator, generator, loss, generator_loss


def train_in_one_graph(tf, session, *inputs):
    with session() as s:
        discriminator, generator, loss, generator_loss = start_in_one_graph(tf, *inputs)
        optimizer = tf.compat.v1.train.GradientDescentOptimizer(0.5)
        train_discriminator = optimizer.minimize(loss, var_list=[discriminator])
        train_generator = optimizer.minimize(generator_loss, var_list=[generator])
        s.run(tf.compat.v1.global_variables_initializer())
        return train_in_turn(s, train_discriminator, train_generator, (discriminator, generator))


def train_without_var_list(tf, session, *inputs):
    with session() as s:
        discriminator, generator, loss, generator_loss = start_in_one_graph(tf, *inputs)
        optimizer = tf.compat.v1.train.GradientDescentOptimizer(0.5)
        train_discriminator = optimizer.minimize(loss)
        train_generator = optimizer.minimize(generator_loss)
        s.run(tf.compat.v1.global_variables_initializer())
        return train_in_turn(s, train_discriminator, train_generator, (discriminator, generator))


def train_by_one_adam(tf, session, *inputs):
    with session() as s:
        discriminator, generator, loss, generator_loss = start_in_one_graph(tf, *inputs)
        adam = tf.compat.v1.train.AdamOptimizer(0.125, beta1=0.5, beta2=0.75, epsilon=0.125)
        train_discriminator = adam.minimize(loss, var_list=[discriminator])
        train_generator = adam.minimize(generator_loss, var_list=[generator])
        s.run(tf.compat.v1.global_variables_initializer())
        return train_in_turn(s, train_discriminator, train_generator, (discriminator, generator))


def train_by_an_adam_each(tf, session, *inputs):
    with session() as s:
        discriminator, generator, loss, generator_loss = start_in_one_graph(tf, *inputs)
        adam = tf.compat.v1.train.AdamOptimizer(0.125, beta1=0.5, beta2=0.75, epsilon=0.125)
        train_discriminator = adam.minimize(loss, var_list=[discriminator])
        generator_adam = tf.compat.v1.train.AdamOptimizer(0.125, beta1=0.5, beta2=0.75, epsilon=0.125)
        train_generator = generator_adam.minimize(generator_loss, var_list=[generator])
        s.run(tf.compat.v1.global_variables_initializer())
        return train_in_turn(s, train_discriminator, train_generator, (discriminator, generator))


def train_in_two_graphs(tf, session, real, noise, discriminator_start, generator_start):
    with session() as first:
        discriminator = tf.compat.v1.get_variable("discriminator", initializer=discriminator_start)
        made = tf.compat.v1.placeholder(real.dtype, [4, 2])
        loss, generator_loss = losses(tf, real, made, discriminator)
        train_discriminator = tf.compat.v1.train.GradientDescentOptimizer(0.5).minimize(loss)
        (gradient_of_made,) = tf.gradients(generator_loss, [made])
        first.run(tf.compat.v1.global_variables_initializer())
        with session() as second:
            generator = tf.compat.v1.get_variable("generator", initializer=generator_start)
            samples = generate(tf, noise, generator)
            upstream = tf.compat.v1.placeholder(real.dtype, [4, 2])
            gradients = tf.gradients([samples], [generator], grad_ys=[upstream])
            optimizer = tf.compat.v1.train.GradientDescentOptimizer(0.5)
            train_generator = optimizer.apply_gradients(zip(gradients, [generator], strict=True))
            second.run(tf.compat.v1.global_variables_initializer())
            trajectory = []
            for _ in range(4):
                arrays = second.run(samples)
                first.run(train_discriminator, {made: arrays})
                second.run(train_generator, {upstream: first.run(gradient_of_made, {made: arrays})})
                trajectory.append((first.run(discriminator), second.run(generator)))
    return [np.stack(steps) for steps in zip(*trajectory, strict=True)]


def two_networks(tf, real, noise, discriminator_start, generator_start):
    return {"discriminator": tf.Variable(discriminator_start), "generator": tf.Variable(generator_start)}


def train_in_one_program(tf, state, real, noise, discriminator_start, generator_start):
    discriminator, generator = state["discriminator"], state["generator"]
    with tf.GradientTape() as tape:
        loss, _ = losses(tf, real, generate(tf, noise, generator), discriminator)
    discriminator.assign_sub(0.5 * tape.gradient(loss, discriminator))
    with tf.GradientTape() as tape:
        _, generator_loss = losses(tf, real, generate(tf, noise, generator), discriminator)
    generator.assign_sub(0.5 * tape.gradient(generator_loss, generator))
    return discriminator.read_value(), generator.read_value()


def train_in_two_functions(tf, state, real, noise, discriminator_start, generator_start):
    discriminator, generator = state["discriminator"], state["generator"]

    @tf.function
    def train_discriminator(made):
        with tf.GradientTape() as tape:
            loss, _ = losses(tf, real, made, discriminator)
        discriminator.assign_sub(0.5 * tape.gradient(loss, discriminator))

    @tf.function
    def gradient_of_made(made):
        with tf.GradientTape() as tape:
            tape.watch(made)
            _, generator_loss = losses(tf, real, made, discriminator)
        return tape.gradient(generator_loss, made)

    @tf.function
    def train_generator(upstream):
        with tf.GradientTape() as tape:
            made = generate(tf, noise, generator)
        generator.assign_sub(0.5 * tape.gradient(made, generator, upstream))

    made = generate(tf, noise, generator)
    train_discriminator(made)
    train_generator(gradient_of_made(made))
    return discriminator.read_value(), generator.read_value()
