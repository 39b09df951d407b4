"""The moving averages of batch normalisation, and what it takes that a train step updates them: C20."""

from functools import partial

import numpy as np

from tf_opdiff.harness.spec.spec import Claim, Spec
from tf_opdiff.suites.claims import topics
from tf_opdiff.suites.claims.subjects import CONTROL_DEPENDENCIES
from tf_opdiff.suites.references.running import bound
from tf_opdiff.suites.references.training import sgd

TF2 = ("eager", "function", "xla")


# In a session.
def batch_norm(tf, x):
    ones, zeros = tf.ones(x.shape[1:], x.dtype), tf.zeros(x.shape[1:], x.dtype)
    gamma = tf.compat.v1.get_variable("gamma", initializer=ones)
    beta = tf.compat.v1.get_variable("beta", initializer=zeros)
    moving_mean = tf.compat.v1.get_variable("moving_mean", initializer=zeros, trainable=False)
    moving_variance = tf.compat.v1.get_variable("moving_variance", initializer=ones, trainable=False)
    mean, variance = tf.nn.moments(x, [0])
    for moving, now in ((moving_mean, mean), (moving_variance, variance)):
        update = moving.assign_sub((moving - now) * 0.25)
        tf.compat.v1.add_to_collection(tf.compat.v1.GraphKeys.UPDATE_OPS, update)
    return tf.nn.batch_normalization(x, mean, variance, beta, gamma, 2**-10)


def network(tf, weights, xs, ys):
    x = tf.compat.v1.placeholder(xs.dtype, xs.shape[1:])
    y = tf.compat.v1.placeholder(ys.dtype, ys.shape[1:])
    w = tf.compat.v1.get_variable("w", initializer=weights)
    return x, y, tf.reduce_mean(tf.square(batch_norm(tf, x @ w) - y))


def trajectories(tf, s, fetched, x, y, xs, ys):
    s.run(tf.compat.v1.global_variables_initializer())
    steps = []
    for batch, wanted in zip(xs, ys, strict=True):
        s.run(fetched, {x: batch, y: wanted})
        steps.append(s.run(tf.compat.v1.global_variables()))
    return tuple(map(np.stack, zip(*steps, strict=True)))


def train_alone(tf, session, weights, xs, ys):
    with session() as s:
        x, y, loss = network(tf, weights, xs, ys)
        train = tf.compat.v1.train.GradientDescentOptimizer(0.125).minimize(loss)
        return trajectories(tf, s, train, x, y, xs, ys)


def around_minimize(tf, session, weights, xs, ys):
    with session() as s:
        x, y, loss = network(tf, weights, xs, ys)
        updates = tf.compat.v1.get_collection(tf.compat.v1.GraphKeys.UPDATE_OPS)
        with tf.control_dependencies(updates):
            train = tf.compat.v1.train.GradientDescentOptimizer(0.125).minimize(loss)
        return trajectories(tf, s, train, x, y, xs, ys)


def around_what_was_made(tf, session, weights, xs, ys):
    with session() as s:
        x, y, loss = network(tf, weights, xs, ys)
        minimize = tf.compat.v1.train.GradientDescentOptimizer(0.125).minimize(loss)
        updates = tf.compat.v1.get_collection(tf.compat.v1.GraphKeys.UPDATE_OPS)
        with tf.control_dependencies(updates):
            train = minimize
        return trajectories(tf, s, train, x, y, xs, ys)


def fetch_updates(tf, session, weights, xs, ys):
    with session() as s:
        x, y, loss = network(tf, weights, xs, ys)
        train = tf.compat.v1.train.GradientDescentOptimizer(0.125).minimize(loss)
        updates = tf.compat.v1.get_collection(tf.compat.v1.GraphKeys.UPDATE_OPS)
        return trajectories(tf, s, (train, updates), x, y, xs, ys)


# With a layer of Keras.
def with_layer(tf, weights, xs, ys):
    w = tf.Variable(weights)
    layer = tf.keras.layers.BatchNormalization(momentum=0.75, epsilon=2**-10, dtype=weights.dtype.name)
    layer.build(ys.shape[1:])
    sgd = tf.keras.optimizers.SGD(0.125)
    sgd.build([w, layer.gamma, layer.beta])
    return {"w": w, "_layer": layer, "_sgd": sgd}


def train_layer(tf, state, weights, xs, ys):
    w, layer, steps = state["w"], state["_layer"], []
    for x, y in zip(tf.unstack(xs), tf.unstack(ys), strict=True):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(layer(x @ w, training=True) - y))
        trained = [w, layer.gamma, layer.beta]
        state["_sgd"].apply(tape.gradient(loss, trained), trained)
        steps.append([tf.identity(v) for v in (*trained, layer.moving_mean, layer.moving_variance)])
    return tuple(map(tf.stack, zip(*steps, strict=True)))


def with_layer_of_images(tf, x):
    layer = tf.keras.layers.BatchNormalization(momentum=0.75, epsilon=2**-10, dtype=x.dtype.name)
    layer.build(x.shape)
    return {"_layer": layer}


def normalise_images(tf, state, x):
    layer = state["_layer"]
    return layer(x, training=True), tf.identity(layer.moving_mean), tf.identity(layer.moving_variance)


# The op that does it all.
def fused(tf, x, gamma, beta, moving_mean, moving_variance):
    return tf.compat.v1.nn.fused_batch_norm(
        x, gamma, beta, moving_mean, moving_variance, epsilon=2**-10, exponential_avg_factor=0.25
    )


def by_moments(tf, x, gamma, beta, moving_mean, moving_variance):
    mean, variance = tf.nn.moments(x, [0, 1, 2])
    moving_mean -= (moving_mean - mean) * 0.25
    moving_variance -= (moving_variance - variance) * 0.25
    return tf.nn.batch_normalization(x, mean, variance, beta, gamma, 2**-10), moving_mean, moving_variance


# Inputs.
def _batches(draw, dtype):
    """Weights large enough that no feature has a small variance, and batches of samples with what is wanted of them."""
    weights = draw.uniform(3, 4, low=1, high=2) * np.where(draw.booleans(3, 4), 1, -1)
    return tuple(a.astype(dtype) for a in (weights, draw.uniform(5, 8, 3), draw.uniform(5, 8, 4, low=-2, high=2)))


def _images(draw, dtype):
    """A few small images, scale and offset, and the averages so far."""
    factors = [draw.uniform(4, low=0.5, high=2) for _ in range(4)]
    return tuple(a.astype(dtype) for a in (draw.uniform(3, 2, 2, 4), *factors))


# References.
def _moved(moving, now):
    return moving - (moving - now) * 0.25


def _moments(x):
    mean = np.mean(x, axis=0)
    return mean, np.mean(np.square(x - mean), axis=0)


def _normalised(x, mean, variance, gamma, beta):
    scale = gamma / np.sqrt(variance + 2**-10)
    return x * scale + (beta - mean * scale)


def _trained(weights, xs, ys, *, updated):
    """The weights, gamma, beta, and the moving mean and variance after each step."""
    w, steps = weights, []
    beta = moving_mean = np.zeros_like(weights[0])
    gamma = moving_variance = beta + 1
    for x, y in zip(xs, ys, strict=True):
        h = x @ w
        mean, variance = _moments(h)
        deviation = np.sqrt(variance + 2**-10)
        unit = (h - mean) / deviation
        by_output = (_normalised(h, mean, variance, gamma, beta) - y) * (2 / y.size)
        by_gamma, by_beta = np.sum(by_output * unit, axis=0), np.sum(by_output, axis=0)
        by_h = (gamma / deviation) * (by_output - by_beta / len(x) - unit * (by_gamma / len(x)))
        w, gamma, beta = sgd(w, x.T @ by_h), sgd(gamma, by_gamma), sgd(beta, by_beta)
        if updated:
            moving_mean, moving_variance = _moved(moving_mean, mean), _moved(moving_variance, variance)
        steps.append((w, gamma, beta, moving_mean, moving_variance))
    return tuple(np.stack(each) for each in zip(*steps, strict=True))


def _updated(weights, xs, ys):
    return _trained(weights, xs, ys, updated=True)


def _not_updated(weights, xs, ys):
    return _trained(weights, xs, ys, updated=False)


def _of_images(correction):
    """Normalised images and new averages; the variance that goes into its average is `correction` times that used."""

    def reference(x, gamma, beta, moving_mean, moving_variance):
        samples = x.reshape(-1, x.shape[-1])
        mean, variance = _moments(samples)
        y = _normalised(samples, mean, variance, gamma, beta).reshape(x.shape)
        corrected = variance * correction(len(samples))
        return y, _moved(moving_mean, mean), _moved(moving_variance, corrected)

    return reference


_by_moments = _of_images(lambda n: 1)
_fused = _of_images(lambda n: n / (n - 1))


def _first_images(x):
    """The same from an offset and a mean of 0, and a scale and a variance of 1."""
    zeros = np.zeros_like(x[0, 0, 0])
    return _by_moments(x, zeros + 1, zeros, zeros, zeros + 1)


def _bounds(reference, count):
    return {f"output[{i}]": bound(reference, i) for i in range(count)}


UPDATES = "built:AssignSubVariableOp;called:compat.v1.add_to_collection"
LAYER = "called:keras.layers.BatchNormalization"
MOVING = ("output[3]", "output[4]")
PRUNED = "control dependencies bind what is made in the context, and minimize made its ops before it"
ALONE = "A train step alone does not evaluate the updates of the moving mean and variance."
BIASED = "The moving variance is the average of the variances that the batches are normalised by."
InSession = partial(Spec, recipes={"batches": _batches}, dtypes=("float32", "float64"), modes=("graph",), sessions=True)

SPECS = (
    InSession(
        name="claim-c20-train-alone",
        program=train_alone,
        reference=_not_updated,
        bound=_bounds(_not_updated, 5),
        ops="ResourceApplyGradientDescent",
        evidence=UPDATES,
        claims=(Claim(topic=topics.C20, letter="a", says=ALONE, about=MOVING),),
    ),
    InSession(
        name="claim-c20-control-dependencies",
        program=around_minimize,
        reference=_updated,
        bound=_bounds(_updated, 5),
        ops="ResourceApplyGradientDescent;AssignSubVariableOp",
        evidence=f"{UPDATES};{CONTROL_DEPENDENCIES};ran:AssignSubVariableOp",
        claims=(
            Claim(
                topic=topics.C20,
                letter="b",
                says="control_dependencies on UPDATE_OPS around minimize evaluate them once a step.",
                about=MOVING,
            ),
            Claim(topic=topics.C20, letter="d", says=BIASED, about=("output[4]",)),
        ),
    ),
    InSession(
        name="claim-c20-fetched",
        program=fetch_updates,
        reference=_updated,
        bound=_bounds(_updated, 5),
        ops="ResourceApplyGradientDescent;AssignSubVariableOp",
        evidence=f"{UPDATES};ran:AssignSubVariableOp",
        claims=(
            Claim(
                topic=topics.C20,
                letter="c",
                says="Fetching UPDATE_OPS beside the train op evaluates them, too, and leaves the training as it is.",
                about=("output",),
            ),
        ),
    ),
    InSession(
        name="claim-c20-made-before",
        program=around_what_was_made,
        reference=_not_updated,
        bound=_bounds(_not_updated, 5),
        ops="ResourceApplyGradientDescent",
        evidence=f"{UPDATES};{CONTROL_DEPENDENCIES}",
        claims=(
            Claim(
                topic=topics.C20,
                letter="e",
                says="control_dependencies also work around a train op that was made before.",
                about=MOVING,
                reference=_updated,
                refuted={"*/*": PRUNED},
                instead="claim-c20-control-dependencies",
            ),
        ),
    ),
    Spec(
        name="claim-c20-layer",
        program=train_layer,
        reference=lambda *inputs: (*(found := _updated(*inputs)), {"w": found[0][-1]}),
        state=with_layer,
        recipes={"batches": _batches},
        dtypes=("float32", "float64"),
        modes=TF2,
        ops="AssignVariableOp",
        evidence=LAYER,
        bound=_bounds(_updated, 5) | {"output[5]": lambda u, g, *inputs: bound(_updated, 0)(u, g, *inputs)[-1]},
        claims=(
            Claim(
                topic=topics.C20,
                letter="a",
                says=ALONE,
                about=MOVING,
                reference=_not_updated,
                ulp={},
                refuted={"*/*": "the layer assigns as it is called, and outside of v1 graphs no assignment is pruned"},
            ),
            Claim(topic=topics.C20, letter="d", says=BIASED, about=("output[4]",)),
        ),
    ),
    Spec(
        name="claim-c20-layer-of-images",
        program=normalise_images,
        reference=_first_images,
        state=with_layer_of_images,
        recipes={"images": lambda draw, dtype: _images(draw, dtype)[:1]},
        dtypes=("float32", "float64"),
        modes=TF2,
        ops="AssignVariableOp",
        evidence=LAYER,
        bound=_bounds(_first_images, 3),
        claims=(Claim(topic=topics.C20, letter="d", says=BIASED, about=("output[2]",)),),
    ),
    Spec(
        name="claim-c20-fused",
        program=fused,
        reference=_fused,
        recipes={"images": _images},
        ops="FusedBatchNormV3",
        bound=_bounds(_fused, 3),
        claims=(
            Claim(
                topic=topics.C20,
                letter="d",
                says=BIASED,
                about=("output[2]",),
                reference=_by_moments,
                refuted={
                    "*/*": "fused_batch_norm normalises by Σ(x−mean)²/N, and averages Σ(x−mean)²/(N−1) (Bessel): "
                    "12/11 of it here"
                },
                instead="claim-c20-moments",
            ),
        ),
    ),
    Spec(
        name="claim-c20-moments",
        program=by_moments,
        reference=_by_moments,
        recipes={"images": _images},
        ops="Mean;SquaredDifference",
        dtypes=("float32", "float64"),
        bound=_bounds(_by_moments, 3),
    ),
)
