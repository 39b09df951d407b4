"""Two networks that are trained in turn, as in a semi-supervised GAN: C23.

The generator makes samples of noise. The discriminator tells two classes of real samples and, as a third, made ones.
"""

from typing import Any

import numpy as np

from tf_opdiff.harness.spec.plan import MODES
from tf_opdiff.harness.spec.spec import Claim, Spec
from tf_opdiff.suites.claims import topics
from tf_opdiff.suites.claims.subjects import MINIMIZE

IN_ORDER = ("eager", "function", "xla")
ROUNDS = 4
MADE = 2


def generate(tf, noise, generator):
    return tf.tanh(noise @ generator)


def losses(tf, real, made, discriminator):
    def cross_entropy(samples, labels):
        found = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=samples @ discriminator)
        return tf.reduce_mean(found)

    of_made = cross_entropy(made, [2, 2, 2, 2])
    return cross_entropy(real, [0, 1, 0, 1, 0, 1]) + of_made, -of_made


def train_in_turn(s, train_discriminator, train_generator, weights):
    trajectory = []
    for _ in range(4):
        s.run(train_discriminator)
        s.run(train_generator)
        trajectory.append(s.run(weights))
    return [np.stack(steps) for steps in zip(*trajectory, strict=True)]


def start_in_one_graph(tf, real, noise, discriminator_start, generator_start):
    discriminator = tf.compat.v1.get_variable("discriminator", initializer=discriminator_start)
    generator = tf.compat.v1.get_variable("generator", initializer=generator_start)
    loss, generator_loss = losses(tf, real, generate(tf, noise, generator), discriminator)
    return discriminator, generator, loss, generator_loss


def train_in_one_graph(tf, session, *inputs):
    with session() as s:
        discriminator, generator, loss, generator_loss = start_in_one_graph(tf, *inputs)
        optimizer = tf.compat.v1.train.GradientDescentOptimizer(0.5)
        train_discriminator = optimizer.minimize(loss, var_list=[discriminator])
        train_generator = optimizer.minimize(generator_loss, var_list=[generator])
        s.run(tf.compat.v1.global_variables_initializer())
        return train_in_turn(s, train_discriminator, train_generator, (discriminator, generator))


def train_without_var_list(tf, session, *inputs):
    with session() as s:
        discriminator, generator, loss, generator_loss = start_in_one_graph(tf, *inputs)
        optimizer = tf.compat.v1.train.GradientDescentOptimizer(0.5)
        train_discriminator = optimizer.minimize(loss)
        train_generator = optimizer.minimize(generator_loss)
        s.run(tf.compat.v1.global_variables_initializer())
        return train_in_turn(s, train_discriminator, train_generator, (discriminator, generator))


def train_by_one_adam(tf, session, *inputs):
    with session() as s:
        discriminator, generator, loss, generator_loss = start_in_one_graph(tf, *inputs)
        adam = tf.compat.v1.train.AdamOptimizer(0.125, beta1=0.5, beta2=0.75, epsilon=0.125)
        train_discriminator = adam.minimize(loss, var_list=[discriminator])
        train_generator = adam.minimize(generator_loss, var_list=[generator])
        s.run(tf.compat.v1.global_variables_initializer())
        return train_in_turn(s, train_discriminator, train_generator, (discriminator, generator))


def train_by_an_adam_each(tf, session, *inputs):
    with session() as s:
        discriminator, generator, loss, generator_loss = start_in_one_graph(tf, *inputs)
        adam = tf.compat.v1.train.AdamOptimizer(0.125, beta1=0.5, beta2=0.75, epsilon=0.125)
        train_discriminator = adam.minimize(loss, var_list=[discriminator])
        generator_adam = tf.compat.v1.train.AdamOptimizer(0.125, beta1=0.5, beta2=0.75, epsilon=0.125)
        train_generator = generator_adam.minimize(generator_loss, var_list=[generator])
        s.run(tf.compat.v1.global_variables_initializer())
        return train_in_turn(s, train_discriminator, train_generator, (discriminator, generator))


def train_in_two_graphs(tf, session, real, noise, discriminator_start, generator_start):
    with session() as first:
        discriminator = tf.compat.v1.get_variable("discriminator", initializer=discriminator_start)
        made = tf.compat.v1.placeholder(real.dtype, [4, 2])
        loss, generator_loss = losses(tf, real, made, discriminator)
        train_discriminator = tf.compat.v1.train.GradientDescentOptimizer(0.5).minimize(loss)
        (gradient_of_made,) = tf.gradients(generator_loss, [made])
        first.run(tf.compat.v1.global_variables_initializer())
        with session() as second:
            generator = tf.compat.v1.get_variable("generator", initializer=generator_start)
            samples = generate(tf, noise, generator)
            upstream = tf.compat.v1.placeholder(real.dtype, [4, 2])
            gradients = tf.gradients([samples], [generator], grad_ys=[upstream])
            optimizer = tf.compat.v1.train.GradientDescentOptimizer(0.5)
            train_generator = optimizer.apply_gradients(zip(gradients, [generator], strict=True))
            second.run(tf.compat.v1.global_variables_initializer())
            trajectory = []
            for _ in range(4):
                arrays = second.run(samples)
                first.run(train_discriminator, {made: arrays})
                second.run(train_generator, {upstream: first.run(gradient_of_made, {made: arrays})})
                trajectory.append((first.run(discriminator), second.run(generator)))
    return [np.stack(steps) for steps in zip(*trajectory, strict=True)]


def two_networks(tf, real, noise, discriminator_start, generator_start):
    return {"discriminator": tf.Variable(discriminator_start), "generator": tf.Variable(generator_start)}


def train_in_one_program(tf, state, real, noise, discriminator_start, generator_start):
    discriminator, generator = state["discriminator"], state["generator"]
    with tf.GradientTape() as tape:
        loss, _ = losses(tf, real, generate(tf, noise, generator), discriminator)
    discriminator.assign_sub(0.5 * tape.gradient(loss, discriminator))
    with tf.GradientTape() as tape:
        _, generator_loss = losses(tf, real, generate(tf, noise, generator), discriminator)
    generator.assign_sub(0.5 * tape.gradient(generator_loss, generator))
    return discriminator.read_value(), generator.read_value()


def train_in_two_functions(tf, state, real, noise, discriminator_start, generator_start):
    discriminator, generator = state["discriminator"], state["generator"]

    @tf.function
    def train_discriminator(made):
        with tf.GradientTape() as tape:
            loss, _ = losses(tf, real, made, discriminator)
        discriminator.assign_sub(0.5 * tape.gradient(loss, discriminator))

    @tf.function
    def gradient_of_made(made):
        with tf.GradientTape() as tape:
            tape.watch(made)
            _, generator_loss = losses(tf, real, made, discriminator)
        return tape.gradient(generator_loss, made)

    @tf.function
    def train_generator(upstream):
        with tf.GradientTape() as tape:
            made = generate(tf, noise, generator)
        generator.assign_sub(0.5 * tape.gradient(made, generator, upstream))

    made = generate(tf, noise, generator)
    train_discriminator(made)
    train_generator(gradient_of_made(made))
    return discriminator.read_value(), generator.read_value()


# References, in long double.
def _softmax(logits):
    found = np.exp(logits - logits.max(axis=1, keepdims=True))
    return found / found.sum(axis=1, keepdims=True)


def _gradients(real, noise, discriminator, generator):
    """Of the discriminator's loss by both networks, and of the generator's: what the made samples lend, negated."""
    made = np.tanh(noise @ generator)
    by_real = (_softmax(real @ discriminator) - np.eye(3)[np.arange(len(real)) % 2]) / len(real)
    by_made = (_softmax(made @ discriminator) - np.eye(3)[MADE]) / len(made)
    through = noise.T @ (by_made @ discriminator.T * (1 - made**2))
    return (real.T @ by_real + made.T @ by_made, through), (-made.T @ by_made, -through)


def _descent(both, real, noise, discriminator, generator):
    """Weights after each round of steepest descent; of `both`, each step moves both networks."""
    steps = []
    for _ in range(ROUNDS):
        (d, g), _ = _gradients(real, noise, discriminator, generator)
        discriminator, generator = discriminator - 0.5 * d, generator - 0.5 * g * both
        _, (d, g) = _gradients(real, noise, discriminator, generator)
        discriminator, generator = discriminator - 0.5 * d * both, generator - 0.5 * g
        steps.append((discriminator, generator))
    return tuple(np.stack(s) for s in zip(*steps, strict=True))


def _adam(times, *inputs):
    """Weights after each round of Adam; `times(round)` are the exponents of the betas in the round's two steps."""
    real, noise, *weights = inputs
    moments: list[Any] = [(0, 0), (0, 0)]
    steps = []
    for round in range(ROUNDS):
        for which, t in enumerate(times(round)):
            g = _gradients(real, noise, *weights)[which][which]
            m, v = moments[which]
            m, v = moments[which] = 0.5 * m + 0.5 * g, 0.75 * v + 0.25 * g * g
            rate = 0.125 * np.sqrt(1 - np.longdouble(0.75) ** t) / (1 - np.longdouble(0.5) ** t)
            weights[which] = weights[which] - rate * m / (np.sqrt(v) + 0.125)
        steps.append(tuple(weights))
    return tuple(np.stack(s) for s in zip(*steps, strict=True))


def _wide(reference):
    return lambda *inputs: reference(*(x.astype(np.longdouble) for x in inputs))


@_wide
def _in_turn(*inputs):
    return _descent(0, *inputs)


@_wide
def _both_at_once(*inputs):
    return _descent(1, *inputs)


@_wide
def _each_adam(*inputs):
    return _adam(lambda round: (round + 1, round + 1), *inputs)


@_wide
def _one_adam(*inputs):
    """Its powers advance with each step that it takes, whichever network that is of."""
    return _adam(lambda round: (2 * round + 1, 2 * round + 2), *inputs)


def _rounding(u, g, *inputs):
    """Weights stay below 2: each of a round's two updates rounds them by u, and what it takes off, half a short sum of
    numbers below 1, by about as much. What was there before shrinks: the rate is below what would overshoot.
    """
    return 4 * u * np.arange(1, ROUNDS + 1).reshape(-1, 1, 1)


def _rounding_in_the_end(u, g, *inputs):
    return _rounding(u, g, *inputs)[-1]


def _with_final(reference):
    """The reference of a program with state: the weights after each round, and those in the end."""

    def stated(*inputs):
        discriminator, generator = reference(*inputs)
        return discriminator, generator, {"discriminator": discriminator[-1], "generator": generator[-1]}

    return stated


def _samples(draw, dtype):
    """Real samples, noise, and the weights to start from: of the discriminator, and of the generator."""
    return tuple(draw.uniform(*shape).astype(dtype) for shape in ((6, 2), (4, 2), (2, 3), (2, 2)))


def _spec(name, program, reference, ops, *claims, evidence, state=None):
    how: dict[str, Any] = {"modes": ("graph",), "sessions": True}
    if state:
        how = {"modes": IN_ORDER, "state": state, "steps": ROUNDS}
        reference = _with_final(reference)
    return Spec(
        name=name,
        program=program,
        reference=reference,
        recipes={"samples": _samples},
        # under op determinism, TensorFlow makes the loss of other ops
        ops=dict.fromkeys(MODES, ops) | {"+deterministic": ops.replace(CROSS_ENTROPY, "LogSoftmax")},
        dtypes=("float32", "float64"),
        evidence=evidence,
        bound={"output": _rounding, "output[2]": _rounding_in_the_end, "output[3]": _rounding_in_the_end},
        claims=claims,
        **how,
    )


def _claim(letter, says, **more):
    return Claim(topic=topics.C23, letter=letter, says=says, about=("output",), **more)


IMPOSSIBLE = "Two networks cannot be trained in turn in one graph."
EACH = "Two networks can be trained in turn with a graph each, between which arrays are handed over."
CROSS_ENTROPY = "SparseSoftmaxCrossEntropyWithLogits"
LOSS = f"{CROSS_ENTROPY};Tanh"

SPECS = (
    _spec(
        "claim-c23-one-graph",
        train_in_one_graph,
        _in_turn,
        f"ResourceApplyGradientDescent;{LOSS}",
        _claim(
            "a",
            IMPOSSIBLE,
            denies=True,
            refuted={"*/*": "var_list says whose variables a step moves; the rest of the graph is only read"},
            instead="claim-c23-one-graph",
        ),
        evidence=f"graphs:1;{MINIMIZE}",
    ),
    _spec(
        "claim-c23-one-program",
        train_in_one_program,
        _in_turn,
        LOSS,
        _claim(
            "a",
            IMPOSSIBLE,
            denies=True,
            plans=("*/function", "*/xla"),
            refuted={"*/*": "one traced function holds both networks; each tape's gradient is asked for one of them"},
            instead="claim-c23-one-program",
        ),
        evidence="called:GradientTape",
        state=two_networks,
    ),
    _spec(
        "claim-c23-two-graphs",
        train_in_two_graphs,
        _in_turn,
        f"ResourceApplyGradientDescent;{LOSS}",
        _claim("b", EACH),
        evidence="graphs:2;sessions:2",
    ),
    _spec(
        "claim-c23-two-functions",
        train_in_two_functions,
        _in_turn,
        LOSS,
        _claim("b", EACH),
        evidence="called:function",
        state=two_networks,
    ),
    _spec(
        "claim-c23-no-var-list",
        train_without_var_list,
        _both_at_once,
        f"ResourceApplyGradientDescent;{LOSS}",
        _claim(
            "c",
            "Minimising the discriminator's loss leaves the generator as it is, and the other way round.",
            reference=_in_turn,
            refuted={"*/*": "without var_list, minimize moves all trainable variables that the loss depends on"},
            instead="claim-c23-one-graph",
        ),
        evidence=f"graphs:1;{MINIMIZE}",
    ),
    _spec(
        "claim-c23-one-adam",
        train_by_one_adam,
        _one_adam,
        f"ResourceApplyAdam;{LOSS}",
        _claim(
            "d",
            "One Adam can train both networks just as two would.",
            reference=_each_adam,
            refuted={
                "*/*": "it has one pair of powers of its betas, which each step advances, whichever network's it is"
            },
            instead="claim-c23-adam-each",
        ),
        evidence=f"graphs:1;{MINIMIZE}",
    ),
    _spec(
        "claim-c23-adam-each",
        train_by_an_adam_each,
        _each_adam,
        f"ResourceApplyAdam;{LOSS}",
        evidence=f"graphs:1;{MINIMIZE}",
    ),
)
