"""Frozen weights under Adam: put the frozen ones back after each step, whatever the optimizer remembers."""

import tensorflow as tf

w = tf.Variable([1.0, 1.0, 1.0, 1.0])
adam = tf.keras.optimizers.Adam(0.125)
masks = [[False, True, True, False], [False, True, True, False], [True, False, False, True]]
for mask in tf.constant(masks):
    before = w.numpy()
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.square(w))
    adam.apply_gradients([(tape.gradient(loss, w), w)])
    w.assign(tf.where(mask, w, before))
    print("moved:", w.numpy() != before)

# Prints:
# moved: [False  True  True False]
# moved: [False  True  True False]
# moved: [ True False False  True]
