"""A gradient at a shifted point: the claims."""

from functools import partial
from typing import Any

import numpy as np

from tf_opdiff.harness.spec.plan import without_modes
from tf_opdiff.harness.spec.spec import Spec
from tf_opdiff.suites.claims.c16_shifted_point import estimator, program, reference
from tf_opdiff.suites.claims.c16_shifted_point.reference import estimate
from tf_opdiff.suites.claims.c16_shifted_point.topic import TOPIC


def _point(draw, dtype):
    """A point, and a step that is much smaller."""
    a = draw.integers(9, low=-16, high=16) / 8 + 2.0625
    delta = draw.integers(9, low=-8, high=8) / 512 + 2.0**-11
    return a.astype(dtype), delta.astype(dtype)


def _draws(draw, dtype):
    """A point, and 1024 steps, each a sum of twelve uniform numbers: nearly N(0, I). Its gradients are exact."""
    a = draw.integers(4, low=12, high=16) / 16
    delta = (2 * np.round(32 * draw.uniform(1024, 4, 12, low=-0.5, high=0.5).sum(-1)) + 1) / 64
    return a.astype(dtype), delta.astype(dtype)


def _one_two_three(draw, dtype):
    """The point (1, 2, 3), and 1024 steps of nearly N(0, I)."""
    delta = (2 * np.round(32 * draw.uniform(1024, 3, 12, low=-0.5, high=0.5).sum(-1)) + 1) / 64
    return np.array([1, 2, 3], dtype), delta.astype(dtype)


FLOAT = ("float32", "float64")
#: To a part in 128: the estimate is off by the step's squares, 3·‖δ²‖/‖δ‖, which are less than 3/60.
NEARLY: dict[str, Any] = {"output": {"float32": 2**17, "float64": 2**46}}
#: To an eighth: the mean of so many products comes that near.
ROUGHLY: dict[str, Any] = {"output": {"float32": 2**20, "float64": 2**49}}


def _estimator(name, program, reference_, bound, ops, *claims, recipe=_draws):
    return Spec(
        name=name,
        program=program,
        reference=reference_,
        bound={"output": bound},
        recipes={"draws": recipe},
        ops=ops,
        evidence="called:GradientTape",
        dtypes=FLOAT,
        claims=claims,
    )


def _diagonal(prediction, **more):
    return TOPIC.claim(
        "g",
        "The mean of (∇f(a + δ) − ∇f(a − δ))/(2·δ) over many δ of N(0, I) is near the Hessian's diagonal.",
        "output",
        reference=prediction,
        ulp=ROUGHLY,
        **more,
    )


Refused = partial(Spec, reference=reference.none, recipes={"point": _point}, ops="")
Point = partial(Spec, recipes={"point": _point}, dtypes=FLOAT)

SPECS = (
    Refused(
        name="claim-c16-tape-at-sum",
        program=program.gradient_at_sum,
        evidence="called:GradientTape",
        claims=(
            TOPIC.claim(
                "d",
                "The gradient of b by a + delta is None, on a tape, and nothing can be subtracted from it.",
                "output",
            ),
        ),
    ),
    Refused(
        name="claim-c16-gradients-at-sum",
        program=program.gradients_at_sum,
        evidence="called:gradients",
        modes=without_modes("eager"),  # tf.gradients needs a graph
        claims=(
            TOPIC.claim("a", "tf.gradients(b, a + delta) is None, and nothing can be subtracted from it.", "output"),
        ),
    ),
    Point(
        name="claim-c16-rebuilt",
        program=program.rebuilt,
        reference=reference.estimate,
        bound={"output": reference.estimate_bound},
        ops="Mul;Sum;Sqrt",
        evidence="called:GradientTape",
        claims=(
            TOPIC.claim(
                "b",
                "With f built once more at a + delta, the gradients differ by what the Hessian makes of delta.",
                "output",
                reference=reference.along_delta,
                ulp=NEARLY,
            ),
            TOPIC.claim(
                "f",
                "Their difference, divided by the length of delta, is the norm of the Hessian.",
                "output",
                reference=reference.hessian_norm,
                ulp=NEARLY,
                refuted={
                    "*/*": "it is how much the Hessian stretches this delta, and the norm is no less than the largest "
                    "stretch"
                },
                instead="claim-c16-hessian-norm",
            ),
        ),
    ),
    Point(
        name="claim-c16-hessian-norm",
        program=program.hessian_norm,
        reference=reference.hessian_norm,
        ulp={"output": 8},
        ops="Mul;Sqrt",
        evidence="called:GradientTape",
    ),
    Point(
        name="claim-c16-moved",
        program=program.moved,
        reference=reference.estimate,
        bound={"output": reference.estimate_bound},
        ops="Mul;Sum;Sqrt;AssignAddVariableOp",
        evidence="called:gradients;ran:AssignAddVariableOp",
        modes=("graph",),
        sessions=True,
        claims=(
            TOPIC.claim(
                "c",
                "With the variable moved by delta between two runs, the same gradient op gives both gradients.",
                "output",
            ),
        ),
    ),
    Point(
        name="claim-c16-moved-in-order",
        program=program.moved_in_order,
        state=program.point,
        reference=lambda a, delta: (estimate(a, delta), {"point": a + delta}),
        bound={"output[0]": reference.estimate_bound},
        ops="Mul;Sum;Sqrt;AssignAddVariableOp",
        evidence="called:GradientTape",
        modes=without_modes("graph"),  # a graph orders nothing unless told to
        claims=(
            TOPIC.claim(
                "e", "Where programs run in their order, the variable can be moved in the midst of one.", "output[0]"
            ),
        ),
    ),
    _estimator(
        "claim-c16-estimate",
        estimator.estimate,
        reference.quotients,
        reference.QUOTIENTS,
        "RealDiv;Mean",
        _diagonal(
            reference.diagonal,
            refuted={
                "*/*": "an element that acts on another adds a quotient of two normal numbers, which has no mean: "
                "more draws bring it no nearer"
            },
            instead="claim-c16-estimate-by-products",
        ),
    ),
    _estimator(
        "claim-c16-estimate-of-cubes",
        estimator.estimate_of_cubes,
        reference.diagonal_of_cubes,
        reference.CUBES,
        "RealDiv;Mean",
        _diagonal(reference.diagonal_of_cubes),
    ),
    _estimator(
        "claim-c16-estimate-without-parentheses",
        estimator.estimate_without_parentheses,
        reference.as_printed,
        reference.PRINTED,
        "RealDiv;Mean",
        TOPIC.claim(
            "h",
            "As the post prints it, without parentheses around the difference, the estimate of the sum of cubes "
            "at (1, 2, 3) is near 6, 12, 18.",
            "output",
            reference=reference.diagonal_of_cubes,
            ulp=ROUGHLY,
            refuted={
                "*/*": "/ binds closer than −, so only the second gradient is divided by 2·δ, and the mean of the "
                "first, 3·(a² + 1), stays in the estimate"
            },
            instead="claim-c16-estimate-of-cubes",
        ),
        recipe=_one_two_three,
    ),
    _estimator(
        "claim-c16-estimate-by-products",
        estimator.estimate_by_products,
        reference.products,
        reference.PRODUCTS,
        "Mul;Mean",
    ),
)
