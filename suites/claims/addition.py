"""An addition that a Python function takes over, with a gradient from the rule of the whole product: C01."""

import numpy as np

from tf_opdiff.harness.spec.plan import MODES
from tf_opdiff.harness.spec.recipes import plain
from tf_opdiff.harness.spec.spec import Claim, Raises, Side, Spec
from tf_opdiff.suites.claims import topics
from tf_opdiff.suites.claims.subjects import CUSTOM_GRADIENT, MINIMIZE, PY_FUNC, py_func_mapped
from tf_opdiff.suites.reference.registered import registered

RATE = 0.125
STEPS = 6
EXCEPT_XLA = ("*/eager", "*/function", "*/graph")
TAPE = "a tape records an op by its type and never sees the mark that the map left on the node"
TAPE_LINK = "https://github.com/tensorflow/tensorflow/issues/36870"
NO_KERNEL = "XLA has no kernel of PyFunc, and refuses the program"
REFUSED = Side(
    reference=lambda *inputs: Raises("INVALID_ARGUMENT", "unsupported operations"),
    why="not compatible with XLA: calling it inside tf.function(jit_compile=True) raises an error",
    link="https://www.tensorflow.org/api_docs/python/tf/numpy_function",
)
FORMULA = (
    "g is the upstream of e, δ·d: the formula gives δ·(e + 2·d·e + d²) and δ·d², where δ·(e + d) and δ·d are right"
)


# Programs: d = x + c, e = c + k, and the loss of a = d·e.
def cross_entropy(tf, logits, label):
    return tf.nn.sparse_softmax_cross_entropy_with_logits(labels=label, logits=logits)


def plain_loss(tf, x, c, k, label):
    d = x + c
    e = c + k
    return cross_entropy(tf, d * e, label)


def add(c, k, d):
    return c + k


def add_gradient(op, g):
    d = op.inputs[2]
    e = op.outputs[0]
    return (e + d) * g, d * g, e * g


def overridden_sum(tf, c, k, d):
    registered(tf, "AddGradient", add_gradient)
    with tf.compat.v1.get_default_graph().gradient_override_map({"PyFunc": "AddGradient"}), tf.device("CPU:0"):
        e = tf.compat.v1.py_func(add, [c, k, d], c.dtype)
    return tf.ensure_shape(e, c.shape)


def overridden_loss(tf, x, c, k, label):
    d = x + c
    e = overridden_sum(tf, c, k, d)
    return cross_entropy(tf, d * e, label)


def called_loss(tf, x, c, k, label):
    @tf.function(autograph=False)
    def loss(x, c, k, label):
        return overridden_loss(tf, x, c, k, label)

    return loss(x, c, k, label)


def closing_over_d(tf, x, c, k, label):
    @tf.function(autograph=False)
    def loss(x, c, k, label):
        d = x + c
        name = unused_name("AddGradient")

        @tf.RegisterGradient(name)
        def gradient(op, g):
            e = op.outputs[0]
            return (e + d) * g, d * g

        with tf.compat.v1.get_default_graph().gradient_override_map({"PyFunc": name}), tf.device("CPU:0"):
            e = tf.compat.v1.py_func(lambda c, k: c + k, [c, k], c.dtype)
        return cross_entropy(tf, d * tf.ensure_shape(e, c.shape), label)

    return loss(x, c, k, label)


def sum_gradient(op, g):
    return g, g, None


def mended_loss(tf, x, c, k, label):
    registered(tf, "SumGradient", sum_gradient)

    @tf.function(autograph=False)
    def loss(x, c, k, label):
        d = x + c
        with tf.compat.v1.get_default_graph().gradient_override_map({"PyFunc": "SumGradient"}), tf.device("CPU:0"):
            e = tf.compat.v1.py_func(add, [c, k, d], c.dtype)
        return cross_entropy(tf, d * tf.ensure_shape(e, c.shape), label)

    return loss(x, c, k, label)


def custom_sum(tf, c, k):
    @tf.custom_gradient
    def plus(c, k):
        return c + k, lambda g: (g, g)

    return plus(c, k)


def custom_loss(tf, x, c, k, label):
    d = x + c
    e = custom_sum(tf, c, k)
    return cross_entropy(tf, d * e, label)


def closing_in_custom_gradient(tf, x, c, k, label):
    d = x + c

    @tf.custom_gradient
    def plus(c, k):
        e = c + k
        return e, lambda g: ((e + d) * g, d * g)

    return cross_entropy(tf, d * plus(c, k), label)


# Names of gradients.
_used: list[str] = []


def unused_name(name):
    _used.append(name)
    return f"{name}{len(_used)}"


def register_twice(tf, x):
    tf.RegisterGradient("AddGradientTwice")(add_gradient)
    tf.RegisterGradient("AddGradientTwice")(add_gradient)
    return x


def register_in_two_graphs(tf, x):
    for graph in (tf.Graph(), tf.Graph()):
        with graph.as_default():
            tf.RegisterGradient("AddGradientOfGraph")(add_gradient)
    return x


# Training.
def train(tf, session, loss_of, step_of, x, c, k, label):
    with session() as s:
        weights = [tf.compat.v1.get_variable(name, initializer=value) for name, value in (("c", c), ("k", k))]
        loss = loss_of(tf, tf.constant(x), *weights, tf.constant(label))
        step = step_of(tf.compat.v1.train.AdamOptimizer(RATE), loss)
        s.run(tf.compat.v1.global_variables_initializer())
        rows = []
        for _ in range(STEPS):
            before = s.run(loss)
            s.run(step)
            rows.append((before, *s.run(weights)))
    return [np.stack(column) for column in zip(*rows, strict=True)]


def compute_and_apply(adam, loss):
    return adam.apply_gradients(adam.compute_gradients(loss))


def minimize(adam, loss):
    return adam.minimize(loss)


def train_plain(tf, session, x, c, k, label):
    return train(tf, session, plain_loss, minimize, x, c, k, label)


def train_overridden(tf, session, x, c, k, label):
    return train(tf, session, overridden_loss, compute_and_apply, x, c, k, label)


def train_by_minimize(tf, session, x, c, k, label):
    return train(tf, session, overridden_loss, minimize, x, c, k, label)


def weights(tf, x, c, k, label):
    return {"c": tf.Variable(c), "k": tf.Variable(k), "_adam": tf.compat.v1.train.AdamOptimizer(RATE)}


def adam_step(tf, state, x, label, sum_of):
    with tf.GradientTape() as tape:
        c, k = tf.identity(state["c"]), tf.identity(state["k"])
        d = x + c
        e = sum_of(tf, c, k, d)
        loss = cross_entropy(tf, d * e, label)
    gradients = tape.gradient(loss, [state["c"], state["k"]])
    step = state["_adam"].apply_gradients(zip(gradients, [state["c"], state["k"]], strict=True))
    with tf.control_dependencies([step]):
        return tf.identity(loss)


def sum_by_formula(tf, c, k, d):
    @tf.custom_gradient
    def plus(c, k, d):
        e = c + k
        return e, lambda g: ((e + d) * g, d * g, e * g)

    return plus(c, k, d)


def sum_by_custom_gradient(tf, c, k, d):
    return custom_sum(tf, c, k)


def train_by_formula(tf, state, x, c, k, label):
    return adam_step(tf, state, x, label, sum_by_formula)


def train_by_custom_gradient(tf, state, x, c, k, label):
    return adam_step(tf, state, x, label, sum_by_custom_gradient)


# References.
def _parts(x, c, k, label):
    """d, e, and δ, the derivative of the loss by a = d·e."""
    d, e = x + c, c + k
    p = np.exp(d * e - np.max(d * e))
    return d, e, p / np.sum(p) - (np.arange(x.size) == label)


def _loss(x, c, k, label):
    a = (x + c) * (c + k)
    return np.max(a) + np.log(np.sum(np.exp(a - np.max(a)))) - a[int(label)]


def _right(g, x, c, k, label):
    d, e, delta = _parts(x, c, k, label)
    return g * delta * e, g * delta * (e + d), g * delta * d, None


def _by_formula(g, x, c, k, label):
    """What the formula gives: to c by itself, by d from the formula, and by d from the product."""
    d, e, delta = _parts(x, c, k, label)
    upstream = g * delta * d
    to_d = g * delta * e + e * upstream
    return to_d, (e + d) * upstream + to_d, d * upstream, None


def _by_d_only(g, x, c, k, label):
    """Without a gradient of e: what reaches c by d."""
    _, e, delta = _parts(x, c, k, label)
    return g * delta * e, g * delta * e, None, None


def _closed(g, x, c, k, label):
    """The formula without its third part."""
    d, e, delta = _parts(x, c, k, label)
    upstream = g * delta * d
    return g * delta * e, (e + d) * upstream + g * delta * e, d * upstream, None


def _adam(gradient, x, c, k, label):
    """Losses before each step, and weights after it.

    The optimizer keeps its rates, and their powers, in float32, whatever the weights are.
    """
    beta1, beta2, epsilon = np.float32(0.9), np.float32(0.999), float(np.float32(1e-8))
    power1, power2 = beta1, beta2
    moments = [[np.zeros_like(c)] * 2 for _ in range(2)]
    losses: list[np.ndarray] = []
    trajectory: list[list[np.ndarray]] = [[], []]
    for _ in range(STEPS):
        losses.append(_loss(x, c, k, label))
        gradients = gradient(1.0, x, c, k, label)[1:3]
        rate = RATE * np.sqrt(1 - float(power2)) / (1 - float(power1))
        moved = []
        for i, (w, g) in enumerate(zip((c, k), gradients, strict=True)):
            m, v = moments[i]
            m, v = m + (g - m) * (1 - float(beta1)), v + (g * g - v) * (1 - float(beta2))
            moments[i] = [m, v]
            moved.append(w - rate * m / (np.sqrt(v) + epsilon))
            trajectory[i].append(moved[-1])
        c, k = moved
        power1, power2 = power1 * beta1, power2 * beta2
    return tuple(np.stack(column) for column in (losses, *trajectory))


def _trained(gradient):
    """The trajectory as a program with sessions gives it."""
    return lambda *inputs: _adam(gradient, *inputs)


def _steps(gradient):
    """The same of a program with state."""

    def reference(*inputs):
        losses, c, k = _adam(gradient, *inputs)
        return losses, {"c": c[-1], "k": k[-1]}

    return reference


def _net(draw, dtype):
    """x, c and k with two elements each, and the number of the right one."""
    numbers = (draw.uniform(2, low=0.25, high=1.5) * np.where(draw.booleans(2), 1, -1) for _ in range(3))
    return (*(n.astype(dtype) for n in numbers), draw.integers(low=0, high=2))


def _loss_bound(u, g, x, c, k, label):
    """Of a = d·e, rounded three times, in both terms; of the exponentials, their sum, and its logarithm."""
    return 8 * u * (1 + 2 * np.max(np.abs((x + c) * (c + k))))


def _grad_bound(u, g, x, c, k, label):
    """Of δ, whose derivative by an exponent is a quarter at most, and of the products and sums that make each term."""
    d, e, _ = _parts(x, c, k, label)
    terms = np.abs(d) + np.abs(e) + 2 * np.abs(d * e) + d * d
    return np.abs(g) * u * terms * (13 + 2 * np.max(np.abs(d * e)))


def _trained_bound(u, g, *inputs):
    """A step moves a weight by the rate at most, or little more, and takes over the relative error of its gradient."""
    return STEPS * RATE * 256 * u


BOTH = {"output": _loss_bound, "grad": _grad_bound}
TRAINED = {"output": _trained_bound}
TRAINED_BY_MAP = f"{PY_FUNC};ran:PyFunc;replaced:PyFunc=AddGradient;ran:ResourceApplyAdam"
NET = {"net": _net}
#: Under op determinism, TensorFlow makes the loss of other ops.
OPS = dict.fromkeys(MODES, "AddV2;Mul;SparseSoftmaxCrossEntropyWithLogits") | {"+deterministic": "AddV2;Mul;LogSoftmax"}
FLOAT = ("float32", "float64")
TAPED = dict.fromkeys(("*/eager", "*/function"), Side(reference=_loss, vjp=_by_d_only, why=TAPE, link=TAPE_LINK))
NO_GRADIENT = f"{TAPE}: PyFunc has no gradient of its own, so that k gets None, and c what comes by d"
SAME = {"*/xla": NO_KERNEL}

SPECS = (
    Spec(
        name="claim-c01-overridden",
        program=overridden_loss,
        reference=_loss,
        vjp=_by_formula,
        bound=BOTH,
        recipes=NET,
        ops=OPS,
        evidence=py_func_mapped("AddGradient"),
        dtypes=FLOAT,
        contract={"*/xla": REFUSED} | TAPED,
        claims=(
            Claim(
                topic=topics.C01,
                letter="a",
                says="The loss is unchanged.",
                about=("output",),
                refuted=SAME,
                instead="claim-c01-custom-gradient",
            ),
            Claim(
                topic=topics.C01,
                letter="b",
                says="The gradients of c and k are the same as with tf.add.",
                about=("grad[1]", "grad[2]"),
                vjp=_right,
                refuted=SAME | {"*/graph": FORMULA, "*/*": NO_GRADIENT},
                instead="claim-c01-custom-gradient",
            ),
        ),
    ),
    Spec(
        name="claim-c01-overridden-called",
        program=called_loss,
        reference=_loss,
        vjp=_by_formula,
        bound=BOTH,
        recipes=NET,
        ops=OPS,
        evidence=f"{PY_FUNC};called:function;replaced:PyFunc=AddGradient",
        dtypes=FLOAT,
        contract={"*/xla": REFUSED},
        claims=(
            Claim(
                topic=topics.C01,
                letter="f",
                says="Where the map is honoured, as around a tf.function, the gradients are those of tf.add.",
                about=("grad[1]", "grad[2]"),
                vjp=_right,
                refuted=SAME | {"*/*": FORMULA},
                instead="claim-c01-custom-gradient",
            ),
        ),
    ),
    Spec(
        name="claim-c01-closing-over-d",
        program=closing_over_d,
        reference=_loss,
        vjp=_closed,
        bound=BOTH,
        recipes=NET,
        ops=OPS,
        evidence=f"{PY_FUNC};called:function;replaced:PyFunc",
        dtypes=FLOAT,
        contract={"*/xla": REFUSED},
        claims=(
            Claim(
                topic=topics.C01,
                letter="c",
                says="d must be passed to the Python function for the gradient to use it.",
                about=("grad[1]", "grad[2]"),
                denies=True,
                plans=EXCEPT_XLA,
                refuted={"*/*": "a gradient function may use any tensor of the graph that it closes over"},
                instead="claim-c01-closing-in-custom-gradient",
            ),
        ),
    ),
    Spec(
        name="claim-c01-closing-in-custom-gradient",
        program=closing_in_custom_gradient,
        reference=_loss,
        vjp=_closed,
        bound=BOTH,
        recipes=NET,
        ops=OPS,
        evidence=CUSTOM_GRADIENT,
        dtypes=FLOAT,
    ),
    Spec(
        name="claim-c01-mended",
        program=mended_loss,
        reference=_loss,
        vjp=_right,
        bound=BOTH,
        recipes=NET,
        ops=OPS,
        evidence=f"{PY_FUNC};called:function;replaced:PyFunc=SumGradient",
        dtypes=FLOAT,
        contract={"*/xla": REFUSED},
    ),
    Spec(
        name="claim-c01-custom-gradient",
        program=custom_loss,
        reference=_loss,
        vjp=_right,
        bound=BOTH,
        recipes=NET,
        ops=OPS,
        evidence=CUSTOM_GRADIENT,
        dtypes=FLOAT,
    ),
    Spec(
        name="claim-c01-register-twice",
        program=register_twice,
        reference=lambda x: Raises("KeyError", "Registering two gradient with name 'AddGradientTwice'!"),
        recipes={"plain": plain},
        ops="",
        evidence="called:RegisterGradient",
        claims=(
            Claim(
                topic=topics.C01,
                letter="e",
                says="The name of a gradient must be unique: registering it a second time is an error.",
                about=("output",),
            ),
        ),
    ),
    Spec(
        name="claim-c01-register-in-two-graphs",
        program=register_in_two_graphs,
        reference=lambda x: Raises("KeyError", "Registering two gradient with name 'AddGradientOfGraph'!"),
        recipes={"plain": plain},
        ops="",
        evidence="called:RegisterGradient;called:Graph",
        claims=(
            Claim(
                topic=topics.C01,
                letter="g",
                says="It is enough that the name is unique in its graph.",
                about=("output",),
                reference=lambda x: x,
                refuted={"*/*": "names of gradients belong to the process: the graph of the first does not matter"},
                instead="claim-c01-closing-over-d",
            ),
        ),
    ),
    Spec(
        name="claim-c01-train-plain",
        program=train_plain,
        reference=_trained(_right),
        bound=TRAINED,
        recipes=NET,
        ops=OPS,
        evidence="ran:ResourceApplyAdam",
        dtypes=FLOAT,
        modes=("graph",),
        sessions=True,
    ),
    Spec(
        name="claim-c01-train-overridden",
        program=train_overridden,
        reference=_trained(_by_formula),
        bound=TRAINED,
        recipes=NET,
        ops=OPS,
        evidence=f"{TRAINED_BY_MAP};called:compat.v1.train.Optimizer.compute_gradients",
        dtypes=FLOAT,
        modes=("graph",),
        sessions=True,
        claims=(
            Claim(
                topic=topics.C01,
                letter="h",
                says="Training is the same as with tf.add.",
                about=("output",),
                reference=_trained(_right),
                refuted={"*/graph": f"{FORMULA}; Adam takes another path"},
                instead="claim-c01-train-plain",
            ),
        ),
    ),
    Spec(
        name="claim-c01-train-by-minimize",
        program=train_by_minimize,
        reference=_trained(_by_formula),
        bound=TRAINED,
        recipes=NET,
        ops=OPS,
        evidence=f"{TRAINED_BY_MAP};{MINIMIZE}",
        dtypes=FLOAT,
        modes=("graph",),
        sessions=True,
        claims=(
            Claim(
                topic=topics.C01,
                letter="d",
                says="compute_gradients and apply_gradients must be called explicitly: minimize does not do for an "
                "overridden gradient.",
                about=("output",),
                denies=True,
                refuted={"*/graph": "minimize calls the two: every step is the same"},
                instead="claim-c01-train-by-custom-gradient",
            ),
        ),
    ),
    Spec(
        name="claim-c01-train-by-formula",
        program=train_by_formula,
        reference=_steps(_by_formula),
        bound=TRAINED,
        recipes=NET,
        ops=OPS,
        evidence=f"{CUSTOM_GRADIENT};built:ResourceApplyAdam",
        dtypes=FLOAT,
        state=weights,
        steps=STEPS,
        claims=(
            Claim(
                topic=topics.C01,
                letter="i",
                says="Training is the same as with tf.add where tf.custom_gradient takes the place of the map.",
                about=("output",),
                reference=_steps(_right),
                refuted={"*/*": f"{FORMULA}; Adam takes another path"},
                instead="claim-c01-train-by-custom-gradient",
            ),
        ),
    ),
    Spec(
        name="claim-c01-train-by-custom-gradient",
        program=train_by_custom_gradient,
        reference=_steps(_right),
        bound=TRAINED,
        recipes=NET,
        ops=OPS,
        evidence=f"{CUSTOM_GRADIENT};built:ResourceApplyAdam",
        dtypes=FLOAT,
        state=weights,
        steps=STEPS,
    ),
)
