"""Attention by a Bernoulli sample: the topic."""

from pathlib import Path

from tf_opdiff.harness.spec.spec import Topic

POST = """\
def bernoulli_grad(op, grad):
    return features * grad

# The map is around the sample alone, as here, or
# around its product with the features: not known.
with g.gradient_override_map(
        {"PyFunc": "BernoulliGrad"}):
    sample = tf.py_func(bernoulli, [p], tf.float32)
attended = sample * features
"""

TOPIC = Topic(
    id="C03",
    title="Attention by a Bernoulli sample",
    program="Forward, a Bernoulli sample times a feature map; backward, the upstream times the feature map.",
    origin="a post on overriding back-propagation in TensorFlow, after a paper on clothing retrieval, arXiv 1710.11446",
    link="https://medium.com/datadriveninvestor/override-tensorflow-backward-propagation-1a7e2bb3f516",
    says="Multiply a feature map by a Bernoulli sample in the forward pass. A sample has no gradient; override it, so "
    "that in the backward pass the upstream times the feature map reaches the probability.",
    restated="The half of the post that is about this",
    post=POST,
    today="A sample stops the gradient, and an override lets it flow. The post's gradient function, features · grad, "
    "has the stated value only around the sample and its product; around the sample alone, it multiplies by the "
    "features twice. An override by a map works in a v1 graph and inside a called tf.function, or inside a branch or "
    "a loop body of a graph; tf.custom_gradient works in every mode. XLA has no kernel for py_func.",
    instead="Put the sample and the product into a tf.custom_gradient, and return the upstream times the features for "
    "the probability.",
    paste=Path(__file__).with_name("paste.py"),
)
