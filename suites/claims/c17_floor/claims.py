"""The gradient of floor: the claims."""

from functools import partial
from typing import Any

import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import FLOATS
from tf_opdiff.harness.spec.spec import Raises, Side, Spec
from tf_opdiff.suites.claims.c17_floor import inputs, program, staircase_specs
from tf_opdiff.suites.claims.c17_floor.reference import check_eagerly, check_in_session
from tf_opdiff.suites.claims.c17_floor.topic import TOPIC
from tf_opdiff.suites.claims.evidence import GRADIENT_CHECK, mapped
from tf_opdiff.suites.forms.contracts import TAPE, TAPE_LINK, TAPED

SESSIONS: dict[str, Any] = {"recipes": {"points": inputs.points}, "modes": ("graph",), "sessions": True}

Quarters = partial(Spec, reference=np.floor, recipes={"quarters": inputs.quarters}, dtypes=FLOATS)

SPECS = (
    Quarters(
        name="claim-c17-floor",
        program=program.plain_floor,
        vjp=lambda g, x: None,
        ops="Floor",
        claims=(TOPIC.claim("a", "The gradient of floor is None.", "grad"),),
    ),
    Quarters(
        name="claim-c17-detour",
        program=program.detour,
        vjp=lambda g, x: np.zeros_like(x),
        ops="Floor;Sub",
        claims=(
            TOPIC.claim(
                "b",
                "The detour x − (x − floor(x)) does not let the upstream through.",
                "grad",
                vjp=lambda g, x: g,
                denies=True,
                instead="claim-c17-passed-through",
            ),
            TOPIC.claim(
                "i",
                "The gradient of the detour is None again.",
                "grad",
                vjp=lambda g, x: None,
                refuted={"*/*": "it is a value: 1 by the first x, −1 by the second, together 0"},
                instead="claim-c17-passed-through",
            ),
        ),
    ),
    Quarters(
        name="claim-c17-overridden",
        program=program.overridden,
        vjp=lambda g, x: g,
        ops="Floor",
        evidence=mapped("Floor", "Identity"),
        contract=dict.fromkeys(TAPED, Side(reference=np.floor, vjp=lambda g, x: None, why=TAPE, link=TAPE_LINK)),
        claims=(
            TOPIC.claim(
                "c",
                'With {"Floor": "Identity"}, the upstream comes back.',
                "grad",
                refuted=dict.fromkeys(TAPED, f"{TAPE}: floor keeps its own gradient, which is None"),
                instead="claim-c17-passed-through",
            ),
        ),
    ),
    Quarters(
        name="claim-c17-passed-through",
        program=program.passed_through,
        vjp=lambda g, x: g,
        ops="Floor",
        evidence="called:grad_pass_through",
    ),
    Spec(
        name="claim-c17-check-floor",
        program=program.check_floor,
        reference=lambda points: Raises("AssertionError", "None"),
        ops="Floor",
        evidence=GRADIENT_CHECK,
        claims=(
            TOPIC.claim(
                "d",
                "The numeric check of floor itself reports 500 at integers, and 0 elsewhere.",
                "output",
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
        evidence=GRADIENT_CHECK,
        claims=(
            TOPIC.claim(
                "e",
                "The numeric check of the detour reports 500 at integers; 0 between them and at very large ones.",
                "output",
            ),
        ),
        **SESSIONS,
    ),
    Spec(
        name="claim-c17-check-overridden",
        program=program.check_overridden,
        reference=lambda points: check_in_session(points, 1),
        ops="Floor",
        evidence=f"{GRADIENT_CHECK};replaced:Floor=Identity",
        claims=(
            TOPIC.claim(
                "f",
                "The numeric check of an override reports 499 at integers; 1 between them and at very large ones.",
                "output",
            ),
            TOPIC.claim(
                "g",
                "An override that is right passes the numeric check.",
                "output",
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
        recipes={"points": inputs.points},
        ops="Floor",
        evidence="called:test.compute_gradient;called:grad_pass_through",
        modes=("eager",),  # the check evaluates what it builds
        constant=("output[0]", "output[1]", "output[2]"),  # it works them out in NumPy
        claims=(
            TOPIC.claim(
                "h",
                "tf.test.compute_gradient finds the same 500 and 499.",
                "output",
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
        recipes={"small_points": inputs.small_points},
        ops="Floor;Identity",
        evidence="called:test.compute_gradient;called:grad_pass_through",
        modes=("eager",),
        constant=("output[0]",),  # the check works it out in NumPy
    ),
    *staircase_specs.STAIRCASE,
)
