"""Layers that look up, hash and cross categories; XLA has no kernels of texts and tables."""

import numpy as np

from tf_opdiff.harness.spec.plan import WITHOUT_XLA, without_modes
from tf_opdiff.harness.spec.spec import Spec
from tf_opdiff.suites.forms.programs.api import Call, calls
from tf_opdiff.suites.reference.keras.fingerprints import crossed, fingerprint

#: The categories that have numbers of their own, in the order of these.
_VOCABULARY = (3, 1, 2)


def _found(x, first):
    """The places in the vocabulary, from `first` on; others have the number before."""
    return np.select([x == word for word in _VOCABULARY], [first, first + 1, first + 2], first - 1)


def _tables(tf, x):
    return {
        "_numbers": tf.keras.layers.IntegerLookup(vocabulary=[3, 1, 2]),
        "_words": tf.keras.layers.StringLookup(vocabulary=["3", "1", "2"]),
        "_texts": tf.keras.layers.TextVectorization(vocabulary=["3", "1", "2"]),
    }


def _looked_up(tf, state, x):
    words = tf.strings.as_string(x)
    texts = tf.strings.reduce_join(words, axis=1, separator=" ")
    return state["_numbers"](x), state["_words"](words), state["_texts"](texts)


def _codes(draw, dtype):
    """A recipe: numbers of one digit."""
    return (draw.integers(3, 5, low=0, high=5).astype(dtype),)


def _layer(name, program, reference, **fields):
    return Call(name=f"keras.layers.{name}", program=program, reference=reference, **fields)


SPECS = (
    *calls(
        "api-keras-hashing",
        _layer(
            "Hashing",
            lambda tf, x: tf.keras.layers.Hashing(7)(x),
            lambda x: np.array([fingerprint(str(n).encode()) % 7 for n in x.flat]).reshape(x.shape),
        ),
        _layer(
            "HashedCrossing",
            lambda tf, x: tf.keras.layers.HashedCrossing(1009)([x[:, 0], x[:, 1]]),
            lambda x: np.array([crossed([int(a), int(b)], 1009) for a, b in x[:, :2]]),
        ),
        recipes={"codes": lambda draw, dtype: (draw.integers(3, 5, low=-99, high=1000).astype(dtype),)},
        dtypes=("int64",),
        modes=WITHOUT_XLA,
        tier="full",
    ),
    Spec(
        name="api-keras-lookup",
        program=_looked_up,
        state=_tables,
        reference=lambda x: (_found(x, 1), _found(x, 1), _found(x, 2)),
        recipes={"codes": _codes},
        ops="",
        evidence="called:keras.layers.IntegerLookup;called:keras.layers.StringLookup;called:keras.layers.TextVectorization",
        dtypes=("int64",),
        modes=without_modes("xla", "graph"),  # nothing initializes the tables in a v1 graph
        tier="full",
    ),
    *calls(
        "api-keras-boxes",
        _layer(
            "MaxNumBoundingBoxes",
            lambda tf, x: tf.keras.layers.MaxNumBoundingBoxes(4, bounding_box_format="xyxy")(
                {"images": tf.zeros([2, 3, 3, 1]), "bounding_boxes": {"boxes": x, "labels": x[..., 0]}}
            )["bounding_boxes"]["boxes"],
            lambda x: np.pad(x, ((0, 0), (0, 1), (0, 0)), constant_values=-1),
        ),
        recipes={"boxes": lambda draw, dtype: (draw.uniform(2, 3, 4, low=0, high=9).astype(dtype),)},
        tier="full",
    ),
)
