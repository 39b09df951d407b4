"""The numerics of Keras across backends: the topic."""

from pathlib import Path

from tf_opdiff.harness.spec.spec import Topic

POST = """\
outputs = layers.Conv2D(
    1024, kernel_size=(4, 7), padding="same",
    dilation_rate=(3, 2))(inputs)
model = Model(inputs=[inputs], outputs=outputs)
print(np.sum(np.array(model([data]))))
# backend tensorflow: 58094.56
# backend jax:        58094.523
"""

TOPIC = Topic(
    id="C27",
    title="The numerics of Keras across backends",
    program="The issue's model of one convolution, a dense layer, and functions of keras.ops, beside NumPy.",
    origin="documentation of Keras 3, and an issue about it",
    link="https://github.com/keras-team/keras/issues/20804",
    says="Numerics are identical across backends, up to 1e-7 precision in float32, per function execution.",
    post=POST,
    today="True of functions that round each element once, such as sqrt. False of convolutions and other sums of "
    "many products: each backend adds them in an order of its own, and the results differ in more digits. The "
    "documentation of Conv2D has named convolutions as the exception since; dense layers are another. For a variance, "
    "keras.ops.moments has one formula for TensorFlow and JAX, and another for NumPy and PyTorch.",
    instead="Compare with a tolerance that grows with the number of terms, or run the convolution in float64.",
    paste=Path(__file__).with_name("paste.py"),
)
