"""The gradient of floor: the claims."""

from typing import Any

import numpy as np

from tf_opdiff.harness.spec.recipes import FLOATS, SIZE
from tf_opdiff.harness.spec.spec import Claim, Raises, Side, Spec
from tf_opdiff.suites.claims.c17_floor import program, reference, staircase
from tf_opdiff.suites.claims.c17_floor.reference import check_eagerly, check_in_session
from tf_opdiff.suites.claims.c17_floor.topic import TOPIC
from tf_opdiff.suites.claims.evidence import mapped
from tf_opdiff.suites.forms.contracts import TAPE, TAPE_LINK, TAPED


def _quarters(draw, dtype):
    """Quarters, of which some are whole: what is taken off them and put back is exact."""
    return ((draw.integers(SIZE, low=-16, high=17) / 4).astype(dtype),)


def _points(draw, dtype):
    """Integers, numbers between them, and integers so large that a little more or less is lost."""
    return (np.array([1, 2, 5, 1.5, 2.25, 4.75, 2**17, 3 * 2**18], dtype),)


def _small_points(draw, dtype):
    return (np.array([1, 2, 5, 1.5, 2.25, 4.75], dtype),)


CHECK = "called:compat.v1.test.compute_gradient_error"
SESSIONS: dict[str, Any] = {"recipes": {"points": _points}, "modes": ("graph",), "sessions": True}
#: Seeds of NumPy: of the 350 points that each draws, one is near 0, none is near an integer, one is near 1.
AT_RANDOM = SESSIONS | {"recipes": {"seeds": lambda draw, dtype: (np.array([1, 0, 7]),)}}

NONE_TOO = "The gradients of ceil, and of a cast to integers and back, are None, too."

SPECS = (
    Spec(
        name="claim-c17-floor",
        program=program.plain_floor,
        reference=np.floor,
        vjp=lambda g, x: None,
        recipes={"quarters": _quarters},
        ops="Floor",
        dtypes=FLOATS,
        claims=(
            Claim(
                topic=TOPIC,
                letter="a",
                says="The gradient of floor is None.",
                about=("grad",),
            ),
        ),
    ),
    Spec(
        name="claim-c17-detour",
        program=program.detour,
        reference=np.floor,
        vjp=lambda g, x: np.zeros_like(x),
        recipes={"quarters": _quarters},
        ops="Floor;Sub",
        dtypes=FLOATS,
        claims=(
            Claim(
                topic=TOPIC,
                letter="b",
                says="The detour x − (x − floor(x)) does not let the upstream through.",
                about=("grad",),
                vjp=lambda g, x: g,
                denies=True,
                instead="claim-c17-passed-through",
            ),
            Claim(
                topic=TOPIC,
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
        program=program.overridden,
        reference=np.floor,
        vjp=lambda g, x: g,
        recipes={"quarters": _quarters},
        ops="Floor",
        evidence=mapped("Floor", "Identity"),
        dtypes=FLOATS,
        contract=dict.fromkeys(TAPED, Side(reference=np.floor, vjp=lambda g, x: None, why=TAPE, link=TAPE_LINK)),
        claims=(
            Claim(
                topic=TOPIC,
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
        program=program.passed_through,
        reference=np.floor,
        vjp=lambda g, x: g,
        recipes={"quarters": _quarters},
        ops="Floor",
        evidence="called:grad_pass_through",
        dtypes=FLOATS,
    ),
    Spec(
        name="claim-c17-check-floor",
        program=program.check_floor,
        reference=lambda points: Raises("AssertionError", "None"),
        ops="Floor",
        evidence=CHECK,
        claims=(
            Claim(
                topic=TOPIC,
                letter="d",
                says="The numeric check of floor itself reports 500 at integers, and 0 elsewhere.",
                about=("output",),
                reference=lambda points: check_in_session(points, 0),
                refuted={"*/graph": "compute_gradient_error asserts that there is a gradient, and None is none"},
                instead="claim-c17-check-stand-in",
            ),
        ),
        **SESSIONS,
    ),
    Spec(
        name="claim-c17-check-detour",
        program=program.check_detour,
        reference=lambda points: check_in_session(points, 0),
        ops="Floor;Sub",
        evidence=CHECK,
        claims=(
            Claim(
                topic=TOPIC,
                letter="e",
                says="The numeric check of the detour reports 500 at integers; 0 between them and at very large ones.",
                about=("output",),
            ),
        ),
        **SESSIONS,
    ),
    Spec(
        name="claim-c17-check-overridden",
        program=program.check_overridden,
        reference=lambda points: check_in_session(points, 1),
        ops="Floor",
        evidence=f"{CHECK};replaced:Floor=Identity",
        claims=(
            Claim(
                topic=TOPIC,
                letter="f",
                says="The numeric check of an override reports 499 at integers; 1 between them and at very large ones.",
                about=("output",),
            ),
            Claim(
                topic=TOPIC,
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
        program=program.check_eagerly,
        reference=lambda points: tuple(check_eagerly(points, gradient) for gradient in (0, 0, 1)),
        recipes={"points": _points},
        ops="Floor",
        evidence="called:test.compute_gradient;called:grad_pass_through",
        modes=("eager",),  # the check evaluates what it builds
        constant=("output[0]", "output[1]", "output[2]"),  # it works them out in NumPy
        claims=(
            Claim(
                topic=TOPIC,
                letter="h",
                says="tf.test.compute_gradient finds the same 500 and 499.",
                about=("output",),
                reference=lambda points: tuple(check_in_session(points, gradient) for gradient in (0, 0, 1)),
                refuted={"*/eager": "its steps are 2⁻¹⁰: it finds 1/(2·2⁻¹⁰) = 512 at integers, and takes None for 0"},
                instead="claim-c17-check-stand-in",
            ),
        ),
    ),
    Spec(
        name="claim-c17-check-stand-in",
        program=program.check_stand_in,
        reference=np.zeros_like,
        recipes={"small_points": _small_points},
        ops="Floor;Identity",
        evidence="called:test.compute_gradient;called:grad_pass_through",
        modes=("eager",),
        constant=("output[0]",),  # the check works it out in NumPy
    ),
    *(
        Spec(
            name=f"claim-c17-{name}",
            program=like_floor,
            reference=reference_,
            vjp=lambda g, x: None,
            recipes={"quarters": _quarters},
            ops=ops,
            dtypes=FLOATS,
            claims=(
                Claim(topic=TOPIC, letter="l", says=NONE_TOO, about=("grad",), instead="claim-c17-passed-through"),
            ),
        )
        for name, like_floor, reference_, ops in (
            ("ceil", staircase.ceil, np.ceil, "Ceil"),
            ("cast", staircase.cast_and_back, lambda x: np.trunc(x) + 0.0, "Cast"),
        )
    ),
    Spec(
        name="claim-c17-saw",
        program=staircase.saw,
        reference=lambda x: x - np.floor(x),
        vjp=lambda g, x: g,
        recipes={"quarters": _quarters},
        ops="Floor;Sub",
        dtypes=FLOATS,
    ),
    Spec(
        name="claim-c17-slopes",
        program=staircase.slopes,
        reference=reference.slopes,
        recipes={"quarters": _quarters},
        ops="Floor;Sub",
        dtypes=("float32", "float64"),
        claims=(
            Claim(
                topic=TOPIC,
                letter="m",
                says="floor looks like a saw: its derivative is 1, with Diracs downwards at the integers.",
                about=("output[0]",),
                reference=lambda x: reference.slopes(x)[::-1],
                refuted={"*/*": "floor is a staircase, 0 with Diracs upwards at the integers; x − floor(x) is the saw"},
                instead="claim-c17-saw",
            ),
            Claim(
                topic=TOPIC,
                letter="n",
                says="The derivative of x − floor(x) is 1, with Diracs downwards at the integers.",
                about=("output[1]",),
            ),
        ),
    ),
    Spec(
        name="claim-c17-check-detour-at-random",
        program=staircase.check_detour_at_random,
        reference=reference.at_random(0),
        ulp={"output": 2},
        ops="Floor;Sub",
        evidence=CHECK,
        claims=(
            Claim(
                topic=TOPIC,
                letter="j",
                says="Without x_init_value, the check of the detour on 350 points reports 500 at one time and 0 at "
                "another.",
                about=("output",),
                reference=lambda seeds: np.where(reference.near_integer(seeds), 500.0, 0),
                ulp={"output": 4},
            ),
        ),
        **AT_RANDOM,
    ),
    Spec(
        name="claim-c17-check-overridden-at-random",
        program=staircase.check_overridden_at_random,
        reference=reference.at_random(1),
        ops="Floor",
        evidence=f"{CHECK};replaced:Floor=Identity",
        claims=(
            Claim(
                topic=TOPIC,
                letter="k",
                says="Without x_init_value, the check of the override on 350 points reports 500 at one time and 1 at "
                "another.",
                about=("output",),
                reference=lambda seeds: np.where(reference.near_integer(seeds), 500.0, 1),
                ulp={"output": 4},
                refuted={"*/graph": "where a point of [0, 1) is within 0.001 of an end, the error is 500 − 1 = 499"},
                instead="claim-c17-check-stand-in",
            ),
        ),
        **AT_RANDOM,
    ),
)
