"""A result that was assigned to: the claims."""

from functools import partial

import numpy as np

from tf_opdiff.harness.spec.spec import Raises, Spec
from tf_opdiff.suites.claims.c14_assigned_result import program, reference
from tf_opdiff.suites.claims.c14_assigned_result.reference import volumes
from tf_opdiff.suites.claims.c14_assigned_result.topic import TOPIC

ASSIGNED = TOPIC.claim(
    "a", "A result that was assigned to, element by element, has no gradient: it is None.", "grad[0]", "grad[1]"
)
REWRITTEN = TOPIC.claim("c", "Rewritten with broadcasting and reduce_prod, it has the gradient.", "grad")


def _corners(draw, dtype):
    """Corners of four boxes and of three, in eighths; never in the same place along any axis."""
    prod = draw.integers(4, 3, low=-8, high=8) / 4
    box = draw.integers(3, 3, low=-8, high=8) / 4 + 0.125
    return prod.astype(dtype), box.astype(dtype)


def _literal(draw, dtype):
    """Three products and two boxes, each a column of three sides; every quotient is exact."""
    prod = np.array([[1, 2, 1], [1, 1, 2], [2, 1, 2]], dtype)
    return prod, np.array([[2, 4], [2, 2], [2, 1]], dtype)


def _refused(prod, box):
    return Raises("ValueError", "tf.function only supports singleton tf.Variables created on the first call")


Refused = partial(Spec, recipes={"literal": _literal}, dtypes=("float16",))
Corners = partial(
    Spec,
    reference=reference.volumes,
    vjp=reference.to_corners,
    bound=reference.VOLUME | reference.CORNERS,
    recipes={"corners": _corners},
)

SPECS = (
    Refused(
        name="claim-c14-as-written",
        program=program.difference_as_written,
        reference=reference.unused,
        vjp=lambda g, prod, box: (None, None),
        ops="Range;Prod;ResourceStridedSliceAssign",
        modes=("eager",),  # elsewhere a Python loop over tf.range needs AutoGraph, and so a tf.function
        claims=(ASSIGNED,),
    ),
    Refused(
        name="claim-c14-as-written-in-function",
        program=program.difference_in_function,
        reference=_refused,
        ops="",
        evidence="called:function",
        claims=(
            TOPIC.claim(
                "d", "Under tf.function the same code is a ValueError: it makes a new variable in each call.", "output"
            ),
        ),
    ),
    Refused(
        name="claim-c14-rewritten",
        program=program.difference_rewritten,
        reference=reference.unused,
        vjp=reference.unused_gradient,
        bound=reference.UNUSED,
        ops="Prod;Sub;RealDiv",
        claims=(
            TOPIC.claim("e", "The rewrite with reduce_prod and broadcasting gives the same output.", "output"),
            REWRITTEN,
        ),
    ),
    Spec(
        name="claim-c14-assigned",
        program=program.difference_by_assigning,
        state=program.zero_result,
        reference=lambda prod, box: (volumes(prod, box), {"result": volumes(prod, box)}),
        vjp=lambda g, prod, box: (None, None, g),
        bound={"output": reference.VOLUME["output"]},
        recipes={"corners": _corners},
        ops="ResourceStridedSliceAssign;Prod",
        dtypes=("float16", "float32"),
        claims=(ASSIGNED,),
    ),
    Corners(
        name="claim-c14-stacked",
        program=program.difference_by_stacking,
        ops="Pack;Prod",
        dtypes=("float16", "float32"),
        claims=(
            TOPIC.claim(
                "b", "The assignment stops the gradient, not the loops: the same elements, stacked, have one.", "grad"
            ),
        ),
    ),
    Corners(
        name="claim-c14-broadcast",
        program=program.difference,
        ops="Prod;Sub",
        dtypes=("float16", "float32", "float64"),
        claims=(REWRITTEN,),
    ),
)
