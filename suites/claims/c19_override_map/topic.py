"""What an override map means: the topic."""

from pathlib import Path

from tf_opdiff.harness.spec.spec import Topic

POST = """\
@tf.RegisterGradient("CustomGrad")
def _const_mul_grad(op, grad):
    return 5.0 * grad

with g.gradient_override_map(
        {"Identity": "CustomGrad"}):
    output = tf.identity(input, name="Identity")
"""

TOPIC = Topic(
    id="C19",
    title="What an override map means",
    program='{"Floor": "Identity"} around ops other than Floor, and {"Identity": "CustomGrad"}, giving 5·g, around '
    'tf.identity with and without name="Identity".',
    origin="an answer on override maps",
    says='A map {"Floor": "Identity"} replaces the backward rule of every op of type Floor made inside the context. '
    'It keeps the forward pass and leaves other ops alone. The argument name="Identity" may be needed for '
    "tf.identity.",
    post=POST,
    today="True in a v1 graph; the name does not matter there. In eager mode, in tf.function and under XLA a tape "
    "does not see the map, unless the map is inside a called function, or inside a branch or a loop body of a graph.",
    instead="Use tf.custom_gradient around the ops whose backward rule shall change.",
    paste=Path(__file__).with_name("paste.py"),
)
