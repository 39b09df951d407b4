"""The gradient of floor: the topic."""

from pathlib import Path

from tf_opdiff.harness.spec.spec import Topic

POST = """\
def CustomFloor(x):
    return py_func(np.floor, [x], [tf.float32],
                   grad=_FloorGrad)  # a list

y = CustomFloor(x)
tf.test.compute_gradient_error(x, shape, y, shape)
"""

TOPIC = Topic(
    id="C17",
    title="The gradient of floor",
    program="floor(x), the detour x − (x − floor(x)), and an override that returns the upstream; each checked with "
    "the framework's numeric gradient error.",
    origin="an answer on the gradient of floor",
    says="The gradient of floor is None. The detour x − (x − floor(x)) does not help. An override returns the "
    "upstream. The framework's numeric check reports errors of about 500, 0 or 1, whatever one does.",
    post=POST,
    today="The gradient of floor is None in every mode, and the detour stops the upstream; its gradient is 0, not "
    "None. The override works in a v1 graph, and elsewhere inside a called function, or inside a branch or a loop "
    "body of a graph. The numeric check refuses CustomFloor as it is printed, which returns a list. It reports 500 "
    "for the detour and 499 for the override at integers; for floor itself it raises an error.",
    instead="Use tf.grad_pass_through(tf.floor). Do not check a gradient that is not a derivative against numeric "
    "differences.",
    paste=Path(__file__).with_name("paste.py"),
)
