"""Freezing part of a variable by a mask, and what optimisers with a memory make of it: C15.

In a v1 graph the optimisers are those of `tf.compat.v1.train`, elsewhere those of Keras.
"""

from dataclasses import replace

import numpy as np

from tf_opdiff.harness.spec.recipes import FLOATS
from tf_opdiff.harness.spec.spec import Claim, Raises, Spec
from tf_opdiff.suites.claims import topics
from tf_opdiff.suites.claims.subjects import MINIMIZE
from tf_opdiff.suites.references import training
from tf_opdiff.suites.references.running import bound

TF2 = ("eager", "function", "xla")


# The mask.
def masked(tf, weights, mask):
    return mask * weights + tf.stop_gradient(tf.abs(1 - mask) * weights)


def error(tf, weights, x, y):
    return tf.reduce_mean(tf.square(tf.linalg.matvec(x, weights) - y))


# In a session.
def train_in_session(tf, session, optimizer, weights, masks, x, y):
    with session() as s:
        w = tf.compat.v1.get_variable("w", initializer=weights)
        mask = tf.compat.v1.placeholder(w.dtype, w.shape)
        train = optimizer.minimize(error(tf, masked(tf, w, mask), x, y))
        s.run(tf.compat.v1.global_variables_initializer())
        trajectory = [weights]
        for now in masks:
            s.run(train, {mask: now})
            trajectory.append(s.run(w))
    return np.stack(trajectory[1:]), np.diff(trajectory, axis=0) != 0


def sgd_in_session(tf, session, weights, masks, x, y):
    sgd = tf.compat.v1.train.GradientDescentOptimizer(0.125)
    return train_in_session(tf, session, sgd, weights, masks, x, y)


def momentum_in_session(tf, session, weights, masks, x, y):
    momentum = tf.compat.v1.train.MomentumOptimizer(0.125, momentum=0.75)
    return train_in_session(tf, session, momentum, weights, masks, x, y)


def adam_in_session(tf, session, weights, masks, x, y):
    adam = tf.compat.v1.train.AdamOptimizer(0.125, beta1=0.75, beta2=0.875, epsilon=2**-10)
    return train_in_session(tf, session, adam, weights, masks, x, y)


def zero_slots_in_session(tf, session, weights, masks, x, y):
    with session() as s:
        w = tf.compat.v1.get_variable("w", initializer=weights)
        mask = tf.compat.v1.placeholder(w.dtype, w.shape)
        adam = tf.compat.v1.train.AdamOptimizer(0.125, beta1=0.75, beta2=0.875, epsilon=2**-10)
        train = adam.minimize(error(tf, masked(tf, w, mask), x, y))
        slots = [adam.get_slot(w, name) for name in ("m", "v")]
        forget = [slot.assign(slot * mask) for slot in slots]
        s.run(tf.compat.v1.global_variables_initializer())
        trajectory = [weights]
        for now in masks:
            s.run(forget, {mask: now})
            s.run(train, {mask: now})
            trajectory.append(s.run(w))
    return np.stack(trajectory[1:]), np.diff(trajectory, axis=0) != 0


def zero_m_in_session(tf, session, weights, masks, x, y):
    with session() as s:
        w = tf.compat.v1.get_variable("w", initializer=weights)
        mask = tf.compat.v1.placeholder(w.dtype, w.shape)
        adam = tf.compat.v1.train.AdamOptimizer(0.125, beta1=0.75, beta2=0.875, epsilon=2**-10)
        train = adam.minimize(error(tf, masked(tf, w, mask), x, y))
        m = adam.get_slot(w, "m")
        forget = m.assign(m * mask)
        s.run(tf.compat.v1.global_variables_initializer())
        trajectory = [weights]
        for now in masks:
            s.run(forget, {mask: now})
            s.run(train, {mask: now})
            trajectory.append(s.run(w))
    return np.stack(trajectory[1:]), np.diff(trajectory, axis=0) != 0


def restore_slots_in_session(tf, session, weights, masks, x, y):
    with session() as s:
        w = tf.compat.v1.get_variable("w", initializer=weights)
        mask = tf.compat.v1.placeholder(w.dtype, w.shape)
        adam = tf.compat.v1.train.AdamOptimizer(0.125, beta1=0.75, beta2=0.875, epsilon=2**-10)
        train = adam.minimize(error(tf, masked(tf, w, mask), x, y))
        slots = [adam.get_slot(w, name) for name in ("m", "v")]
        s.run(tf.compat.v1.global_variables_initializer())
        trajectory, kept = [], s.run(slots)
        for now in masks:
            for slot, values in zip(slots, kept, strict=True):
                slot.load(values * now, s)
            s.run(train, {mask: now})
            kept = [np.where(now, new, old) for new, old in zip(s.run(slots), kept, strict=True)]
            trajectory.append(s.run(w))
    return np.stack(trajectory)


def subset_in_session(tf, session, first, second, x, y):
    with session() as s:
        a = tf.compat.v1.get_variable("a", initializer=first)
        b = tf.compat.v1.get_variable("b", initializer=second)
        loss = error(tf, tf.concat([a, b], 0), x, y)
        adam = tf.compat.v1.train.AdamOptimizer(0.125, beta1=0.75, beta2=0.875, epsilon=2**-10)
        train_both = adam.minimize(loss, var_list=[a, b])
        train_first = adam.minimize(loss, var_list=[a])
        s.run(tf.compat.v1.global_variables_initializer())
        trajectory = []
        for train in (train_both, train_both, train_first, train_first, train_both, train_both):
            s.run(train)
            trajectory.append(s.run((a, b)))
    first, second = map(np.stack, zip(*trajectory, strict=True))
    return first, second, second[1:] != second[:-1]


def later_in_session(tf, session, first, second, x, y):
    with session() as s:
        a = tf.compat.v1.get_variable("a", initializer=first)
        b = tf.compat.v1.get_variable("b", initializer=second)
        loss = error(tf, tf.concat([a, b], 0), x, y)
        adam = tf.compat.v1.train.AdamOptimizer(0.125, beta1=0.75, beta2=0.875, epsilon=2**-10)
        train_first = adam.minimize(loss, var_list=[a])
        train_both = adam.minimize(loss, var_list=[a, b])
        s.run(tf.compat.v1.global_variables_initializer())
        for train in (train_first, train_both):
            s.run(train)
        return s.run((a, b))


def two_optimizers_in_session(tf, session, first, second, x, y):
    with session() as s:
        a = tf.compat.v1.get_variable("a", initializer=first)
        b = tf.compat.v1.get_variable("b", initializer=second)
        loss = error(tf, tf.concat([a, b], 0), x, y)
        adams = [tf.compat.v1.train.AdamOptimizer(0.125, beta1=0.75, beta2=0.875, epsilon=2**-10) for _ in range(2)]
        train_first = adams[0].minimize(loss, var_list=[a])
        train_both = (train_first, adams[1].minimize(loss, var_list=[b]))
        s.run(tf.compat.v1.global_variables_initializer())
        trajectory = []
        for train in (train_both, train_both, train_first, train_first, train_both, train_both):
            s.run(train)
            trajectory.append(s.run((a, b)))
    first, second = map(np.stack, zip(*trajectory, strict=True))
    return first, second, second[1:] != second[:-1]


# With a tape.
def with_sgd(tf, weights, masks, x, y):
    w = tf.Variable(weights)
    sgd = tf.keras.optimizers.SGD(0.125)
    sgd.build([w])
    return {"w": w, "_optimizer": sgd}


def with_momentum(tf, weights, masks, x, y):
    w = tf.Variable(weights)
    momentum = tf.keras.optimizers.SGD(0.125, momentum=0.75)
    momentum.build([w])
    return {"w": w, "_optimizer": momentum}


def with_adam(tf, weights, masks, x, y):
    w = tf.Variable(weights)
    adam = tf.keras.optimizers.Adam(0.125, beta_1=0.75, beta_2=0.875, epsilon=2**-10)
    adam.build([w])
    return {"w": w, "_optimizer": adam}


def train_step(tf, state, mask, x, y):
    w, optimizer = state["w"], state["_optimizer"]
    with tf.GradientTape() as tape:
        loss = error(tf, masked(tf, w, mask), x, y)
    optimizer.apply(tape.gradient(loss, [w]), [w])


def train_masked(tf, state, weights, masks, x, y):
    w, trajectory, moved = state["w"], [], []
    for mask in tf.unstack(masks):
        before = w.read_value()
        train_step(tf, state, mask, x, y)
        trajectory.append(w.read_value())
        moved.append(trajectory[-1] != before)
    return tf.stack(trajectory), tf.stack(moved)


def zero_slots(tf, state, weights, masks, x, y):
    w, trajectory, moved = state["w"], [], []
    *_, m, v = state["_optimizer"].variables
    for mask in tf.unstack(masks):
        before = w.read_value()
        m.assign(m * mask)
        v.assign(v * mask)
        train_step(tf, state, mask, x, y)
        trajectory.append(w.read_value())
        moved.append(trajectory[-1] != before)
    return tf.stack(trajectory), tf.stack(moved)


def zero_m(tf, state, weights, masks, x, y):
    w, trajectory, moved = state["w"], [], []
    *_, m, _ = state["_optimizer"].variables
    for mask in tf.unstack(masks):
        before = w.read_value()
        m.assign(m * mask)
        train_step(tf, state, mask, x, y)
        trajectory.append(w.read_value())
        moved.append(trajectory[-1] != before)
    return tf.stack(trajectory), tf.stack(moved)


def restore_slots(tf, state, weights, masks, x, y):
    w, trajectory = state["w"], []
    *_, m, v = state["_optimizer"].variables
    kept_m, kept_v = tf.zeros_like(weights), tf.zeros_like(weights)
    for mask in tf.unstack(masks):
        m.assign(kept_m * mask)
        v.assign(kept_v * mask)
        train_step(tf, state, mask, x, y)
        kept_m = tf.where(mask > 0, m, kept_m)
        kept_v = tf.where(mask > 0, v, kept_v)
        trajectory.append(w.read_value())
    return tf.stack(trajectory)


def two_variables(tf, first, second, x, y):
    a, b = tf.Variable(first), tf.Variable(second)
    adam = tf.keras.optimizers.Adam(0.125, beta_1=0.75, beta_2=0.875, epsilon=2**-10)
    adam.build([a, b])
    return {"a": a, "b": b, "_optimizer": adam}


def subset(tf, state, first, second, x, y):
    a, b, adam = state["a"], state["b"], state["_optimizer"]
    trajectory = []
    for trained in ([a, b], [a, b], [a], [a], [a, b], [a, b]):
        with tf.GradientTape() as tape:
            loss = error(tf, tf.concat([a, b], 0), x, y)
        adam.apply(tape.gradient(loss, trained), trained)
        trajectory.append((a.read_value(), b.read_value()))
    first, second = map(tf.stack, zip(*trajectory, strict=True))
    return first, second, second[1:] != second[:-1]


def two_variables_not_built(tf, first, second, x, y):
    adam = tf.keras.optimizers.Adam(0.125, beta_1=0.75, beta_2=0.875, epsilon=2**-10)
    return {"a": tf.Variable(first), "b": tf.Variable(second), "_optimizer": adam}


def later(tf, state, first, second, x, y):
    a, b, adam = state["a"], state["b"], state["_optimizer"]
    for trained in ([a], [a, b]):
        with tf.GradientTape() as tape:
            loss = error(tf, tf.concat([a, b], 0), x, y)
        adam.apply(tape.gradient(loss, trained), trained)
    return a.read_value(), b.read_value()


def two_variables_two_optimizers(tf, first, second, x, y):
    a, b = tf.Variable(first), tf.Variable(second)
    adams = [tf.keras.optimizers.Adam(0.125, beta_1=0.75, beta_2=0.875, epsilon=2**-10) for _ in range(2)]
    adams[0].build([a])
    adams[1].build([b])
    return {"a": a, "b": b, "_optimizers": adams}


def two_optimizers(tf, state, first, second, x, y):
    a, b, adams = state["a"], state["b"], state["_optimizers"]
    trajectory = []
    for trained in ([a, b], [a, b], [a], [a], [a, b], [a, b]):
        with tf.GradientTape() as tape:
            loss = error(tf, tf.concat([a, b], 0), x, y)
        for adam, variable, gradient in zip(adams, trained, tape.gradient(loss, trained), strict=False):
            adam.apply([gradient], [variable])
        trajectory.append((a.read_value(), b.read_value()))
    first, second = map(tf.stack, zip(*trajectory, strict=True))
    return first, second, second[1:] != second[:-1]


# Anywhere.
def own_adam(tf, weights, masks, x, y):
    w, trajectory = weights, []
    m = v = count = tf.zeros_like(weights)
    for mask in tf.unstack(masks):
        with tf.GradientTape() as tape:
            tape.watch(w)
            loss = error(tf, masked(tf, w, mask), x, y)
        gradient = tape.gradient(loss, w)
        count += mask
        m += mask * (gradient - m) * 0.25
        v += mask * (tf.square(gradient) - v) * 0.125
        steps = tf.maximum(count, 1)
        rate = 0.125 * tf.sqrt(1 - 0.875**steps) / (1 - 0.75**steps)
        w -= mask * rate * m / (tf.sqrt(v) + 2**-10)
        trajectory.append(w)
    return tf.stack(trajectory)


# Inputs.
SCHEDULE = np.array(
    [  # a row a step, a column a weight
        [1, 1, 0, 0, 0, 1, 1, 1, 1],
        [1, 1, 0, 0, 0, 1, 1, 1, 1],
        [1, 1, 0, 1, 1, 1, 0, 0, 0],
        [1, 1, 0, 1, 1, 0, 0, 0, 0],
        [1, 1, 0, 1, 1, 0, 0, 1, 1],
        [1, 1, 0, 1, 1, 0, 0, 1, 1],
    ]
)


def _problem(draw, dtype, others):
    """Weights, masks, and a least-squares problem with a sample for each weight; `others` is how much of the rest is
    in it. Nothing comes near its target in a few steps, where a gradient that fades would be mostly rounding.
    """
    x = np.diag(draw.uniform(9, low=1, high=2)) + others * draw.uniform(9, 9)
    y = draw.uniform(9, low=3, high=5) * np.where(draw.booleans(9), 1, -1)
    return tuple(a.astype(dtype) for a in (draw.uniform(9), SCHEDULE, x, y))


def _together(draw, dtype):
    """Each weight matters to the gradients of all."""
    return _problem(draw, dtype, 0.25)


def _apart(draw, dtype):
    """No weight matters to the gradient of another."""
    return _problem(draw, dtype, 0)


def _in_two(recipe):
    """The recipe, with the weights in two parts and no mask."""

    def parts(draw, dtype):
        weights, _, x, y = recipe(draw, dtype)
        return weights[:4], weights[4:], x, y

    return parts


# References.
def _gradient(weights, x, y):
    return 2 / len(y) * ((x @ weights - y) @ x)


def _masked_gradient(weights, mask, x, y):
    return mask * _gradient(mask * weights + np.abs(1 - mask) * weights, x, y)


def _followed(states, weights):
    """The weights after each step, and which of them it moved."""
    trajectory = np.stack(states)
    return trajectory, trajectory != np.concatenate([weights[None], trajectory[:-1]])


def _sgd(weights, masks, x, y):
    w, states = weights, []
    for mask in masks:
        w = training.sgd(w, _masked_gradient(w, mask, x, y))
        states.append(w)
    return _followed(states, weights)


def _momentum(weights, masks, x, y):
    w, accumulated, states = weights, np.zeros_like(weights), []
    for mask in masks:
        w, accumulated = training.momentum(w, accumulated, _masked_gradient(w, mask, x, y))
        states.append(w)
    return _followed(states, weights)


def _adam(weights, masks, x, y, *, zeroed=""):
    w, states = weights, []
    m = v = np.zeros_like(weights)
    for count, mask in enumerate(masks, 1):
        if "m" in zeroed:
            m = m * mask
        if "v" in zeroed:
            v = v * mask
        w, m, v = training.adam(w, m, v, _masked_gradient(w, mask, x, y), count)
        states.append(w)
    return _followed(states, weights)


def _zeroed(weights, masks, x, y):
    return _adam(weights, masks, x, y, zeroed="mv")


def _zeroed_m(weights, masks, x, y):
    return _adam(weights, masks, x, y, zeroed="m")


def _paused(weights, masks, gradient, counts):
    """Adam that passes over masked elements; `counts` are the steps that the bias correction takes each to be in."""
    w, states = weights, []
    m = v = np.zeros_like(weights)
    for mask, count in zip(masks, counts, strict=True):
        new = training.adam(w, m, v, gradient(w, mask), count)
        w, m, v = (np.where(mask > 0, a, b) for a, b in zip(new, (w, m, v), strict=True))
        states.append(w)
    return np.stack(states)


def _all_steps(masks):
    return np.cumsum(np.ones(np.shape(masks)), axis=0)


def _own_steps(masks):
    return np.maximum(np.cumsum(SCHEDULE, axis=0), 1)


def _restored(weights, masks, x, y):
    return _paused(weights, masks, lambda w, mask: _masked_gradient(w, mask, x, y), _all_steps(SCHEDULE))


def _own(weights, masks, x, y):
    return _paused(weights, masks, lambda w, mask: _masked_gradient(w, mask, x, y), _own_steps(SCHEDULE))


def _never_frozen(weights, masks, x, y):
    """Where each weight would be after as many steps as it was not frozen in: the problems are apart."""
    free, _ = _adam(weights, np.ones(masks.shape), x, y)
    free = np.concatenate([weights[None], free])
    return np.take_along_axis(free, np.cumsum(masks, axis=0).astype(int), axis=0)


def _unmasked(masks):
    return masks > 0


def _updated_earlier(masks):
    return np.cumsum(masks, axis=0) > 0


def _moving(reference, which):
    """The prediction that the program moves just these weights, as their masks tell."""
    return lambda weights, masks, x, y: (reference(weights, masks, x, y)[0], which(masks))


SECOND_FROZEN = np.array([[1] * 4 + [both] * 5 for both in (1, 1, 0, 0, 1, 1)])


FIRST_THEN_BOTH = np.array([[1] * 4 + [0] * 5, [1] * 9])


def _in_turn(trained, counts, first, second, x, y):
    """Both variables after each step, which trains the elements that a row of `trained` says."""
    weights = np.concatenate([first, second])
    states = _paused(weights, trained, lambda w, mask: _gradient(w, x, y), counts)
    return states[:, :4], states[:, 4:]


def _by_variable(counts):
    def trajectories(*inputs):
        first, second = _in_turn(SECOND_FROZEN, counts, *inputs)
        return first, second, second[1:] != second[:-1]

    return trajectories


def _later(*inputs):
    first, second = _in_turn(FIRST_THEN_BOTH, _all_steps(FIRST_THEN_BOTH), *inputs)
    return first[-1], second[-1]


def _never_left_out(first, second, x, y):
    """Where each variable would be after as many steps as it was trained in."""
    states = _never_frozen(np.concatenate([first, second]), SECOND_FROZEN, x, y)
    return states[:, :4], states[:, 4:], np.diff(states[:, 4:], axis=0) != 0


_subset = _by_variable(_all_steps(SECOND_FROZEN))
_two_optimizers = _by_variable(np.cumsum(SECOND_FROZEN, axis=0))


def _with_final(reference, *names):
    """The reference, and the last states of trajectories as those of the variables of these names."""

    def promise(*inputs):
        found = reference(*inputs)
        found = found if isinstance(found, tuple) else (found,)
        return (*found, {name: found[i][-1] for i, name in enumerate(names)})

    return promise


#: How the slots of an optimizer are reached: in a session, and elsewhere.
SLOTS = dict.fromkeys(
    ("claim-c15-zeroed-slots", "claim-c15-zeroed-m"),
    (";called:compat.v1.train.Optimizer.get_slot;called:Variable.assign", ";built:AssignVariableOp"),
) | {
    "claim-c15-restored-slots": (
        ";called:compat.v1.train.Optimizer.get_slot;called:Variable.load",
        ";built:AssignVariableOp",
    )
}


def _specs(name, in_session, program, state, reference, claims, recipes, *, names=("w",)):
    """A spec for v1 graphs and one for everything else: one reference, the same claims."""
    bounds = {f"output[{i}]": bound(reference, i) for i in range(len(names))}
    count = 1 if reference is _restored else len(names) + 1
    final = {f"output[{count + i}]": _last(bounds[f"output[{i}]"]) for i in range(len(names))}
    common = {"recipes": recipes, "dtypes": ("float32", "float64")}
    optimizer = "Momentum" if "momentum" in name else "GradientDescent" if "sgd" in name else "Adam"
    masked = ";built:StopGradient" if names == ("w",) else ""
    slots_in_session, slots = SLOTS.get(name, ("", ""))
    return (
        Spec(
            name=f"{name}-in-session",
            program=in_session,
            reference=reference,
            bound=bounds,
            ops=f"ResourceApply{optimizer}",
            evidence=f"{MINIMIZE}{masked}{slots_in_session}",
            modes=("graph",),
            sessions=True,
            claims=tuple(replace(c, instead=INSTEAD_IN_SESSION.get(c.instead, c.instead)) for c in claims),
            **common,
        ),
        Spec(
            name=name,
            program=program,
            state=state,
            reference=_with_final(reference, *names),
            bound=bounds | final,
            ops="AssignAddVariableOp" if optimizer == "Momentum" else "AssignSubVariableOp",
            evidence=f"called:keras.optimizers.{'Adam' if optimizer == 'Adam' else 'SGD'}{masked}{slots}",
            modes=TF2,
            claims=claims,
            **common,
        ),
    )


def _last(bounds):
    return lambda u, g, *inputs: bounds(u, g, *inputs)[-1]


LATER = "An optimizer that was first given some of the variables can be given the others later."
INSTEAD_IN_SESSION = {
    name: f"{name}-in-session" for name in ("claim-c15-subset", "claim-c15-two-optimizers", "claim-c15-zeroed-m")
}
TOGETHER, APART = {"together": _together}, {"apart": _apart}
CORRECTED = (
    "√(1−β₂ᵗ)/(1−β₁ᵗ) with t = 5 in place of 3 after two frozen steps is 0.92 in place of 0.99, "
    "and with the usual 0.9 and 0.999 it is 0.17 in place of 0.20"
)

SPECS = (
    Spec(
        name="claim-c15-masked",
        program=masked,
        reference=lambda w, mask: w,
        vjp=lambda g, w, mask: (g * mask, g * w),
        recipes={"weights": lambda draw, dtype: (np.resize(draw.values(dtype, 9), (6, 9)), SCHEDULE.astype(dtype))},
        ops="StopGradient;Abs",
        dtypes=FLOATS,
        ulp={"grad[1]": 0.5},
        claims=(
            Claim(
                topic=topics.C15,
                letter="a",
                says="The gradient of a masked weight is 0, as a number; the value of the weight goes through.",
                about=("output", "grad[0]"),
            ),
        ),
    ),
    *_specs(
        "claim-c15-sgd",
        sgd_in_session,
        train_masked,
        with_sgd,
        _sgd,
        (
            Claim(
                topic=topics.C15,
                letter="b",
                says="Plain gradient descent leaves masked weights where they are.",
                about=("output[1]",),
                reference=_moving(_sgd, _unmasked),
            ),
        ),
        TOGETHER,
    ),
    *_specs(
        "claim-c15-adam",
        adam_in_session,
        train_masked,
        with_adam,
        _adam,
        (
            Claim(
                topic=topics.C15,
                letter="c",
                says="Adam goes on moving masked weights that were updated earlier, and only those.",
                about=("output[1]",),
                reference=_moving(_adam, _updated_earlier),
            ),
        ),
        TOGETHER,
    ),
    *_specs(
        "claim-c15-zeroed-slots",
        zero_slots_in_session,
        zero_slots,
        with_adam,
        _zeroed,
        (
            Claim(
                topic=topics.C15,
                letter="d",
                says="Zeroing m and v of the masked weights stops that.",
                about=("output[1]",),
                reference=_moving(_zeroed, _unmasked),
            ),
        ),
        TOGETHER,
    ),
    *_specs(
        "claim-c15-zeroed-m",
        zero_m_in_session,
        zero_m,
        with_adam,
        _zeroed_m,
        (
            Claim(
                topic=topics.C15,
                letter="i",
                says="Both m and v have to be zeroed: with m alone, the weights go on moving.",
                about=("output[1]",),
                reference=_moving(_zeroed_m, _updated_earlier),
                refuted={"*/*": "0/(√v + ε) is 0 whatever v is, and a gradient of 0 adds nothing to m"},
                instead="claim-c15-zeroed-m",
            ),
        ),
        TOGETHER,
    ),
    *_specs(
        "claim-c15-restored-slots",
        restore_slots_in_session,
        restore_slots,
        with_adam,
        _restored,
        (
            Claim(
                topic=topics.C15,
                letter="e",
                says="Restoring m and v resumes as if the weight had never been frozen.",
                about=("output[0]",),
                reference=_never_frozen,
                refuted={"*/*": "the bias correction counts the frozen steps, too: " + CORRECTED},
                instead="claim-c15-own-adam",
            ),
        ),
        APART,
    ),
    Spec(
        name="claim-c15-own-adam",
        program=own_adam,
        reference=_own,
        recipes=APART,
        bound={"output[0]": bound(_own, 0)},
        dtypes=("float32", "float64"),
        ops="Pow;Sqrt",
        evidence="called:GradientTape;built:StopGradient",
        claims=(
            Claim(
                topic=topics.C15,
                letter="j",
                says="An Adam that counts the steps of each weight for itself resumes as if it had never been frozen.",
                about=("output[0]",),
                reference=_never_frozen,
            ),
        ),
    ),
    *_specs(
        "claim-c15-subset",
        subset_in_session,
        subset,
        two_variables,
        _subset,
        (
            Claim(
                topic=topics.C15,
                letter="f",
                says="Handing the optimizer only some of the variables is another way: the rest stay where they are.",
                about=("output[2]",),
                reference=lambda *inputs: (*_subset(*inputs)[:2], SECOND_FROZEN[1:, 4:] > 0),
            ),
            Claim(
                topic=topics.C15,
                letter="h",
                says="A variable that was left out for some steps goes on afterwards as if they had not been.",
                about=("output[1]",),
                reference=_never_left_out,
                refuted={"*/*": "its m and v wait for it, but the bias correction is that of all steps: " + CORRECTED},
                instead="claim-c15-two-optimizers",
            ),
        ),
        {"apart": _in_two(_apart)},
        names=("a", "b"),
    ),
    Spec(
        name="claim-c15-later-in-session",
        program=later_in_session,
        reference=_later,
        bound={f"output[{i}]": bound(_later, i) for i in range(2)},
        recipes={"apart": _in_two(_apart)},
        ops="ResourceApplyAdam",
        evidence=MINIMIZE,
        dtypes=("float32", "float64"),
        modes=("graph",),
        sessions=True,
        claims=(Claim(topic=topics.C15, letter="l", says=LATER, about=("output",)),),
    ),
    Spec(
        name="claim-c15-later",
        program=later,
        state=two_variables_not_built,
        reference=lambda *inputs: Raises("ValueError", "Unknown variable"),
        bound={f"output[{i}]": bound(_later, i) for i in range(2)},
        recipes={"apart": _in_two(_apart)},
        ops="",
        evidence="called:keras.optimizers.Adam",
        dtypes=("float32", "float64"),
        modes=TF2,
        claims=(
            Claim(
                topic=topics.C15,
                letter="l",
                says=LATER,
                about=("output",),
                reference=_later,
                refuted={"*/*": "Keras builds an optimizer for the variables of the first call, and knows no others"},
                instead="claim-c15-subset",
            ),
        ),
    ),
    *_specs(
        "claim-c15-two-optimizers",
        two_optimizers_in_session,
        two_optimizers,
        two_variables_two_optimizers,
        _two_optimizers,
        (
            Claim(
                topic=topics.C15,
                letter="k",
                says="With an optimizer of its own, it does go on as if those steps had not been.",
                about=("output[1]",),
                reference=_never_left_out,
            ),
        ),
        {"apart": _in_two(_apart)},
        names=("a", "b"),
    ),
    *_specs(
        "claim-c15-momentum",
        momentum_in_session,
        train_masked,
        with_momentum,
        _momentum,
        (
            Claim(
                topic=topics.C15,
                letter="g",
                says="Gradient descent with momentum leaves masked weights where they are, as plain descent does.",
                about=("output[1]",),
                reference=_moving(_momentum, _unmasked),
                refuted={
                    "*/*": "what moves a weight is the sum of the gradients before, which fades but is not masked"
                },
                instead="claim-c15-subset",
            ),
        ),
        TOGETHER,
    ),
)
