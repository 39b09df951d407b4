"""Binarization under `gradient_override_map`, as in XNOR-Net and DoReFa-Net: C07 to C10."""

import numpy as np

from tf_opdiff.harness.spec.recipes import FLOATS, plain
from tf_opdiff.harness.spec.spec import Claim, Raises, Side, Spec
from tf_opdiff.suites.claims import topics
from tf_opdiff.suites.claims.subjects import CUSTOM_GRADIENT, mapped
from tf_opdiff.suites.reference.registered import registered

TAPED = ("*/eager", "*/function", "*/xla")
TAPE = "a tape records an op by its type and never sees the mark that the map left on the node"
TAPE_LINK = "https://github.com/tensorflow/tensorflow/issues/36870"


def _taped(reference, vjp, why=TAPE):
    """The contract of a map where a tape sees the ops themselves."""
    return dict.fromkeys(TAPED, Side(reference=reference, vjp=vjp, why=why, link=TAPE_LINK))


# C07.
def _whole(draw, dtype):
    """Small whole numbers, of which 0, 1 and 2 are some."""
    return (np.resize(np.array([-3, -2, -1, 0, 1, 2, 3, 5, 8]), 67).astype(dtype),)


def register_square(tf, x):
    @tf.RegisterGradient("Square")
    def two(op, g):
        return 2.0 * g

    return tf.square(x)


def square(tf, x):
    return tf.square(x)


def mapped_square(tf, x):
    registered(tf, "TwiceUpstream", lambda op, g: 2.0 * g)
    with tf.compat.v1.get_default_graph().gradient_override_map({"Square": "TwiceUpstream"}):
        return tf.square(x)


def own_square(tf, x):
    @tf.custom_gradient
    def square(x):
        return x * x, lambda g: 2.0 * x * g

    return square(x)


# C08 to C10.
def scaled_sign(tf, x):
    with tf.compat.v1.get_default_graph().gradient_override_map({"Sign": "Identity"}):
        return tf.sign(x) * tf.stop_gradient(tf.reduce_mean(tf.abs(x)))


def binarize_naively(tf, x):
    with tf.compat.v1.get_default_graph().gradient_override_map({"Sign": "Identity"}):
        return tf.sign(x) * tf.reduce_mean(tf.abs(x))


def binarize(tf, x):
    with tf.compat.v1.get_default_graph().gradient_override_map({"Sign": "Identity"}):
        scale = tf.stop_gradient(tf.reduce_mean(tf.abs(x)))
        return tf.sign(x / scale) * scale


def binarize_clipped(tf, x):
    registered(tf, "WithinOne", lambda op, g: tf.where(tf.abs(op.inputs[0]) <= 1, g, tf.zeros_like(g)))
    with tf.compat.v1.get_default_graph().gradient_override_map({"Sign": "WithinOne"}):
        scale = tf.stop_gradient(tf.reduce_mean(tf.abs(x)))
        return tf.sign(x / scale) * scale


def binarize_everywhere(tf, x):
    @tf.custom_gradient
    def straight_through(x):
        return tf.sign(x) * tf.reduce_mean(tf.abs(x)), lambda g: tf.identity(g)

    return straight_through(x)


def clipped_everywhere(tf, x):
    @tf.custom_gradient
    def clipped(x):
        scale = tf.reduce_mean(tf.abs(x))
        return tf.sign(x) * scale, lambda g: tf.where(tf.abs(x / scale) <= 1, g, tf.zeros_like(g))

    return clipped(x)


def _scale(x):
    return np.mean(np.abs(x))


def _binarized(x):
    return np.sign(x) * _scale(x)


def _by_mean(g, x):
    """What the mean contributes to the gradient."""
    return np.sum(g * np.sign(x)) * np.sign(x) / x.size


def _few(draw, dtype):
    """A few numbers: the mean's part of the gradient is then a large one."""
    return (draw.values(dtype, 9),)


def _zeros(draw, dtype):
    return (np.zeros(5, dtype),)


#: A sum of n numbers in any order, and two operations more.
MEAN = {"output": lambda u, g, x: (x.size + 2) * u * _scale(x)}
NAIVE = {"grad": lambda u, g, x: (x.size + 6) * u * (np.abs(g) * _scale(x) + np.sum(np.abs(g)) / x.size)}

#: True in a v1 graph only, and there of nothing but the ops that the map replaced.
TWICE = "2·g is the gradient of x²."

SPECS = (
    Spec(
        name="claim-c07-register-square",
        program=register_square,
        reference=lambda x: Raises("KeyError", "Registering two gradient with name 'Square'!"),
        vjp=lambda g, x: 2 * x * g,
        recipes={"whole": _whole},
        ops="",
        evidence="called:RegisterGradient",
        claims=(
            Claim(
                topic=topics.C07,
                letter="a",
                says="Registering a gradient for Square is how y = x² gets its gradient.",
                about=("output",),
                reference=np.square,
                refuted={"*/*": "Square has a gradient since TensorFlow was built, and a second one is a KeyError"},
                instead="claim-c07-own-square",
            ),
        ),
    ),
    Spec(
        name="claim-c07-mapped-square",
        program=mapped_square,
        reference=np.square,
        vjp=lambda g, x: 2 * g,
        ulp={"grad": 0.5},
        recipes={"whole": _whole},
        ops="Square",
        evidence=mapped("Square", "TwiceUpstream"),
        dtypes=FLOATS,
        contract=_taped(np.square, lambda g, x: 2 * x * g),
        claims=(
            Claim(
                topic=topics.C07,
                letter="b",
                says=TWICE,
                about=("grad",),
                refuted=dict.fromkeys(TAPED, f"{TAPE}: square keeps its own gradient, 2·x·g"),
                instead="claim-c07-own-square",
            ),
        ),
    ),
    Spec(
        name="claim-c07-square",
        program=square,
        reference=np.square,
        vjp=lambda g, x: 2 * x * g,
        ulp={"grad": 0.5},
        recipes={"whole": _whole},
        ops="Square",
        dtypes=FLOATS,
        claims=(
            Claim(
                topic=topics.C07,
                letter="b",
                says=TWICE,
                about=("grad",),
                vjp=lambda g, x: 2 * g,
                refuted={"*/*": "d(x²)/dx = 2·x: the chain rule gives 2·x·g, and 2·g leaves out x"},
                instead="claim-c07-own-square",
            ),
        ),
    ),
    Spec(
        name="claim-c07-own-square",
        program=own_square,
        reference=np.square,
        vjp=lambda g, x: 2 * x * g,
        ulp={"grad": 0.5},
        recipes={"whole": _whole},
        ops="Mul",
        evidence=CUSTOM_GRADIENT,
        dtypes=FLOATS,
    ),
    Spec(
        name="claim-c08-scaled-sign",
        program=scaled_sign,
        reference=_binarized,
        vjp=lambda g, x: g * _scale(x),
        bound=MEAN | {"grad": lambda u, g, x: (x.size + 2) * u * np.abs(g) * _scale(x)},
        recipes={"few": _few},
        ops="Sign;Mean",
        evidence=mapped("Sign", "Identity", "built:StopGradient"),
        dtypes=FLOATS,
        contract=_taped(_binarized, lambda g, x: np.zeros_like(x)),
        claims=(
            Claim(
                topic=topics.C08,
                letter="a",
                says="The backward pass is still scaled by the mean.",
                about=("grad",),
                refuted=dict.fromkeys(TAPED, f"{TAPE}: sign keeps its own gradient, which is 0"),
                instead="claim-c08-binarize-everywhere",
            ),
        ),
    ),
    Spec(
        name="claim-c08-binarize-naive",
        program=binarize_naively,
        reference=_binarized,
        vjp=lambda g, x: g * _scale(x) + _by_mean(g, x),
        bound=MEAN | NAIVE,
        recipes={"few": _few},
        ops="Sign;Mean",
        evidence=mapped("Sign", "Identity"),
        dtypes=FLOATS,
        contract=_taped(_binarized, lambda g, x: _by_mean(g, x)),
        claims=(
            Claim(
                topic=topics.C08,
                letter="b",
                says="The mean contributes a gradient of its own.",
                about=("grad",),
                vjp=lambda g, x: g * _scale(x),
                denies=True,
                instead="claim-c08-binarize-everywhere",
            ),
        ),
    ),
    Spec(
        name="claim-c08-binarize-everywhere",
        program=binarize_everywhere,
        reference=_binarized,
        vjp=lambda g, x: g,
        bound=MEAN,
        recipes={"few": _few},
        ops="Sign;Mean",
        evidence=CUSTOM_GRADIENT,
        dtypes=FLOATS,
    ),
    Spec(
        name="claim-c09-binarize",
        program=binarize,
        reference=_binarized,
        vjp=lambda g, x: g,
        ulp={"grad": 1},
        bound=MEAN,
        recipes={"plain": plain},
        ops="Sign;Mean",
        evidence=mapped("Sign", "Identity", "built:StopGradient"),
        dtypes=("float32", "float64"),
        contract=_taped(_binarized, lambda g, x: np.zeros_like(x)),
        tier="smoke",
        claims=(
            Claim(
                topic=topics.C09,
                letter="a",
                says="The forward pass is unchanged: it is sign(x) times the mean.",
                about=("output",),
            ),
            Claim(
                topic=topics.C09,
                letter="b",
                says="The gradient is the upstream, to rounding.",
                about=("grad",),
                refuted=dict.fromkeys(TAPED, f"{TAPE}: sign keeps its own gradient, which is 0"),
                instead="claim-c08-binarize-everywhere",
            ),
            Claim(
                topic=topics.C09,
                letter="c",
                says="The gradient is exactly the upstream.",
                about=("grad",),
                ulp={},
                refuted=dict.fromkeys(TAPED, f"{TAPE}: sign keeps its own gradient, which is 0")
                | {"*/graph": "it is (g·E)/E, rounded twice: E does not cancel to the last bit"},
                instead="claim-c08-binarize-everywhere",
            ),
        ),
    ),
    Spec(
        name="claim-c09-zeros",
        program=binarize,
        reference=lambda x: np.full_like(x, np.nan),
        recipes={"zeros": _zeros},
        ops="Sign;Mean",
        evidence=mapped("Sign", "Identity", "built:StopGradient"),
        dtypes=FLOATS,
        claims=(
            Claim(
                topic=topics.C09,
                letter="d",
                says="The forward pass is unchanged where all of x is zero, too.",
                about=("output",),
                reference=_binarized,
                refuted={"*/*": "E is 0, and sign(0/0)·0 is NaN, where sign(0)·0 was 0"},
                instead="claim-c08-binarize-everywhere",
            ),
        ),
    ),
    Spec(
        name="claim-c10-binarize-clipped",
        program=binarize_clipped,
        reference=_binarized,
        vjp=lambda g, x: np.where(np.abs(x / _scale(x)) <= 1, g, 0),
        ulp={"grad": 1},
        bound=MEAN,
        recipes={"plain": plain},
        ops="Sign;Mean",
        evidence=mapped("Sign", "WithinOne", "built:StopGradient"),
        dtypes=FLOATS,
        contract=_taped(_binarized, lambda g, x: np.zeros_like(x)),
        claims=(
            Claim(
                topic=topics.C10,
                letter="",
                says="Any function can be put in the place of Identity.",
                about=("grad",),
                refuted=dict.fromkeys(TAPED, TAPE),
                instead="claim-c10-clipped-everywhere",
            ),
        ),
    ),
    Spec(
        name="claim-c10-clipped-everywhere",
        program=clipped_everywhere,
        reference=_binarized,
        vjp=lambda g, x: np.where(np.abs(x / _scale(x)) <= 1, g, 0),
        bound=MEAN,
        recipes={"plain": plain},
        ops="Sign;Mean",
        evidence=CUSTOM_GRADIENT,
        dtypes=FLOATS,
    ),
)
