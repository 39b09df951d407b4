"""TensorFlow ops inside a Python function: the topic."""

from pathlib import Path

from tf_opdiff.harness.spec.spec import Topic

POST = """\
def my_func(x):      # gets NumPy arrays
    return tf.square(x)  # "does not work"

y = tf.py_func(my_func, [x], tf.float32)
"""

TOPIC = Topic(
    id="C02",
    title="TensorFlow ops inside a Python function",
    program="TensorFlow ops inside the Python function that is handed to py_func.",
    origin="a post on overriding back-propagation in TensorFlow",
    says="Do not use TensorFlow ops inside the Python function that is handed to py_func: it fails. Write the "
    "function with NumPy, and its gradient with TensorFlow ops, one for each variable that is passed. py_func is not "
    "serialised.",
    post=POST,
    today="It does not fail any more: the function runs eagerly, so its ops give values. It fails only where it "
    "touches a tensor of the surrounding graph or adds to a graph. But no gradient goes through py_func: it "
    "is None. The rest is true: NumPy in a gradient of one's own is an error, and so are two gradients for three "
    "inputs; a graph that is exported does not hold the function, so another process does not find it.",
    instead="Use tf.py_function, which runs TensorFlow ops and lets the gradient through. Hand every tensor that "
    "the function needs to it as an argument.",
    paste=Path(__file__).with_name("paste.py"),
)
