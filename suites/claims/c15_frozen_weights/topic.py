"""Frozen weights and optimisers: the topic."""

from pathlib import Path

from tf_opdiff.harness.spec.spec import Topic

POST = """\
W_masked = (M * W
            + tf.stop_gradient(tf.abs(1 - M) * W))
optimizer = tf.train.AdamOptimizer(1e-5)
gradients = optimizer.compute_gradients(loss, W)
sess.run(tf.global_variables_initializer())
for mask in masks:
    sess.run(optimizer.apply_gradients(gradients),
             {M: mask})
"""

TOPIC = Topic(
    id="C15",
    title="Frozen weights and Adam",
    program="Weights masked by M·W + stop_gradient(|1−M|·W), the mask changed between steps.",
    origin="answers on freezing part of a variable",
    says="Mask the weights by M·W + stop_gradient(|1−M|·W) and change the mask between steps. The gradients of masked "
    "weights are 0, and plain SGD leaves them fixed. Adam still moves those that were updated before; zero their "
    "slots m and v to stop it. With the slots restored, training resumes as if they had never been frozen.",
    post=POST,
    today="The answer's program fails as it is printed: apply_gradients makes Adam's variables in the loop, after the "
    "initializer has run. With apply_gradients before the loop, the answer is true in every mode but for the last "
    "sentence: Adam's bias correction counts the frozen steps, too. Momentum, like Adam, moves masked weights, and "
    "Ftrl makes them 0.",
    instead="Put the frozen weights back after each step; this works with every optimizer. For training that resumes "
    "exactly, give each group of weights an optimizer of its own.",
    paste=Path(__file__).with_name("paste.py"),
)
