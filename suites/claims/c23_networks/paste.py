"""Two networks trained in turn, in one program: a tape for each step, and each step moves its own network."""

import tensorflow as tf

discriminator, generator = tf.Variable(1.0), tf.Variable(2.0)


@tf.function
def train_step():
    with tf.GradientTape() as tape:
        loss = discriminator * generator
    discriminator.assign_sub(0.25 * tape.gradient(loss, discriminator))
    with tf.GradientTape() as tape:
        loss = -discriminator * generator
    generator.assign_sub(0.25 * tape.gradient(loss, generator))


for _ in range(2):
    train_step()
    print("discriminator:", discriminator.numpy(), "generator:", generator.numpy())

# Prints:
# discriminator: 0.5 generator: 2.125
# discriminator: -0.03125 generator: 2.1171875
