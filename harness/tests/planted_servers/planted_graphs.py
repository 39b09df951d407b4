"""A program that counts the graphs of its earlier dtypes that the device server still holds."""

import weakref

import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import plain
from tf_opdiff.harness.spec.spec import Spec

_graphs = weakref.WeakKeyDictionary()


def _counts_others(tf, x):
    """Floor, and one more for each graph of another dtype that still exists; each graph refers to itself."""
    graph = tf.compat.v1.get_default_graph()
    graph.itself, _graphs[graph] = graph, x.dtype.name
    others = [dtype for dtype in _graphs.values() if dtype != x.dtype.name]
    return tf.floor(x) + len(others)


SPECS = (
    Spec(
        name="counts-graphs",
        program=_counts_others,
        reference=np.floor,
        recipes={"plain": plain},
        dtypes=("float32", "float64", "float16"),
        modes=("function", "graph"),
        ops="Floor",
    ),
)
