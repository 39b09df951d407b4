"""Gradients that are None because a tensor is not on the way: a result that was assigned to (C14), a shifted point
(C16)."""

from typing import Any

import numpy as np

from tf_opdiff.harness.spec.spec import Claim, Raises, Spec
from tf_opdiff.suites.claims import topics


# C14.
def zero_result(tf, prod, box):
    return {"result": tf.Variable(tf.zeros([prod.shape[0], box.shape[0]], prod.dtype))}


def difference_by_assigning(tf, state, prod, box):
    result, assigned = state["result"], []
    for i in range(prod.shape[0]):
        for j in range(box.shape[0]):
            volume = tf.reduce_prod(tf.abs(prod[i] - box[j]))
            assigned.append(result[i, j].assign(volume))
    with tf.control_dependencies(assigned):
        return tf.identity(result)


def difference_by_stacking(tf, prod, box):
    rows = []
    for i in range(prod.shape[0]):
        volumes = [tf.reduce_prod(tf.abs(prod[i] - box[j])) for j in range(box.shape[0])]
        rows.append(tf.stack(volumes))
    return tf.stack(rows)


def difference(tf, prod, box):
    sides = tf.abs(prod[:, tf.newaxis, :] - box[tf.newaxis, :, :])
    return tf.reduce_prod(sides, axis=-1)


def _corners(draw, dtype):
    """Corners of four boxes and of three, in eighths; never in the same place along any axis."""
    prod = draw.integers(4, 3, low=-8, high=8) / 4
    box = draw.integers(3, 3, low=-8, high=8) / 4 + 0.125
    return prod.astype(dtype), box.astype(dtype)


def _sides(prod, box):
    return prod[:, None, :] - box[None, :, :]


def _volumes(prod, box):
    return np.prod(np.abs(_sides(prod, box)), -1)


def _by_side(g, prod, box):
    """What each side contributes: the upstream times the other two, with the side's sign."""
    sides = _sides(prod, box)
    others = np.stack([np.prod(np.abs(np.delete(sides, k, -1)), -1) for k in range(3)], -1)
    return g[:, :, None] * np.sign(sides) * others


def _to_corners(g, prod, box):
    terms = _by_side(g, prod, box)
    return terms.sum(1), -terms.sum(0)


#: The sides are exact. Two roundings in a product of three; in a gradient, three in each term, one less than terms in
#: their sum, and one more for what TensorFlow may put in between.
VOLUME = {"output": lambda u, g, prod, box: 2 * u * _volumes(prod, box)}
CORNERS = {
    "grad[0]": lambda u, g, prod, box: 6 * u * np.abs(_by_side(g, prod, box)).sum(1),
    "grad[1]": lambda u, g, prod, box: 7 * u * np.abs(_by_side(g, prod, box)).sum(0),
}


# C16.
def f(tf, a):
    return tf.reduce_sum(a * a * a)


def gradient_of_f(tf, a):
    with tf.GradientTape() as tape:
        tape.watch(a)
        b = f(tf, a)
    return tape.gradient(b, a)


def gradient_at_sum(tf, a, delta):
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(a)
        b = f(tf, a)
        shifted = a + delta
    before = tape.gradient(b, a)
    after = tape.gradient(b, shifted)
    return tf.norm(after - before) / tf.norm(delta)


def gradients_at_sum(tf, a, delta):
    b = f(tf, a)
    before = tf.gradients(b, a)[0]
    after = tf.gradients(b, a + delta)[0]
    return tf.norm(after - before) / tf.norm(delta)


def rebuilt(tf, a, delta):
    before = gradient_of_f(tf, a)
    after = gradient_of_f(tf, a + delta)
    return tf.norm(after - before) / tf.norm(delta)


def moved(tf, session, a, delta):
    with session() as s:
        point = tf.compat.v1.get_variable("point", initializer=a)
        gradient = tf.gradients(f(tf, point), point)[0]
        s.run(tf.compat.v1.global_variables_initializer())
        before = s.run(gradient)
        s.run(point.assign_add(delta))
        after = s.run(gradient)
        return s.run(tf.norm(after - before) / tf.norm(delta))


def hessian_norm(tf, a, delta):
    with tf.GradientTape() as tape:
        tape.watch(a)
        gradient = gradient_of_f(tf, a)
    return tf.norm(tape.jacobian(gradient, a))


def point(tf, a, delta):
    return {"point": tf.Variable(a)}


def moved_in_order(tf, state, a, delta):
    before = gradient_of_f(tf, state["point"])
    state["point"].assign_add(delta)
    after = gradient_of_f(tf, state["point"])
    return tf.norm(after - before) / tf.norm(delta)


def _point(draw, dtype):
    """A point, and a step that is small beside it."""
    a = draw.integers(9, low=-16, high=16) / 8 + 2.0625
    delta = draw.integers(9, low=-8, high=8) / 512 + 2.0**-11
    return a.astype(dtype), delta.astype(dtype)


def _estimate(a, delta):
    """The gradient is 3·a²."""
    change = 3 * (a + delta) ** 2 - 3 * a**2
    return np.sqrt(np.sum(change**2)) / np.sqrt(np.sum(delta**2))


def _estimate_bound(u, g, a, delta):
    """Each gradient is a sum of three products of two: 5 roundings at most, then one of a + delta, which counts twice,
    and one of the difference. A norm of n numbers is off by n/2 + 1 roundings at most, and there are two."""
    gradients = 3 * (a + delta) ** 2 + 3 * a**2
    return u * (8 * np.sqrt(np.sum(gradients**2) / np.sum(delta**2)) + (a.size + 4) * _estimate(a, delta))


def _along_delta(a, delta):
    """How far the Hessian, which has 6·a on its diagonal, takes a step along delta, for its length."""
    return np.sqrt(np.sum((6 * a * delta) ** 2)) / np.sqrt(np.sum(delta**2))


def _hessian_norm(a, delta):
    return np.sqrt(np.sum((6 * a) ** 2))


def _none(a, delta):
    return Raises("ValueError", "None")


UNUSED = "b was computed of a: a + delta is another tensor, made afterwards, on which b does not depend"
FLOAT = ("float32", "float64")
#: To a part in 128: the estimate is off by the step's squares, 3·‖δ²‖/‖δ‖, which are less than 3/60.
NEARLY: dict[str, Any] = {"output": {"float32": 2**17, "float64": 2**46}}

SPECS = (
    Spec(
        name="claim-c14-assigned",
        program=difference_by_assigning,
        state=zero_result,
        reference=lambda prod, box: (_volumes(prod, box), {"result": _volumes(prod, box)}),
        vjp=lambda g, prod, box: (None, None, g),
        bound={"output": VOLUME["output"]},
        recipes={"corners": _corners},
        ops="ResourceStridedSliceAssign;Prod",
        dtypes=("float16", "float32"),
        claims=(
            Claim(
                topic=topics.C14,
                letter="a",
                says="A result that was assigned to, element by element, has no gradient: it is None.",
                about=("grad[0]", "grad[1]"),
            ),
        ),
    ),
    Spec(
        name="claim-c14-stacked",
        program=difference_by_stacking,
        reference=_volumes,
        vjp=_to_corners,
        bound=VOLUME | CORNERS,
        recipes={"corners": _corners},
        ops="Pack;Prod",
        dtypes=("float16", "float32"),
        claims=(
            Claim(
                topic=topics.C14,
                letter="b",
                says="The assignment stops the gradient, not the loops: the same elements, stacked, have one.",
                about=("grad",),
            ),
        ),
    ),
    Spec(
        name="claim-c14-broadcast",
        program=difference,
        reference=_volumes,
        vjp=_to_corners,
        bound=VOLUME | CORNERS,
        recipes={"corners": _corners},
        ops="Prod;Sub",
        dtypes=("float16", "float32", "float64"),
        claims=(
            Claim(
                topic=topics.C14,
                letter="c",
                says="Rewritten with broadcasting and reduce_prod, it has the gradient.",
                about=("grad",),
            ),
        ),
    ),
    Spec(
        name="claim-c16-tape-at-sum",
        program=gradient_at_sum,
        reference=_none,
        recipes={"point": _point},
        ops="",
        evidence="called:GradientTape",
        claims=(
            Claim(
                topic=topics.C16,
                letter="d",
                says="The gradient of b by a + delta is None, on a tape, and nothing can be subtracted from it.",
                about=("output",),
            ),
        ),
    ),
    Spec(
        name="claim-c16-gradients-at-sum",
        program=gradients_at_sum,
        reference=_none,
        recipes={"point": _point},
        ops="",
        evidence="called:gradients",
        modes=("function", "xla", "graph"),  # tf.gradients needs a graph
        claims=(
            Claim(
                topic=topics.C16,
                letter="a",
                says="tf.gradients(b, a + delta) is None, and nothing can be subtracted from it.",
                about=("output",),
            ),
        ),
    ),
    Spec(
        name="claim-c16-rebuilt",
        program=rebuilt,
        reference=_estimate,
        bound={"output": _estimate_bound},
        recipes={"point": _point},
        ops="Mul;Sum;Sqrt",
        evidence="called:GradientTape",
        dtypes=FLOAT,
        claims=(
            Claim(
                topic=topics.C16,
                letter="b",
                says="With f built once more at a + delta, the gradients differ by what the Hessian makes of delta.",
                about=("output",),
                reference=_along_delta,
                ulp=NEARLY,
            ),
            Claim(
                topic=topics.C16,
                letter="f",
                says="Their difference, divided by the length of delta, is the norm of the Hessian.",
                about=("output",),
                reference=_hessian_norm,
                ulp=NEARLY,
                refuted={
                    "*/*": "it is how much the Hessian stretches delta, and no direction is stretched more than that"
                },
                instead="claim-c16-hessian-norm",
            ),
        ),
    ),
    Spec(
        name="claim-c16-hessian-norm",
        program=hessian_norm,
        reference=_hessian_norm,
        ulp={"output": 8},
        recipes={"point": _point},
        ops="Mul;Sqrt",
        evidence="called:GradientTape",
        dtypes=FLOAT,
    ),
    Spec(
        name="claim-c16-moved",
        program=moved,
        reference=_estimate,
        bound={"output": _estimate_bound},
        recipes={"point": _point},
        ops="Mul;Sum;Sqrt;AssignAddVariableOp",
        evidence="called:gradients;ran:AssignAddVariableOp",
        dtypes=FLOAT,
        modes=("graph",),
        sessions=True,
        claims=(
            Claim(
                topic=topics.C16,
                letter="c",
                says="With the variable moved by delta between two runs, the same gradient op gives both gradients.",
                about=("output",),
            ),
        ),
    ),
    Spec(
        name="claim-c16-moved-in-order",
        program=moved_in_order,
        state=point,
        reference=lambda a, delta: (_estimate(a, delta), {"point": a + delta}),
        bound={"output[0]": _estimate_bound},
        recipes={"point": _point},
        ops="Mul;Sum;Sqrt;AssignAddVariableOp",
        evidence="called:GradientTape",
        dtypes=FLOAT,
        modes=("eager", "function", "xla"),  # a graph orders nothing unless told to
        claims=(
            Claim(
                topic=topics.C16,
                letter="e",
                says="Where programs run in their order, the variable can be moved in the midst of one.",
                about=("output[0]",),
            ),
        ),
    ),
)
