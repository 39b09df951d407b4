"""Functions like floor, and the numeric check at random points: their specs."""

from typing import Any

import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import FLOATS
from tf_opdiff.harness.spec.spec import Raises, Spec
from tf_opdiff.suites.claims.c17_floor import inputs, reference, staircase
from tf_opdiff.suites.claims.c17_floor.topic import TOPIC
from tf_opdiff.suites.claims.evidence import GRADIENT_CHECK, PY_FUNC

#: Seeds of NumPy: of the 350 points that each draws, one is near 0, none is near an integer, one is near 1.
AT_RANDOM: dict[str, Any] = {
    "recipes": {"seeds": lambda draw, dtype: (np.array([1, 0, 7]),)},
    "modes": ("graph",),
    "sessions": True,
}
CUSTOM: dict[str, Any] = {"recipes": {"points": inputs.points}, "modes": ("graph",), "sessions": True}
NONE_TOO = "The gradients of ceil, and of a cast to integers and back, are None, too."

STAIRCASE: tuple[Spec, ...] = (
    *(
        Spec(
            name=f"claim-c17-{name}",
            program=like_floor,
            reference=reference_,
            vjp=lambda g, x: None,
            recipes={"quarters": inputs.quarters},
            ops=ops,
            dtypes=FLOATS,
            claims=(TOPIC.claim("l", NONE_TOO, "grad", instead="claim-c17-passed-through"),),
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
        recipes={"quarters": inputs.quarters},
        ops="Floor;Sub",
        dtypes=FLOATS,
    ),
    Spec(
        name="claim-c17-slopes",
        program=staircase.slopes,
        reference=reference.slopes,
        recipes={"quarters": inputs.quarters},
        ops="Floor;Sub",
        dtypes=("float32", "float64"),
        claims=(
            TOPIC.claim(
                "m",
                "floor looks like a saw: its derivative is 1, with Diracs downwards at the integers.",
                "output[0]",
                reference=lambda x: reference.slopes(x)[::-1],
                refuted={"*/*": "floor is a staircase, 0 with Diracs upwards at the integers; x − floor(x) is the saw"},
                instead="claim-c17-saw",
            ),
            TOPIC.claim(
                "n", "The derivative of x − floor(x) is 1, with Diracs downwards at the integers.", "output[1]"
            ),
        ),
    ),
    Spec(
        name="claim-c17-check-detour-at-random",
        program=staircase.check_detour_at_random,
        reference=reference.at_random(0),
        ulp={"output": 2},
        ops="Floor;Sub",
        evidence=GRADIENT_CHECK,
        claims=(
            TOPIC.claim(
                "j",
                "Without x_init_value, the check of the detour on 350 points reports 500 at one time and 0 at another.",
                "output",
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
        evidence=f"{GRADIENT_CHECK};replaced:Floor=Identity",
        claims=(
            TOPIC.claim(
                "k",
                "Without x_init_value, the check of the override on 350 points reports 500 at one time and 1 at "
                "another.",
                "output",
                reference=lambda seeds: np.where(reference.near_integer(seeds), 500.0, 1),
                ulp={"output": 4},
                refuted={"*/graph": "where a point of [0, 1) is within 0.001 of an end, the error is 500 − 1 = 499"},
                instead="claim-c17-check-stand-in",
            ),
        ),
        **AT_RANDOM,
    ),
    Spec(
        name="claim-c17-check-custom-floor",
        program=staircase.check_custom_floor,
        reference=lambda points: Raises("AttributeError", "'list' object has no attribute 'dtype'"),
        ops="",
        evidence=f"{GRADIENT_CHECK};{PY_FUNC}",
        claims=(
            TOPIC.claim(
                "o",
                "The numeric check takes the answer's CustomFloor as it is printed.",
                "output",
                reference=lambda points: reference.check_in_session(points, 1),
                refuted={"*/graph": "CustomFloor returns a list of one tensor, and the check takes a tensor"},
                instead="claim-c17-check-first-of-custom-floor",
            ),
        ),
        **CUSTOM,
    ),
    Spec(
        name="claim-c17-check-first-of-custom-floor",
        program=staircase.check_first_of_custom_floor,
        reference=lambda points: reference.check_in_session(points, 1),
        ops="EnsureShape",
        evidence=f"{GRADIENT_CHECK};{PY_FUNC};ran:PyFunc;replaced:PyFunc=CustomFloorGrad",
        **CUSTOM,
    ),
)
