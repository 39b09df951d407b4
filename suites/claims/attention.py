"""A feature map that is attended to by a Bernoulli sample: C03."""

import numpy as np

from tf_opdiff.harness.spec.recipes import FLOATS, SIZE
from tf_opdiff.harness.spec.spec import Claim, Side, Spec
from tf_opdiff.suites.claims import topics
from tf_opdiff.suites.claims.subjects import CUSTOM_GRADIENT, mapped

TAPE = "a tape records an op by its type and never sees the mark that the map left on the node"
TAPE_LINK = "https://github.com/tensorflow/tensorflow/issues/36870"
TAPED = ("*/eager", "*/function", "*/xla")


def attend(tf, p, u, features):
    sample = tf.cast(u < p, features.dtype)
    return sample * features


def attend_at_random(tf, p, features):
    sample = tf.cast(tf.random.uniform(p.shape, dtype=p.dtype) < p, features.dtype)
    return sample * features


def attend_with_gradient(tf, p, u, features):
    @tf.custom_gradient
    def bernoulli(p):
        return tf.cast(u < p, p.dtype), lambda g: g

    return bernoulli(p) * features


def attend_at_random_with_gradient(tf, p, features):
    @tf.custom_gradient
    def bernoulli(p):
        return tf.cast(tf.random.uniform(p.shape, dtype=p.dtype) < p, p.dtype), lambda g: g

    return bernoulli(p) * features


def attend_by_map(tf, p, u, features):
    with tf.compat.v1.get_default_graph().gradient_override_map({"Floor": "Identity"}):
        sample = tf.floor(p + tf.stop_gradient(u))
    return sample * features


def attend_by_called_map(tf, p, u, features):
    @tf.function(autograph=False)
    def attended(p, u, features):
        return attend_by_map(tf, p, u, features)

    return attended(p, u, features)


def _attended(p, u, features):
    return (u < p) * features


def _flowing(g, p, u, features):
    return g * features, None, g * (u < p)


def _stopped(g, p, u, features):
    return None, None, g * (u < p)


def _attended_from_below(p, u, features):
    """With floor, the sample is 1 where u ≥ 1 - p."""
    return np.floor(p + u) * features


def _flowing_from_below(g, p, u, features):
    return g * features, None, g * np.floor(p + u)


def _drawn(draw, dtype):
    """Probabilities and a uniform number in sixty-fourths, so that sums are exact; and features."""
    p, u = (draw.integers(SIZE, low=0, high=n) / 64 for n in (65, 64))
    p[:2] = 0, 1
    return p.astype(dtype), u.astype(dtype), draw.values(dtype, SIZE)


def _certain(draw, dtype):
    """Probabilities of 0 and 1, and features: what is drawn does not matter then."""
    return draw.booleans(SIZE).astype(dtype), draw.values(dtype, SIZE)


DRAWN = {"drawn": _drawn}
CERTAIN = {"certain": _certain}

SPECS = (
    Spec(
        name="claim-c03-sample",
        program=attend,
        reference=_attended,
        vjp=_stopped,
        recipes=DRAWN,
        ops="Less;Mul",
        dtypes=FLOATS,
        claims=(
            Claim(
                topic=topics.C03,
                letter="a",
                says="A sample stops the gradient: none reaches the probability.",
                about=("grad[0]",),
            ),
        ),
    ),
    Spec(
        name="claim-c03-random-sample",
        program=attend_at_random,
        reference=lambda p, features: p * features,
        vjp=lambda g, p, features: (None, g * p),
        recipes=CERTAIN,
        ops="RandomUniform;Less;Mul",
        claims=(
            Claim(
                topic=topics.C03,
                letter="b",
                says="So it is with numbers that TensorFlow draws.",
                about=("grad[0]",),
            ),
        ),
    ),
    Spec(
        name="claim-c03-custom-gradient",
        program=attend_with_gradient,
        reference=_attended,
        vjp=_flowing,
        ulp={"grad": 0.5},
        recipes=DRAWN,
        ops="Less;Mul",
        evidence=CUSTOM_GRADIENT,
        dtypes=FLOATS,
        claims=(
            Claim(
                topic=topics.C03,
                letter="c",
                says="With an override it flows: the gradient of the probability is the upstream times the features.",
                about=("grad[0]",),
            ),
        ),
    ),
    Spec(
        name="claim-c03-random-custom-gradient",
        program=attend_at_random_with_gradient,
        reference=lambda p, features: p * features,
        vjp=lambda g, p, features: (g * features, g * p),
        ulp={"grad": 0.5},
        recipes=CERTAIN,
        ops="RandomUniform;Less;Mul",
        evidence=CUSTOM_GRADIENT,
        claims=(
            Claim(
                topic=topics.C03,
                letter="d",
                says="It flows with numbers that TensorFlow draws, too.",
                about=("grad[0]",),
            ),
        ),
    ),
    Spec(
        name="claim-c03-map",
        program=attend_by_map,
        reference=_attended_from_below,
        vjp=_flowing_from_below,
        ulp={"grad": 0.5},
        recipes=DRAWN,
        ops="Floor;Mul",
        evidence=mapped("Floor", "Identity"),
        dtypes=FLOATS,
        contract=dict.fromkeys(
            TAPED,
            Side(
                reference=_attended_from_below,
                vjp=lambda g, p, u, features: (None, None, g * np.floor(p + u)),
                why=TAPE,
                link=TAPE_LINK,
            ),
        ),
        claims=(
            Claim(
                topic=topics.C03,
                letter="e",
                says='The map {"Floor": "Identity"} around floor(p + u) does the same.',
                about=("grad[0]",),
                refuted=dict.fromkeys(TAPED, f"{TAPE}: floor keeps its own gradient, which is None"),
                instead="claim-c03-custom-gradient",
            ),
        ),
    ),
    Spec(
        name="claim-c03-map-called",
        program=attend_by_called_map,
        reference=_attended_from_below,
        vjp=_flowing_from_below,
        ulp={"grad": 0.5},
        recipes=DRAWN,
        ops="Floor;Mul",
        evidence="called:function;replaced:Floor=Identity",
        claims=(
            Claim(
                topic=topics.C03,
                letter="f",
                says="The map does so wherever what is differentiated is a graph, as a call of a tf.function is.",
                about=("grad[0]",),
            ),
        ),
    ),
)
