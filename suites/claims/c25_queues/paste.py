"""Separate datasets in place of a shared queue, a full shuffle, and a random transform of each element."""

import tensorflow as tf

examples = tf.data.Dataset.range(8)
training, validation = examples.take(6), examples.skip(6)
shuffled = training.shuffle(buffer_size=6, seed=1)


def jittered(element):
    return element, tf.random.stateless_uniform([], seed=tf.stack([element, 7]))


drawn = list(shuffled.map(jittered, num_parallel_calls=4).as_numpy_iterator())
print("training:  ", sorted(int(element) for element, _ in drawn))
print("validation:", [int(element) for element in validation.as_numpy_iterator()])
print("different random numbers:", len({float(number) for _, number in drawn}))
# Prints:
# training:   [0, 1, 2, 3, 4, 5]
# validation: [6, 7]
# different random numbers: 6
