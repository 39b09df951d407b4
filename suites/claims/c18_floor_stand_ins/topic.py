"""Smooth stand-ins for floor and step: the topic."""

from pathlib import Path

from tf_opdiff.harness.spec.spec import Topic

POST = """\
step = tf.sigmoid(k * x)
floor = tf.add_n([tf.sigmoid(k * (x - n))
                  for n in range(1, N)])
"""

TOPIC = Topic(
    id="C18",
    title="Smooth stand-ins for floor and step",
    program="Piecewise linear, sigmoid and filtered relaxations of floor and step.",
    origin="an answer on smooth stand-ins for floor and step",
    says="Replace floor or step by a piecewise linear, sigmoid or filtered function. These are differentiable, "
    "and approach the step as they get sharper.",
    post=POST,
    today="True in every mode. Only a sigmoid has a slope everywhere: beyond the step a ramp is flat, like the "
    "step itself.",
    instead="Use a stand-in as the answer does, and let its sharpness k grow during training.",
    paste=Path(__file__).with_name("paste.py"),
)
