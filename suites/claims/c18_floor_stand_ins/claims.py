"""Smooth stand-ins for floor and step: the claims."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from tf_opdiff.harness.spec.spec import Recipe, Spec
from tf_opdiff.suites.claims.c18_floor_stand_ins import program, reference
from tf_opdiff.suites.claims.c18_floor_stand_ins.reference import K, along, by_ramp, by_sigmoid, falling, sigmoid
from tf_opdiff.suites.claims.c18_floor_stand_ins.topic import TOPIC


def _rows(low, high):
    """A recipe: for each sharpness, the same sixteenths, a half of one off."""
    return lambda draw, dtype: (np.tile(np.arange(low, high, 1 / 16) + 1 / 32, (4, 1)).astype(dtype),)


AROUND_STEP = {"around_step": _rows(-0.5, 0.5)}
BEYOND_STEP = {"beyond_step": _rows(0.5, 1)}
STAIRS = {"stairs": _rows(0.5, 4.5)}
WIDE = ("float32", "float64")
#: The budget of the op Sigmoid; its gradient is g·s·(1 − s), and s, rounded, is off by u. K is exact.
SIGMOID = {"output": {"float32": 5.5, "float64": 2}}


@dataclass(frozen=True, kw_only=True)
class Relaxation:
    """A stand-in for floor or step.

    name: in the names of its specs.
    title: begins the sentences of the claims.
    gradient_letter, error_letter: of the claim about its gradient, and of that about its error.
    program, error: the stand-in, and its largest error away from the steps.
    reference, slope, sharp: in NumPy, the stand-in, its slope, and the function that it stands for.
    ops, made_of: an OpDef that it runs, and the one that makes it what it is.
    recipes, ulp, bound: as in `Spec`; `error_roundings` is the bound of the error, in units of u.
    """

    name: str
    title: str
    gradient_letter: str
    error_letter: str
    program: Callable[..., Any]
    error: Callable[..., Any]
    reference: Callable[..., Any]
    slope: Callable[..., Any]
    sharp: Callable[..., Any]
    ops: str
    made_of: str
    recipes: Mapping[str, Recipe]
    ulp: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    bound: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    error_roundings: int = 0

    @property
    def specs(self) -> tuple[Spec, Spec]:
        """The spec of its value and gradient, and that of its error."""
        common: dict[str, Any] = {
            "recipes": self.recipes,
            "evidence": f"built:{self.made_of}",
            "dtypes": WIDE,
        }
        gradient = TOPIC.claim(
            self.gradient_letter,
            f"{self.title} is a differentiable stand-in: what comes back is the upstream times its slope.",
            "grad",
        )
        error = TOPIC.claim(
            self.error_letter,
            f"{self.title} approaches what it stands for: away from the steps its error falls as k grows.",
            "output",
        )
        return (
            Spec(
                name=f"claim-c18-{self.name}",
                program=self.program,
                reference=self.reference,
                vjp=along(self.slope),
                ulp=self.ulp,
                bound=self.bound,
                ops=self.ops,
                claims=(gradient,),
                **common,
            ),
            Spec(
                name=f"claim-c18-{self.name}-error",
                program=self.error,
                reference=falling(self.reference, self.sharp),
                bound={"output": lambda u, g, x: self.error_roundings * u},
                ops="Max",
                claims=(error,),
                **common,
            ),
        )


RELAXATIONS = (
    Relaxation(
        name="sigmoid-step",
        title="sigmoid(k·x)",
        gradient_letter="a",
        error_letter="g",
        program=program.sigmoid_step,
        error=program.sigmoid_step_error,
        reference=lambda x: sigmoid(K * x),
        slope=by_sigmoid,
        sharp=reference.step,
        ops="Sigmoid",
        made_of="Sigmoid",
        recipes=AROUND_STEP,
        ulp=SIGMOID,
        bound=reference.SLOPE,
        error_roundings=12,
    ),
    Relaxation(
        name="linear-step",
        title="A ramp of slope k",
        gradient_letter="b",
        error_letter="h",
        program=program.linear_step,
        error=program.linear_step_error,
        reference=reference.ramp,
        slope=by_ramp,
        sharp=reference.step,
        ops="Mul",
        made_of="Minimum",
        recipes=AROUND_STEP,
    ),
    Relaxation(
        name="filtered-step",
        title="A step behind a Gaussian filter",
        gradient_letter="c",
        error_letter="i",
        program=program.filtered_step,
        error=program.filtered_step_error,
        reference=reference.erf_step,
        slope=reference.by_erf,
        sharp=reference.step,
        ops="Erf",
        made_of="Erf",
        recipes=AROUND_STEP,
        bound=reference.ERF,
        error_roundings=5,
    ),
    Relaxation(
        name="sigmoid-floor",
        title="A sum of sigmoids",
        gradient_letter="d",
        error_letter="j",
        program=program.sigmoid_floor,
        error=program.sigmoid_floor_error,
        reference=reference.stairs_of_sigmoids,
        slope=lambda x: sum(by_sigmoid(x - n) for n in range(1, 6)),
        sharp=np.floor,
        ops="Sigmoid",
        made_of="Sigmoid",
        recipes=STAIRS,
        bound=reference.SIGMOIDS,
        error_roundings=80,
    ),
    Relaxation(
        name="linear-floor",
        title="A stair of ramps",
        gradient_letter="e",
        error_letter="k",
        program=program.linear_floor,
        error=program.linear_floor_error,
        reference=reference.stairs_of_ramps,
        slope=lambda x: by_ramp(x - np.floor(x + 0.5)),
        sharp=np.floor,
        ops="Mul",
        made_of="Minimum",
        recipes=STAIRS,
    ),
    Relaxation(
        name="filtered-floor",
        title="floor behind a box filter",
        gradient_letter="f",
        error_letter="l",
        program=program.filtered_floor,
        error=program.filtered_floor_error,
        reference=reference.stairs_of_ramps,
        slope=reference.by_window,
        sharp=np.floor,
        ops="Floor",
        made_of="Floor",
        recipes=STAIRS,
        bound={"grad": reference.window_bound},
    ),
)

Beyond = partial(Spec, recipes=BEYOND_STEP, dtypes=WIDE)

SPECS = (
    *(spec for each in RELAXATIONS for spec in each.specs),
    Beyond(
        name="claim-c18-linear-step-beyond",
        program=program.linear_step,
        reference=reference.ramp,
        vjp=lambda g, x: np.zeros_like(x),
        ops="Mul",
        evidence="built:Minimum",
        claims=(
            TOPIC.claim(
                "m",
                "A ramp has a gradient other than 0 beyond the step, too.",
                "grad",
                vjp=lambda g, x: np.zeros_like(x),
                denies=True,
                refuted={"*/*": "beyond half its width the ramp is flat: its gradient is 0, as that of the step is"},
                instead="claim-c18-sigmoid-step-beyond",
            ),
        ),
    ),
    Beyond(
        name="claim-c18-sigmoid-step-beyond",
        program=program.sigmoid_step,
        reference=lambda x: sigmoid(K * x),
        vjp=lambda g, x: g * by_sigmoid(x),
        ulp=SIGMOID,
        bound=reference.SLOPE,
        ops="Sigmoid",
        claims=(
            TOPIC.claim(
                "n",
                "A sigmoid has a gradient other than 0 beyond the step, too.",
                "grad",
                vjp=lambda g, x: np.zeros_like(x),
                denies=True,
                ulp={},
            ),
        ),
    ),
)
