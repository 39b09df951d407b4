"""Center loss: centers that are moved by an op of their own, beside the training: C22."""

from functools import partial

import numpy as np

from tf_opdiff.harness.spec.spec import Claim, Spec
from tf_opdiff.suites.claims import topics
from tf_opdiff.suites.claims.subjects import CONTROL_DEPENDENCIES
from tf_opdiff.suites.references.running import bound
from tf_opdiff.suites.references.training import sgd


# The loss, and how far centers move: half of the paper's Δc.
def center_loss(tf, logits, labels, difference):
    classified = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    return tf.reduce_sum(classified) + 0.125 * tf.reduce_sum(tf.square(difference))


def center_steps(tf, labels, difference):
    same = tf.cast(tf.equal(labels[:, None], labels[None, :]), difference.dtype)
    return 0.5 * difference / (1 + tf.reduce_sum(same, axis=1, keepdims=True))


# In a session.
def network(tf, weights, head, start, samples, labels):
    x = tf.compat.v1.placeholder(samples.dtype, samples.shape[1:])
    label = tf.compat.v1.placeholder(labels.dtype, labels.shape[1:])
    w = tf.compat.v1.get_variable("w", initializer=weights)
    v = tf.compat.v1.get_variable("head", initializer=head)
    centers = tf.compat.v1.get_variable("centers", initializer=start, trainable=False)
    features = x @ w
    difference = tf.gather(centers, label) - features
    loss = center_loss(tf, features @ v, label, difference)
    update = tf.compat.v1.scatter_sub(centers, label, center_steps(tf, label, difference))
    return x, label, loss, update


def trajectories(tf, s, loss, fetched, x, label, samples, labels):
    s.run(tf.compat.v1.global_variables_initializer())
    steps = []
    for batch, classes in zip(samples, labels, strict=True):
        lost, _ = s.run((loss, fetched), {x: batch, label: classes})
        steps.append((lost, *s.run(tf.compat.v1.global_variables())))
    return tuple(map(np.stack, zip(*steps, strict=True)))


def train_alone(tf, session, weights, head, start, samples, labels):
    with session() as s:
        x, label, loss, _ = network(tf, weights, head, start, samples, labels)
        train = tf.compat.v1.train.GradientDescentOptimizer(0.03125).minimize(loss)
        return trajectories(tf, s, loss, train, x, label, samples, labels)


def fetch_both(tf, session, weights, head, start, samples, labels):
    with session() as s:
        x, label, loss, update = network(tf, weights, head, start, samples, labels)
        train = tf.compat.v1.train.GradientDescentOptimizer(0.03125).minimize(loss)
        return trajectories(tf, s, loss, (train, update), x, label, samples, labels)


def around_minimize(tf, session, weights, head, start, samples, labels):
    with session() as s:
        x, label, loss, update = network(tf, weights, head, start, samples, labels)
        with tf.control_dependencies([update]):
            train = tf.compat.v1.train.GradientDescentOptimizer(0.03125).minimize(loss)
        return trajectories(tf, s, loss, train, x, label, samples, labels)


# With a tape.
def variables(tf, weights, head, start, samples, labels):
    w, v, centers = tf.Variable(weights), tf.Variable(head), tf.Variable(start, trainable=False)
    sgd = tf.keras.optimizers.SGD(0.03125)
    sgd.build([w, v])
    return {"w": w, "head": v, "centers": centers, "_sgd": sgd}


def train_and_move(tf, state, weights, head, start, samples, labels):
    w, v, centers, steps = state["w"], state["head"], state["centers"], []
    for x, label in zip(tf.unstack(samples), tf.unstack(labels), strict=True):
        with tf.GradientTape() as tape:
            features = x @ w
            difference = tf.gather(centers, label) - features
            loss = center_loss(tf, features @ v, label, difference)
        centers.scatter_sub(tf.IndexedSlices(center_steps(tf, label, difference), label))
        state["_sgd"].apply(tape.gradient(loss, [w, v]), [w, v])
        steps.append((loss, w.read_value(), v.read_value(), centers.read_value()))
    return tuple(map(tf.stack, zip(*steps, strict=True)))


# Inputs.
def _batches(draw, dtype):
    """Weights of two layers, centers, and batches: a class up to five times in one, and one of four only in two."""
    labels = np.array(
        [[0, 0, 0, 1, 1, 2], [2, 1, 1, 1, 1, 1], [0, 3, 0, 2, 3, 2], [1, 0, 2, 1, 0, 2], [2, 2, 2, 2, 0, 3]], np.int64
    )
    floats = draw.uniform(3, 2), draw.uniform(2, 4), draw.uniform(4, 2, low=-2, high=2), draw.uniform(5, 6, 3)
    return (*(a.astype(dtype) for a in floats), labels)


# References.
def _moved(centers, features, labels):
    """Centers less half of Δc, equation 4 of the paper."""
    of_class = labels == np.arange(len(centers))[:, None]
    summed = of_class @ (centers[labels] - features)
    return centers - 0.5 * summed / (1 + np.sum(of_class, axis=1, keepdims=True))


def _part_of_the_way(centers, features, labels):
    """Centers after n/(n + 1) of half the way to the mean of the n features of their class."""
    of_class = labels == np.arange(len(centers))[:, None]
    count = np.sum(of_class, axis=1, keepdims=True)
    mean = of_class @ features / np.maximum(count, 1)
    return centers + 0.5 * count / (count + 1) * (mean - centers)


def _stay(centers, features, labels):
    return centers


def _trained(move):
    """The loss, both layers' weights and the centers after each step."""

    def reference(weights, head, start, samples, labels):
        w, v, centers, steps = weights, head, start, []
        for x, label in zip(samples, labels, strict=True):
            features = x @ w
            exp = np.exp(features @ v)
            odds = exp / np.sum(exp, axis=1, keepdims=True)
            right = label[:, None] == np.arange(head.shape[1])
            difference = centers[label] - features
            loss = np.sum(np.log(np.sum(exp, axis=1))) - np.sum(np.where(right, features @ v, 0))
            loss = loss + 0.125 * np.sum(np.square(difference))
            by_logits = odds - right
            by_features = by_logits @ v.T - 0.25 * difference
            centers = move(centers, features, label)
            w, v = sgd(w, x.T @ by_features, 2**-5), sgd(v, features.T @ by_logits, 2**-5)
            steps.append((loss, w, v, centers))
        return tuple(np.stack(each) for each in zip(*steps, strict=True))

    return reference


_moving, _staying, _by_mean = _trained(_moved), _trained(_stay), _trained(_part_of_the_way)


def _with_final(*inputs):
    found = _moving(*inputs)
    return (*found, dict(zip(("w", "head", "centers"), (states[-1] for states in found[1:]), strict=True)))


def _last(bounds):
    return lambda u, g, *inputs: bounds(u, g, *inputs)[-1]


def _bounds(reference):
    return {f"output[{i}]": bound(reference, i) for i in range(4)}


FINAL = {f"output[{i}]": _last(bound(_moving, i - 3)) for i in (4, 5, 6)}
BESIDE = "The centers are moved by an op beside the train op, which does not run it."
InSession = partial(Spec, recipes={"batches": _batches}, dtypes=("float32", "float64"), modes=("graph",), sessions=True)

SPECS = (
    InSession(
        name="claim-c22-train-alone",
        program=train_alone,
        reference=_staying,
        bound=_bounds(_staying),
        ops="ResourceApplyGradientDescent",
        evidence="built:ResourceScatterSub",
        claims=(Claim(topic=topics.C22, letter="a", says=BESIDE, about=("output[3]",), ulp={}),),
    ),
    InSession(
        name="claim-c22-fetched",
        program=fetch_both,
        reference=_moving,
        bound=_bounds(_moving),
        ops="ResourceApplyGradientDescent;ResourceScatterSub",
        evidence="ran:ResourceScatterSub",
        claims=(
            Claim(
                topic=topics.C22,
                letter="b",
                says="Fetched beside the train op, scatter_sub moves each center by α times the paper's Δc, several "
                "samples of one class included.",
                about=("output[3]",),
            ),
            Claim(
                topic=topics.C22,
                letter="d",
                says="A center goes α·n/(n + 1) of the way to the mean of its n samples, and stays if there are none.",
                about=("output[3]",),
                reference=_by_mean,
            ),
        ),
    ),
    InSession(
        name="claim-c22-control-dependencies",
        program=around_minimize,
        reference=_moving,
        bound=_bounds(_moving),
        ops="ResourceApplyGradientDescent;ResourceScatterSub",
        evidence=f"ran:ResourceScatterSub;{CONTROL_DEPENDENCIES}",
        claims=(
            Claim(
                topic=topics.C22,
                letter="c",
                says="It must be fetched explicitly: while only the train op is, the centers stay.",
                about=("output[3]",),
                reference=_staying,
                ulp={},
                refuted={"*/*": "minimize under control_dependencies on it makes a train op that waits for it"},
                instead="claim-c22-control-dependencies",
            ),
        ),
    ),
    Spec(
        name="claim-c22-program-order",
        program=train_and_move,
        state=variables,
        reference=_with_final,
        recipes={"batches": _batches},
        dtypes=("float32", "float64"),
        modes=("eager", "function", "xla"),
        ops="ResourceScatterSub",
        bound=_bounds(_moving) | FINAL,
        claims=(
            Claim(
                topic=topics.C22,
                letter="a",
                says=BESIDE,
                about=("output[3]",),
                reference=_staying,
                ulp={},
                refuted={"*/*": "outside of v1 graphs, what changes a variable runs in the order of the program"},
            ),
        ),
    ),
)
