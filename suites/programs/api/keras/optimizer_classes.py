"""Optimizers: https://keras.io/api/optimizers/. Claim C15 has specs of Adam, SGD, RMSprop, Adagrad and Ftrl.

Keras keeps the state of optimizers in variables of TensorFlow 2, which no v1 graph has.
"""

import re

import numpy as np

from tf_opdiff.harness.spec.plan import without_modes
from tf_opdiff.harness.spec.spec import Spec
from tf_opdiff.suites.reference.keras import optimizers as of
from tf_opdiff.suites.reference.promises.running import bound

#: Steps, and the shape of the weights.
_STEPS, _SHAPE = 3, (3, 4)


def training(draw, dtype):
    """Weights, and the gradients of all steps, away from zero."""
    gradients = draw.uniform(_STEPS, *_SHAPE, low=0.25, high=2) * np.where(draw.booleans(_STEPS, *_SHAPE), 1, -1)
    return (draw.uniform(*_SHAPE) * 2).astype(dtype), gradients.astype(dtype)


def _overflowing(draw, dtype):
    """One gradient of the second step is infinite."""
    weights, gradients = training(draw, dtype)
    gradients[1, 0, 0] = np.inf
    return weights, gradients


def state_of(make):
    """The function of the state: a variable, and an optimizer that is built for it."""

    def state(tf, weights, gradients):
        w, optimizer = tf.keras.Variable(weights, dtype=weights.dtype.name, name="w"), make(tf)
        optimizer.build([w])
        return {"_w": w, "_optimizer": optimizer}

    return state


def steps(tf, state, weights, gradients):
    """The program: the weights after each step."""
    w, trajectory = state["_w"], []
    for g in tf.unstack(gradients):
        state["_optimizer"].apply([g], [w])
        trajectory.append(tf.identity(w.value))
    return tf.stack(trajectory)


def _scaled_steps(tf, state, weights, gradients):
    """The gradients are those of a scaled loss; the second result is the scale of each step."""
    w, trajectory, scales = state["_w"], [], []
    for g in tf.unstack(gradients):
        scales.append(state["_optimizer"].scale_loss(tf.ones([], g.dtype)))
        state["_optimizer"].apply([g * scales[-1]], [w])
        trajectory.append(tf.identity(w.value))
    return tf.stack(trajectory), tf.stack(scales)


def _two_optimizers(tf, weights, gradients):
    first, second = (
        tf.keras.Variable(part, dtype=part.dtype.name, name=name)
        for part, name in zip(tf.split(weights, 2, axis=1), ("first", "second"), strict=True)
    )
    lion = tf.keras.optimizers.Lion(0.125, beta_1=0.75, beta_2=0.875)
    by_name = tf.keras.optimizers.OptimizerMap(tf.keras.optimizers.SGD(0.125), {"second": lion})
    optimizer = tf.keras.optimizers.MultiOptimizer(by_name)
    optimizer.build([first, second])
    return {"_variables": [first, second], "_optimizer": optimizer}


def _steps_of_two(tf, state, weights, gradients):
    trajectory = []
    for g in tf.unstack(gradients):
        state["_optimizer"].apply(tf.split(g, 2, axis=1), state["_variables"])
        trajectory.append(tf.concat([w.value for w in state["_variables"]], axis=1))
    return tf.stack(trajectory)


def _descent_and_lion(w, gradients):
    """Half of the columns descend, the others follow signs."""
    halves = [(w[:, half], gradients[:, :, half]) for half in (slice(2), slice(2, 4))]
    return np.concatenate([of.descent(*halves[0]), of.lion(*halves[1])], axis=2)


def _scales(weights, gradients):
    """The trajectory, and the scale before each step: half after a gradient that is infinite, twice after two steps."""
    return of.descent(weights, gradients), np.array([8.0, 8.0, 4.0 if np.isinf(gradients[1]).any() else 16.0])


def _spec(name, names, state, reference, *, program=steps, recipes=None, **more):
    calls = ";".join(f"called:keras.optimizers.{each}" for each in names)
    return Spec(
        name=f"api-keras-{name}",
        program=program,
        state=state,
        reference=reference,
        recipes=recipes or {"training": training},
        ops="",
        evidence=calls,
        dtypes=("float32", "float64"),
        modes=without_modes("graph"),
        tier="full",
        **{"bound": {"output": bound(reference, 0)}} | more,
    )


#: Optimizer → how it is made, and its reference.
OPTIMIZERS = {
    "Adadelta": (
        lambda tf: tf.keras.optimizers.Adadelta(0.125, rho=0.875, epsilon=2**-10),
        of.adadelta,
    ),
    "Adafactor": (
        lambda tf: tf.keras.optimizers.Adafactor(0.125, beta_2_decay=-0.75, epsilon_2=2**-10),
        of.adafactor,
    ),
    "AdamW": (
        lambda tf: tf.keras.optimizers.AdamW(0.125, weight_decay=0.5, beta_1=0.75, beta_2=0.875, epsilon=2**-10),
        of.adam_w,
    ),
    "Adamax": (
        lambda tf: tf.keras.optimizers.Adamax(0.125, beta_1=0.75, beta_2=0.875, epsilon=2**-10),
        of.adamax,
    ),
    "Lamb": (
        lambda tf: tf.keras.optimizers.Lamb(0.125, beta_1=0.75, beta_2=0.875, epsilon=2**-10),
        of.lamb,
    ),
    "Lion": (
        lambda tf: tf.keras.optimizers.Lion(0.125, beta_1=0.75, beta_2=0.875),
        of.lion,
    ),
    "Muon": (
        lambda tf: tf.keras.optimizers.Muon(0.125, momentum=0.75, weight_decay=None, ns_steps=2),
        of.muon,
    ),
    "Nadam": (
        lambda tf: tf.keras.optimizers.Nadam(0.125, beta_1=0.75, beta_2=0.875, epsilon=2**-10),
        of.nadam,
    ),
    "ScheduleFreeAdamW": (
        lambda tf: tf.keras.optimizers.ScheduleFreeAdamW(0.125, beta_1=0.75, beta_2=0.875, epsilon=2**-10),
        of.schedule_free,
    ),
}

#: What Keras computes because of known failures.
MISTAKEN = {
    "ScheduleFreeAdamW": of.schedule_free_by_new_steps,
}

SPECS = (
    *(
        _spec(
            re.sub(r"(?<=[a-z])(?=[A-Z])", "-", name).lower(),
            (name,),
            state_of(make),
            reference,
            mistaken={"output": MISTAKEN[name]} if name in MISTAKEN else {},
        )
        for name, (make, reference) in OPTIMIZERS.items()
    ),
    _spec(
        "loss-scale",
        ("LossScaleOptimizer",),
        state_of(
            lambda tf: tf.keras.optimizers.LossScaleOptimizer(
                tf.keras.optimizers.SGD(0.125), initial_scale=8.0, dynamic_growth_steps=2
            )
        ),
        _scales,
        program=_scaled_steps,
        recipes={"training": training, "overflowing": _overflowing},
        bound={"output[0]": bound(of.descent, 0)},
    ),
    _spec(
        "multi-optimizer", ("MultiOptimizer", "OptimizerMap"), _two_optimizers, _descent_and_lion, program=_steps_of_two
    ),
)
