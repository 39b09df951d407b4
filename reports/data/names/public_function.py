"""Public function: how close to every program a public function of TensorFlow is, by its place in the API.

TensorFlow exports the functions that most programs call at the top level: `tf.maximum`, not `tf.math.maximum` alone.
Networks are made of `tf.nn`, `tf.image` and layers. A function in any other room of the API, such as
`tf.math.bessel_i1` or `tf.experimental.numpy.clip`, has fewer users. Nobody has to rate single functions for this.
"""

from __future__ import annotations

from pathlib import Path

#: The rooms of the API that networks are made of.
_OF_NETWORKS = ("tf.nn", "tf.image", "tf.keras.layers", "keras.layers")
#: The rooms whose functions are the same as those of equal name at the top level.
_WITH_ALIASES = ("tf", "tf.math", "tf.linalg")
#: The names at the top level of TensorFlow 2.21.0: the imports of functions in `tensorflow/_api/v2/v2.py`.
TOP_LEVEL = frozenset(Path(__file__).with_name("top_level.txt").read_text().split())


def is_common(function: str) -> bool:
    """Whether a public function, such as `tf.math.maximum`, is at the top level of the API or for networks."""
    room, _, name = function.rpartition(".")
    return room in _OF_NETWORKS or (room in _WITH_ALIASES and name in TOP_LEVEL)
