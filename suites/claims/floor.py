"""floor, which has no gradient, and what people do about it: C17 and C18."""

import itertools
import math
from typing import Any

import numpy as np

from tf_opdiff.harness.spec.recipes import FLOATS, SIZE
from tf_opdiff.harness.spec.spec import Claim, Raises, Side, Spec
from tf_opdiff.suites.claims import topics
from tf_opdiff.suites.claims.binarize import TAPE, TAPE_LINK, TAPED
from tf_opdiff.suites.claims.subjects import mapped


# C17.
def plain_floor(tf, x):
    return tf.floor(x)


def detour(tf, x):
    fraction = x - tf.floor(x)
    return x - fraction


def overridden(tf, x):
    with tf.compat.v1.get_default_graph().gradient_override_map({"Floor": "Identity"}):
        return tf.floor(x)


def passed_through(tf, x):
    return tf.grad_pass_through(tf.floor)(x)


def errors_in_session(tf, session, function, points):
    check = tf.compat.v1.test.compute_gradient_error
    with session():
        x = tf.compat.v1.placeholder(points.dtype, [1])
        y = function(tf, x)
        return np.array([check(x, [1], y, [1], x_init_value=points[i : i + 1]) for i in range(points.size)])


def check_floor(tf, session, points):
    return errors_in_session(tf, session, plain_floor, points)


def check_detour(tf, session, points):
    return errors_in_session(tf, session, detour, points)


def check_overridden(tf, session, points):
    return errors_in_session(tf, session, overridden, points)


def errors_eagerly(tf, function, points):
    errors = []
    for point in points:
        [theoretical], [numeric] = tf.test.compute_gradient(function, [tf.reshape(point, [1])])
        errors.append(np.max(np.abs(theoretical - numeric)))
    return tf.stack(errors)


def check_eagerly(tf, points):
    return (
        errors_eagerly(tf, tf.floor, points),
        errors_eagerly(tf, lambda x: detour(tf, x), points),
        errors_eagerly(tf, tf.grad_pass_through(tf.floor), points),
    )


def check_stand_in(tf, points):
    errors = []
    for point in points:
        x = [tf.reshape(point, [1])]
        [theoretical], _ = tf.test.compute_gradient(tf.grad_pass_through(tf.floor), x)
        _, [numeric] = tf.test.compute_gradient(tf.identity, x)
        errors.append(np.max(np.abs(theoretical - numeric)))
    return tf.stack(errors)


def _quarters(draw, dtype):
    """Quarters, of which some are whole: what is taken off them and put back is exact."""
    return ((draw.integers(SIZE, low=-16, high=17) / 4).astype(dtype),)


def _points(draw, dtype):
    """Integers, numbers between them, and integers so large that a little more or less is lost."""
    return (np.array([1, 2, 5, 1.5, 2.25, 4.75, 2**17, 3 * 2**18], dtype),)


def _small_points(draw, dtype):
    return (np.array([1, 2, 5, 1.5, 2.25, 4.75], dtype),)


def _check(points, delta, gradient):
    """The error that a numeric check in float32 reports for floor: its central difference against a gradient."""
    points, delta, width = np.float32(points), np.float32(delta), np.float32(2 * delta)
    numeric = (np.floor(points + delta) - np.floor(points - delta)) / width
    return np.abs(np.float32(gradient) - numeric)


def _check_in_session(points, gradient):
    return _check(points, 1e-3, gradient)


def _check_eagerly(points, gradient):
    return _check(points, 2.0**-10, gradient)


# C18.
def sharpness(tf, x):
    return tf.constant([[1.0], [2.0], [4.0], [8.0]], x.dtype)


def sigmoid_step(tf, x):
    return tf.sigmoid(sharpness(tf, x) * x)


def linear_step(tf, x):
    return tf.clip_by_value(sharpness(tf, x) * x + 0.5, 0.0, 1.0)


def filtered_step(tf, x):
    return 0.5 * (1.0 + tf.math.erf(sharpness(tf, x) * x))


def sigmoid_floor(tf, x):
    return tf.add_n([tf.sigmoid(sharpness(tf, x) * (x - n)) for n in range(1, 6)])


def linear_floor(tf, x):
    nearest = tf.floor(x + 0.5)
    return nearest - 1.0 + tf.clip_by_value(sharpness(tf, x) * (x - nearest) + 0.5, 0.0, 1.0)


def filtered_floor(tf, x):
    width = 1.0 / sharpness(tf, x)
    return (integral_of_floor(tf, x + width / 2.0) - integral_of_floor(tf, x - width / 2.0)) / width


def integral_of_floor(tf, x):
    n = tf.floor(x)
    return n * x - n * (n + 1.0) / 2.0


def largest_error(tf, x, smooth, sharp):
    away = tf.abs(x - tf.floor(x + 0.5)) >= 0.125
    return tf.reduce_max(tf.where(away, tf.abs(smooth - sharp), tf.zeros_like(x)), axis=1)


def sigmoid_step_error(tf, x):
    return largest_error(tf, x, sigmoid_step(tf, x), tf.cast(x >= 0, x.dtype))


def linear_step_error(tf, x):
    return largest_error(tf, x, linear_step(tf, x), tf.cast(x >= 0, x.dtype))


def filtered_step_error(tf, x):
    return largest_error(tf, x, filtered_step(tf, x), tf.cast(x >= 0, x.dtype))


def sigmoid_floor_error(tf, x):
    return largest_error(tf, x, sigmoid_floor(tf, x), tf.floor(x))


def linear_floor_error(tf, x):
    return largest_error(tf, x, linear_floor(tf, x), tf.floor(x))


def filtered_floor_error(tf, x):
    return largest_error(tf, x, filtered_floor(tf, x), tf.floor(x))


def _rows(low, high):
    """A recipe: for each sharpness, the same sixteenths, a half of one off."""
    return lambda draw, dtype: (np.tile(np.arange(low, high, 1 / 16) + 1 / 32, (4, 1)).astype(dtype),)


AROUND_STEP = {"around_step": _rows(-0.5, 0.5)}
BEYOND_STEP = {"beyond_step": _rows(0.5, 1)}
STAIRS = {"stairs": _rows(0.5, 4.5)}
K = np.array([[1.0], [2.0], [4.0], [8.0]])


def _sigmoid(x):
    return 1 / (1 + np.exp(-x))


def _ramp(x):
    return np.clip(K * x + 0.5, 0, 1)


def _stairs_of_sigmoids(x):
    return sum(_sigmoid(K * (x - n)) for n in range(1, 6))


def _stairs_of_ramps(x):
    nearest = np.floor(x + 0.5)
    return nearest - 1 + _ramp(x - nearest)


def _by_sigmoid(x):
    """The slope of sigmoid(K·x)."""
    return K * _sigmoid(K * x) * _sigmoid(-K * x)


def _by_ramp(x):
    return np.where(np.abs(K * x) < 0.5, K, 0)


def _step(x):
    return (x >= 0).astype(float)


def _falling(smooth, sharp):
    """The largest error at 1/8 and more from a step, for each sharpness; it falls, or it would be no approach."""

    def reference(x):
        away = np.abs(x - np.floor(x + 0.5)) >= 0.125
        errors = np.max(np.where(away, np.abs(smooth(x) - sharp(x)), 0), 1)
        if not all(later < earlier or later == 0 for earlier, later in itertools.pairwise(errors)):
            raise ArithmeticError(f"the errors do not fall: {errors}")
        return errors

    return reference


def _erf_step(x):
    """By erfc, which is accurate where erf is next to −1."""
    return 0.5 * np.vectorize(math.erfc)(-K * x)


def _by_erf(x):
    return K / np.sqrt(np.pi) * np.exp(-((K * x) ** 2))


CHECK = "called:compat.v1.test.compute_gradient_error"
SESSIONS: dict[str, Any] = {"recipes": {"points": _points}, "modes": ("graph",), "sessions": True}
WIDE = ("float32", "float64")

#: The budget of sigmoid, as in suites/unary.py; its gradient is g·s·(1 − s), and s, rounded, is off by u. K is exact.
SIGMOID = {"output": {"float32": 5.5, "float64": 2}}
SLOPE = {"grad": lambda u, g, x: 4 * u * K * np.abs(g)}
#: erf is off by 8 roundings at most; in its gradient, the square in the exponent counts as it is large.
ERF = {
    "output": lambda u, g, x: 5 * u,
    "grad": lambda u, g, x: (8 + 2 * (K * x) ** 2) * u * np.abs(g) * _by_erf(x),
}
#: Five sigmoids, each of its budget, and four additions.
SIGMOIDS = {
    "output": lambda u, g, x: 15 * u * _stairs_of_sigmoids(x),
    "grad": lambda u, g, x: 25 * u * K * np.abs(g),
}


def _by_window(x):
    """How many steps the window holds, by its width."""
    return K * (np.floor(x + 0.5 / K) - np.floor(x - 0.5 / K))


def _window_bound(u, g, x):
    """Two products and their difference, each rounded; where the difference is 0, XLA may round one of them only."""
    return 2 * u * K * np.abs(g) * (np.floor(x + 0.5 / K) + np.floor(x - 0.5 / K))


def _along(slope):
    """The upstream times a slope; 0 is without a sign."""
    return lambda g, x: np.where(slope(x) == 0, 0, g * slope(x))


#: The op that makes each stand-in what it is.
STAND_INS = {
    "sigmoid-step": "Sigmoid",
    "linear-step": "Minimum",
    "filtered-step": "Erf",
    "sigmoid-floor": "Sigmoid",
    "linear-floor": "Minimum",
    "filtered-floor": "Floor",
}
#: What there is of relaxations: name, program, letter, what it is, reference, slope, inputs, budgets.
RELAXATIONS: tuple[tuple[Any, ...], ...] = (
    ("sigmoid-step", sigmoid_step, "a", "sigmoid(k·x)", lambda x: _sigmoid(K * x), _by_sigmoid, AROUND_STEP, SLOPE),
    ("linear-step", linear_step, "b", "A ramp of slope k", _ramp, _by_ramp, AROUND_STEP, {}),
    ("filtered-step", filtered_step, "c", "A step behind a Gaussian filter", _erf_step, _by_erf, AROUND_STEP, ERF),
    (
        "sigmoid-floor",
        sigmoid_floor,
        "d",
        "A sum of sigmoids",
        _stairs_of_sigmoids,
        lambda x: sum(_by_sigmoid(x - n) for n in range(1, 6)),
        STAIRS,
        SIGMOIDS,
    ),
    (
        "linear-floor",
        linear_floor,
        "e",
        "A stair of ramps",
        _stairs_of_ramps,
        lambda x: _by_ramp(x - np.floor(x + 0.5)),
        STAIRS,
        {},
    ),
    (
        "filtered-floor",
        filtered_floor,
        "f",
        "floor behind a box filter",
        _stairs_of_ramps,
        _by_window,
        STAIRS,
        {"grad": _window_bound},
    ),
)
ERRORS = {
    "sigmoid-step": sigmoid_step_error,
    "linear-step": linear_step_error,
    "filtered-step": filtered_step_error,
    "sigmoid-floor": sigmoid_floor_error,
    "linear-floor": linear_floor_error,
    "filtered-floor": filtered_floor_error,
}

FLOOR_SPECS = (
    Spec(
        name="claim-c17-floor",
        program=plain_floor,
        reference=np.floor,
        vjp=lambda g, x: None,
        recipes={"quarters": _quarters},
        ops="Floor",
        dtypes=FLOATS,
        claims=(
            Claim(
                topic=topics.C17,
                letter="a",
                says="The gradient of floor is None.",
                about=("grad",),
            ),
        ),
    ),
    Spec(
        name="claim-c17-detour",
        program=detour,
        reference=np.floor,
        vjp=lambda g, x: np.zeros_like(x),
        recipes={"quarters": _quarters},
        ops="Floor;Sub",
        dtypes=FLOATS,
        claims=(
            Claim(
                topic=topics.C17,
                letter="b",
                says="The detour x − (x − floor(x)) does not let the upstream through.",
                about=("grad",),
                vjp=lambda g, x: g,
                denies=True,
                instead="claim-c17-passed-through",
            ),
            Claim(
                topic=topics.C17,
                letter="i",
                says="The gradient of the detour is None again.",
                about=("grad",),
                vjp=lambda g, x: None,
                refuted={"*/*": "it is a value: 1 by the first x, −1 by the second, together 0"},
                instead="claim-c17-passed-through",
            ),
        ),
    ),
    Spec(
        name="claim-c17-overridden",
        program=overridden,
        reference=np.floor,
        vjp=lambda g, x: g,
        recipes={"quarters": _quarters},
        ops="Floor",
        evidence=mapped("Floor", "Identity"),
        dtypes=FLOATS,
        contract=dict.fromkeys(TAPED, Side(reference=np.floor, vjp=lambda g, x: None, why=TAPE, link=TAPE_LINK)),
        claims=(
            Claim(
                topic=topics.C17,
                letter="c",
                says='With {"Floor": "Identity"}, the upstream comes back.',
                about=("grad",),
                refuted=dict.fromkeys(TAPED, f"{TAPE}: floor keeps its own gradient, which is None"),
                instead="claim-c17-passed-through",
            ),
        ),
    ),
    Spec(
        name="claim-c17-passed-through",
        program=passed_through,
        reference=np.floor,
        vjp=lambda g, x: g,
        recipes={"quarters": _quarters},
        ops="Floor",
        evidence="called:grad_pass_through",
        dtypes=FLOATS,
    ),
    Spec(
        name="claim-c17-check-floor",
        program=check_floor,
        reference=lambda points: Raises("AssertionError", "None"),
        ops="Floor",
        evidence=CHECK,
        claims=(
            Claim(
                topic=topics.C17,
                letter="d",
                says="The numeric check of floor itself reports 500 at integers, and 0 elsewhere.",
                about=("output",),
                reference=lambda points: _check_in_session(points, 0),
                refuted={"*/graph": "compute_gradient_error asserts that there is a gradient, and None is none"},
                instead="claim-c17-check-stand-in",
            ),
        ),
        **SESSIONS,
    ),
    Spec(
        name="claim-c17-check-detour",
        program=check_detour,
        reference=lambda points: _check_in_session(points, 0),
        ops="Floor;Sub",
        evidence=CHECK,
        claims=(
            Claim(
                topic=topics.C17,
                letter="e",
                says="The numeric check of the detour reports 500 at integers; 0 between them and at very large ones.",
                about=("output",),
            ),
        ),
        **SESSIONS,
    ),
    Spec(
        name="claim-c17-check-overridden",
        program=check_overridden,
        reference=lambda points: _check_in_session(points, 1),
        ops="Floor",
        evidence=f"{CHECK};replaced:Floor=Identity",
        claims=(
            Claim(
                topic=topics.C17,
                letter="f",
                says="The numeric check of an override reports 499 at integers; 1 between them and at very large ones.",
                about=("output",),
            ),
            Claim(
                topic=topics.C17,
                letter="g",
                says="An override that is right passes the numeric check.",
                about=("output",),
                reference=np.zeros_like,
                refuted={
                    "*/graph": "the check holds it against differences of floor, which are 0, or 1/(2·0.001) = 500"
                },
                instead="claim-c17-check-stand-in",
            ),
        ),
        **SESSIONS,
    ),
    Spec(
        name="claim-c17-check-eagerly",
        program=check_eagerly,
        reference=lambda points: tuple(_check_eagerly(points, gradient) for gradient in (0, 0, 1)),
        recipes={"points": _points},
        ops="Floor",
        evidence="called:test.compute_gradient;called:grad_pass_through",
        modes=("eager",),  # the check evaluates what it builds
        constant=("output[0]", "output[1]", "output[2]"),  # it works them out in NumPy
        claims=(
            Claim(
                topic=topics.C17,
                letter="h",
                says="tf.test.compute_gradient finds the same 500 and 499.",
                about=("output",),
                reference=lambda points: tuple(_check_in_session(points, gradient) for gradient in (0, 0, 1)),
                refuted={"*/eager": "its steps are 2⁻¹⁰: it finds 1/(2·2⁻¹⁰) = 512 at integers, and takes None for 0"},
                instead="claim-c17-check-stand-in",
            ),
        ),
    ),
    Spec(
        name="claim-c17-check-stand-in",
        program=check_stand_in,
        reference=np.zeros_like,
        recipes={"small_points": _small_points},
        ops="Floor;Identity",
        evidence="called:test.compute_gradient;called:grad_pass_through",
        modes=("eager",),
        constant=("output[0]",),  # the check works it out in NumPy
    ),
)

SPECS = (
    *FLOOR_SPECS,
    *(
        Spec(
            name=f"claim-c18-{name}",
            program=program,
            reference=reference,
            vjp=_along(slope),
            ulp=SIGMOID if name == "sigmoid-step" else {},
            bound=bound,
            recipes=recipes,
            ops={"sigmoid": "Sigmoid", "linear": "Mul", "filtered": "Erf" if name.endswith("step") else "Floor"}[
                name.partition("-")[0]
            ],
            evidence=f"built:{STAND_INS[name]}",
            dtypes=WIDE,
            claims=(
                Claim(
                    topic=topics.C18,
                    letter=letter,
                    says=f"{what} is a differentiable stand-in: what comes back is the upstream times its slope.",
                    about=("grad",),
                ),
            ),
        )
        for name, program, letter, what, reference, slope, recipes, bound in RELAXATIONS
    ),
    *(
        Spec(
            name=f"claim-c18-{name}-error",
            program=ERRORS[name],
            reference=_falling(reference, _step if name.endswith("step") else np.floor),
            bound={"output": lambda u, g, x, most=most: most * u},
            recipes=recipes,
            ops="Max",
            evidence=f"built:{STAND_INS[name]}",
            dtypes=WIDE,
            claims=(
                Claim(
                    topic=topics.C18,
                    letter=chr(ord(letter) + len(RELAXATIONS)),
                    says=f"{what} approaches what it stands for: away from the steps its error falls as k grows.",
                    about=("output",),
                ),
            ),
        )
        for (name, _, letter, what, reference, _, recipes, _), most in zip(
            RELAXATIONS, (12, 0, 5, 80, 0, 0), strict=True
        )
    ),
    Spec(
        name="claim-c18-linear-step-beyond",
        program=linear_step,
        reference=_ramp,
        vjp=lambda g, x: np.zeros_like(x),
        recipes=BEYOND_STEP,
        ops="Mul",
        evidence="built:Minimum",
        dtypes=WIDE,
        claims=(
            Claim(
                topic=topics.C18,
                letter="m",
                says="A ramp has a gradient other than 0 beyond the step, too.",
                about=("grad",),
                vjp=lambda g, x: np.zeros_like(x),
                denies=True,
                refuted={"*/*": "beyond half its width the ramp is flat: its gradient is 0, as that of the step is"},
                instead="claim-c18-sigmoid-step-beyond",
            ),
        ),
    ),
    Spec(
        name="claim-c18-sigmoid-step-beyond",
        program=sigmoid_step,
        reference=lambda x: _sigmoid(K * x),
        vjp=lambda g, x: g * _by_sigmoid(x),
        ulp=SIGMOID,
        bound=SLOPE,
        recipes=BEYOND_STEP,
        ops="Sigmoid",
        dtypes=WIDE,
        claims=(
            Claim(
                topic=topics.C18,
                letter="n",
                says="A sigmoid has a gradient other than 0 beyond the step, too.",
                about=("grad",),
                vjp=lambda g, x: np.zeros_like(x),
                denies=True,
                ulp={},
            ),
        ),
    ),
)
