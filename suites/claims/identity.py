"""What tf.identity is for (C11), and what an override map means (C19)."""

import numpy as np

from tf_opdiff.harness.spec.recipes import FLOATS, plain
from tf_opdiff.harness.spec.spec import Claim, Side, Spec, Unavailable
from tf_opdiff.suites.claims import topics
from tf_opdiff.suites.claims.binarize import TAPE, TAPE_LINK, TAPED
from tf_opdiff.suites.claims.subjects import CONTROL_DEPENDENCIES, CUSTOM_GRADIENT, MAP, mapped
from tf_opdiff.suites.reference.registered import registered


# C11.
def identity_alone(tf, x):
    return tf.identity(x)


def straight_through(tf, x):
    with tf.compat.v1.get_default_graph().gradient_override_map({"Sign": "Identity"}):
        return tf.sign(x)


def straight_through_everywhere(tf, x):
    return x + tf.stop_gradient(tf.sign(x) - x)


def placed(tf, session, array):
    with session() as s:
        x = tf.compat.v1.placeholder(array.dtype, array.shape)
        doubled = x * 2
        with tf.device("CPU:0"):
            first = tf.identity(doubled)
        with tf.device("CPU:1"):
            second = tf.identity(first)
        metadata = tf.compat.v1.RunMetadata()
        values = s.run([first, second], {x: array}, run_metadata=metadata)
        return *values, np.array([ran_on(tensor, metadata) for tensor in (first, second)])


def ran_on(tensor, metadata):
    nodes = [node for graph in metadata.partition_graphs for node in graph.node]
    device = next(node.device for node in nodes if node.name == tensor.op.name)
    return device.rpartition("device:")[2].encode()


def copied(tf, x):
    if len(tf.config.list_logical_devices()) < 2:
        raise Unavailable("TensorFlow lists one device only: there is none to copy to")
    doubled = x * 2
    with tf.device("CPU:0"):
        copy = tf.identity(doubled)
    return copy, tf.constant([doubled.device.endswith("CPU:0"), copy.device.endswith("CPU:0")])


def tower_loss(tf, x):
    total_loss = tf.reduce_mean(tf.square(x))
    averages = tf.compat.v1.train.ExponentialMovingAverage(0.9)
    averages_op = averages.apply([total_loss])
    return total_loss, averages.average(total_loss), averages_op


def with_identity(tf, session, batches):
    with session() as s:
        x = tf.compat.v1.placeholder(batches.dtype, batches.shape[1:])
        total_loss, average, averages_op = tower_loss(tf, x)
        with tf.control_dependencies([averages_op]):
            total_loss = tf.identity(total_loss)
        return losses_and_averages(tf, s, x, total_loss, average, batches)


def without_identity(tf, session, batches):
    with session() as s:
        x = tf.compat.v1.placeholder(batches.dtype, batches.shape[1:])
        total_loss, average, averages_op = tower_loss(tf, x)
        with tf.control_dependencies([averages_op]):
            fetched = total_loss
        return losses_and_averages(tf, s, x, fetched, average, batches)


def losses_and_averages(tf, s, x, total_loss, average, batches):
    s.run(tf.compat.v1.global_variables_initializer())
    losses, averages = [], []
    for batch in batches:
        losses.append(s.run(total_loss, {x: batch}))
        averages.append(s.run(average))
    return np.stack(losses), np.stack(averages)


def moving_average(tf, x):
    return {"average": tf.Variable(tf.zeros([], x.dtype))}


def averaged_without_identity(tf, state, x):
    average = state["average"]
    total_loss = tf.reduce_mean(tf.square(x))
    averages_op = average.assign_sub((average - total_loss) * 0.125)
    with tf.control_dependencies([averages_op]):
        return total_loss, average


def averaged_with_identity(tf, state, x):
    average = state["average"]
    total_loss = tf.reduce_mean(tf.square(x))
    averages_op = average.assign_sub((average - total_loss) * 0.125)
    with tf.control_dependencies([averages_op]):
        return tf.identity(total_loss), tf.identity(average)


# C19.
def five_times(op, g):
    return 5.0 * g


def map_of_floor(tf, x):
    with tf.compat.v1.get_default_graph().gradient_override_map({"Floor": "Identity"}):
        return x * tf.round(x)


def map_of_identity(tf, x):
    registered(tf, "FiveTimes", five_times)
    with tf.compat.v1.get_default_graph().gradient_override_map({"Identity": "FiveTimes"}):
        return tf.identity(x, name="Identity")


def map_of_identity_unnamed(tf, x):
    registered(tf, "FiveTimes", five_times)
    with tf.compat.v1.get_default_graph().gradient_override_map({"Identity": "FiveTimes"}):
        return tf.identity(x)


def map_of_identity_by_name(tf, x):
    registered(tf, "FiveTimes", five_times)
    with tf.compat.v1.get_default_graph().gradient_override_map({"Identity": "FiveTimes"}):
        return tf.negative(x, name="Identity")


def map_left(tf, x):
    registered(tf, "FiveTimes", five_times)
    with tf.compat.v1.get_default_graph().gradient_override_map({"Identity": "FiveTimes"}):
        inside = tf.identity(x)
    return inside, tf.identity(x)


def identity_five_times(tf, x):
    @tf.custom_gradient
    def identity(x):
        return tf.identity(x), lambda g: 5.0 * g

    return identity(x)


def _taped(reference, vjp):
    """The contract of a map where a tape sees the ops themselves."""
    return dict.fromkeys(TAPED, Side(reference=reference, vjp=vjp, why=TAPE, link=TAPE_LINK))


def _batches(draw, dtype):
    return (draw.values(dtype, 5, 9),)


def _nine(draw, dtype):
    return (draw.values(dtype, 9),)


def _losses(batches):
    return np.mean(batches**2, -1)


def _averages(losses, rate):
    """Where a moving average that starts at 0 is after each loss."""
    found, average = [], 0.0
    for loss in losses:
        average -= (average - loss) * rate
        found.append(average)
    return np.array(found)


def _five(x):
    return np.full(5, _losses(x))


def _five_averages(x):
    return _averages(_five(x), 0.125)


def _off(u, g, x):
    """A mean of squares, and five times four roundings of numbers that are no larger."""
    return (x.shape[-1] + 21) * u * np.max(_losses(x))


#: What a decay of 0.9 leaves: ExponentialMovingAverage computes it in float32, whatever the dtype of the average.
RATE = np.float64(np.float32(1) - np.float32(0.9))
LOSS = {"output[0]": lambda u, g, x: (x.shape[-1] + 1) * u * _losses(x), "output[1]": _off, "output[2]": _off}
WIDE = ("float32", "float64")
NOT_RUN = "total_loss was made outside the context and waits for nothing; in a session nobody asks for the averages"
IN_ORDER = "outside of v1 graphs a program runs in its order: the averages are updated where the line stands"

SPECS = (
    Spec(
        name="claim-c11-straight-through",
        program=straight_through,
        reference=np.sign,
        vjp=lambda g, x: g,
        recipes={"plain": plain},
        ops="Sign",
        evidence=mapped("Sign", "Identity"),
        dtypes=FLOATS,
        contract=_taped(np.sign, lambda g, x: np.zeros_like(x)),
        claims=(
            Claim(
                topic=topics.C11,
                letter="a",
                says="Identity in the place of sign's gradient makes a straight-through estimator.",
                about=("grad",),
                refuted=dict.fromkeys(TAPED, f"{TAPE}: sign keeps its own gradient, which is 0"),
                instead="claim-c11-straight-through-everywhere",
            ),
        ),
    ),
    Spec(
        name="claim-c11-straight-through-everywhere",
        program=straight_through_everywhere,
        reference=np.sign,
        vjp=lambda g, x: g,
        recipes={"plain": plain},
        ulp={"output": 1},
        ops="Sign;StopGradient",
        dtypes=FLOATS,
    ),
    Spec(
        name="claim-c11-placed",
        program=placed,
        reference=lambda x: (2 * x, 2 * x, np.array([b"CPU:0", b"CPU:1"])),
        recipes={"plain": plain},
        ops="Mul",
        evidence="called:identity",
        dtypes=WIDE,
        modes=("graph",),
        sessions=True,
        claims=(
            Claim(
                topic=topics.C11,
                letter="b",
                says="tf.identity under the scope of another device moves a tensor there.",
                about=("output",),
            ),
        ),
    ),
    Spec(
        name="claim-c11-copied",
        program=copied,
        reference=lambda x: (2 * x, np.array([False, True])),
        recipes={"plain": plain},
        ops="Mul",
        evidence="called:identity",
        dtypes=WIDE,
        modes=("eager",),  # elsewhere a program is traced, and a tensor is nowhere yet
        claims=(
            Claim(
                topic=topics.C11,
                letter="d",
                says="Eagerly, too, tf.identity under the scope of another device gives a tensor that is there.",
                about=("output",),
            ),
        ),
    ),
    Spec(
        name="claim-c11-tower-loss",
        program=with_identity,
        reference=lambda x: (_losses(x), _averages(_losses(x), RATE)),
        bound=LOSS,
        recipes={"batches": _batches},
        ops="Square;Mean;AssignSubVariableOp",
        evidence=f"called:identity;{CONTROL_DEPENDENCIES};ran:AssignSubVariableOp",
        dtypes=WIDE,
        modes=("graph",),
        sessions=True,
        claims=(
            Claim(
                topic=topics.C11,
                letter="c",
                says="tf.identity is a node to hang control dependencies on: fetching the loss updates the averages.",
                about=("output",),
            ),
        ),
    ),
    Spec(
        name="claim-c11-tower-loss-as-it-is",
        program=without_identity,
        reference=lambda x: (_losses(x), np.zeros(5)),
        bound={"output[0]": LOSS["output[0]"]},
        recipes={"batches": _batches},
        ops="Square;Mean",
        evidence=f"{CONTROL_DEPENDENCIES};built:AssignSubVariableOp",
        dtypes=WIDE,
        modes=("graph",),
        sessions=True,
        claims=(
            Claim(
                topic=topics.C11,
                letter="e",
                says="The context alone does it: the loss, fetched as it is, updates the averages as well.",
                about=("output[1]",),
                reference=lambda x: (_losses(x), _averages(_losses(x), RATE)),
                refuted={"*/graph": NOT_RUN},
                instead="claim-c11-tower-loss",
            ),
        ),
    ),
    Spec(
        name="claim-c11-average-without-identity",
        program=averaged_without_identity,
        state=moving_average,
        steps=5,
        reference=lambda x: (_five(x), _five_averages(x), {"average": _five_averages(x)[-1]}),
        bound=LOSS,
        recipes={"nine": _nine},
        ops="AssignSubVariableOp",
        evidence=CONTROL_DEPENDENCIES,
        dtypes=WIDE,
        contract={
            "*/graph": Side(
                reference=lambda x: (_five(x), np.zeros(5), {"average": np.float64(0)}),
                why=NOT_RUN,
                link="https://www.tensorflow.org/api_docs/python/tf/Graph#control_dependencies",
            )
        },
        claims=(
            Claim(
                topic=topics.C11,
                letter="f",
                says="Without the identity the averages are not updated.",
                about=("output[1]",),
                reference=lambda x: (_five(x), np.zeros(5), {"average": np.float64(0)}),
                refuted=dict.fromkeys(("*/eager", "*/function", "*/xla"), IN_ORDER),
                instead="claim-c11-average-with-identity",
            ),
        ),
    ),
    Spec(
        name="claim-c11-average-with-identity",
        program=averaged_with_identity,
        state=moving_average,
        steps=5,
        reference=lambda x: (_five(x), _five_averages(x), {"average": _five_averages(x)[-1]}),
        bound=LOSS,
        recipes={"nine": _nine},
        ops="AssignSubVariableOp",
        evidence=f"called:identity;{CONTROL_DEPENDENCIES}",
        dtypes=WIDE,
    ),
    Spec(
        name="claim-c11-identity",
        program=identity_alone,
        reference=lambda x: x,
        vjp=lambda g, x: g,
        recipes={"plain": plain},
        ops="Identity",
        evidence="called:identity",
        dtypes=FLOATS,
        claims=(
            Claim(
                topic=topics.C11,
                letter="g",
                says="tf.identity itself hands on the value, and on the way back the upstream, unchanged.",
                about=("output", "grad"),
            ),
        ),
    ),
    Spec(
        name="claim-c19-map-of-floor",
        program=map_of_floor,
        reference=lambda x: x * np.round(x),
        vjp=lambda g, x: g * np.round(x),
        ulp={"output": 0.5, "grad": 0.5},
        recipes={"plain": plain},
        ops="Round;Mul",
        evidence=MAP,
        dtypes=FLOATS,
        claims=(
            Claim(
                topic=topics.C19,
                letter="a",
                says="A map for Floor changes nothing about ops of other types, be they as much like it as Round is.",
                about=("output", "grad"),
            ),
        ),
    ),
    Spec(
        name="claim-c19-map-of-identity",
        program=map_of_identity,
        reference=lambda x: x,
        vjp=lambda g, x: 5 * g,
        ulp={"grad": 0.5},
        recipes={"plain": plain},
        ops="Identity",
        evidence=mapped("Identity", "FiveTimes", "called:identity"),
        dtypes=FLOATS,
        contract=_taped(lambda x: x, lambda g, x: g),
        claims=(
            Claim(
                topic=topics.C19,
                letter="b",
                says="The map puts CustomGrad, which is 5·g, in the place of the gradient of Identity.",
                about=("grad",),
                refuted=dict.fromkeys(TAPED, f"{TAPE}: the upstream comes back once"),
                instead="claim-c19-identity-five-times",
            ),
            Claim(
                topic=topics.C19,
                letter="e",
                says="The map keeps the forward pass.",
                about=("output",),
            ),
        ),
    ),
    Spec(
        name="claim-c19-map-of-identity-unnamed",
        program=map_of_identity_unnamed,
        reference=lambda x: x,
        vjp=lambda g, x: 5 * g,
        ulp={"grad": 0.5},
        recipes={"plain": plain},
        ops="Identity",
        evidence=mapped("Identity", "FiveTimes", "called:identity"),
        dtypes=FLOATS,
        contract=_taped(lambda x: x, lambda g, x: g),
        claims=(
            Claim(
                topic=topics.C19,
                letter="c",
                says='The map reaches tf.identity only with the argument name="Identity".',
                about=("grad",),
                vjp=lambda g, x: g,
                plans=("*/graph",),
                refuted={"*/graph": "the map goes by the type of an op, which is Identity whatever its name"},
                instead="claim-c19-identity-five-times",
            ),
        ),
    ),
    Spec(
        name="claim-c19-map-of-identity-by-name",
        program=map_of_identity_by_name,
        reference=lambda x: -x,
        vjp=lambda g, x: -g,
        recipes={"plain": plain},
        ops="Neg",
        evidence=MAP,
        dtypes=FLOATS,
        claims=(
            Claim(
                topic=topics.C19,
                letter="f",
                says='An op of another type is reached if its name is "Identity".',
                about=("grad",),
                vjp=lambda g, x: 5 * g,
                ulp={"grad": 0.5},
                refuted={"*/*": "the map goes by the type of an op: one named Identity that negates is a Neg"},
                instead="claim-c19-identity-five-times",
            ),
        ),
    ),
    Spec(
        name="claim-c19-map-left",
        program=map_left,
        reference=lambda x: (x, x),
        vjp=lambda g, x: 5 * g[0] + g[1],
        bound={"grad": lambda u, g, x: 2 * u * (5 * np.abs(g[0]) + np.abs(g[1]))},
        recipes={"plain": plain},
        ops="Identity",
        evidence=mapped("Identity", "FiveTimes", "called:identity"),
        dtypes=FLOATS,
        contract=_taped(lambda x: (x, x), lambda g, x: g[0] + g[1]),
        claims=(
            Claim(
                topic=topics.C19,
                letter="d",
                says="The map leaves alone what is made outside its context.",
                about=("grad",),
                plans=("*/graph",),
            ),
        ),
    ),
    Spec(
        name="claim-c19-identity-five-times",
        program=identity_five_times,
        reference=lambda x: x,
        vjp=lambda g, x: 5 * g,
        ulp={"grad": 0.5},
        recipes={"plain": plain},
        ops="Identity",
        evidence=CUSTOM_GRADIENT,
        dtypes=FLOATS,
    ),
)
