"""gather out of range: the topic."""

from pathlib import Path

from tf_opdiff.harness.spec.spec import Topic

POST = """\
tf.gather([1, 2, 3, 4, 5], [0, 1, 6])
# CPU: InvalidArgumentError: indices[2] = 6
#      is not in [0, 5) [Op:GatherV2]
# GPU: [1, 2, 0]
"""

TOPIC = Topic(
    id="C26",
    title="gather out of range",
    program="gather([1, 2, 3, 4, 5], [0, 1, 6]).",
    origin="course slides on TensorFlow 1.x: gather on CPU and GPU",
    link="https://www.tensorflow.org/api_docs/python/tf/gather",
    says="gather([1, 2, 3, 4, 5], [0, 1, 6]) gives [1, 2, 0] on a GPU. On a CPU it is an InvalidArgumentError, "
    "which names index 2 and the range [0, 5).",
    post=POST,
    today="On a CPU it is that error, except under XLA, which clamps the index and gives [1, 2, 5]. The suffix "
    "[Op:GatherV2] comes in eager mode only. An NVIDIA H200 gives [1, 2, 0], and [1, 2, 5] under XLA.",
    instead="Check the indices in the program, so that every device gives the same.",
    paste=Path(__file__).with_name("paste.py"),
)
