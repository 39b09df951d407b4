"""The gradient of Select itself: the claims."""

from functools import partial

import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import SIZE
from tf_opdiff.harness.spec.spec import Raises, Side, Spec
from tf_opdiff.suites.claims.c12_select import program, reference
from tf_opdiff.suites.claims.c12_selection.topic import TOPIC


def _mixed(draw, dtype):
    return draw.booleans(SIZE), *(draw.values(dtype, SIZE) for _ in range(2))


def _rows(draw, dtype):
    """A condition for each row, which Select takes."""
    return np.array([True, False, False, True, False]), *(draw.values(dtype, 5, 3) for _ in range(2))


def _single(draw, dtype):
    """One y, which is broadcast."""
    return np.resize([True, False, False], 9), draw.values(dtype, 9), draw.values(dtype, 1)


def _refusing(c, x, y):
    return Raises("ValueError", "Dimension 0 in both shapes must be equal")


WIDE = ("float32", "float64")
WHERE_LINK = "https://www.tensorflow.org/api_docs/python/tf/compat/v1/where"

Broadcast = partial(Spec, reference=reference.selected, recipes={"single": _single}, ops="SelectV2", dtypes=WIDE)
Select = partial(Spec, program=program.select, ops="Select", evidence="called:compat.v1.where", dtypes=WIDE)

SPECS = (
    Select(
        name="claim-c12-select",
        reference=reference.selected,
        vjp=reference.masked,
        recipes={"mixed": _mixed, "rows": _rows},
        claims=(
            TOPIC.claim(
                "f",
                "The gradient of Select is (None, where(c, grad, zeros_like(x)), where(c, zeros_like(x), grad)).",
                "grad",
                vjp=reference.printed,
            ),
        ),
    ),
    Select(
        name="claim-c12-select-broadcasting",
        reference=_refusing,
        recipes={"single": _single},
        contract={
            "*/eager": Side(
                reference=lambda c, x, y: Raises("INVALID_ARGUMENT", "must have the same size and shape"),
                why="x and y must have the same shape; executed eagerly, the kernel checks it",
                link=WHERE_LINK,
            )
        },
        claims=(
            TOPIC.claim(
                "g",
                "Select broadcasts its sides, as where does today.",
                "output",
                reference=reference.selected,
                refuted={"*/*": "Select wants both sides of one shape; it is SelectV2 that broadcasts"},
                instead="claim-c12-select-v2-broadcasting",
            ),
        ),
    ),
    Broadcast(
        name="claim-c12-select-v2-broadcasting",
        program=program.select_v2,
        vjp=reference.summed,
        bound={"grad[2]": lambda u, g, c, x, y: 9 * u * np.sum(np.abs(g), keepdims=True)},
        evidence="called:where",
    ),
    Broadcast(
        name="claim-c12-select-v2-printed",
        program=program.select_v2_with_printed_gradient,
        vjp=lambda g, c, x, y: Raises("ValueError", "Incompatible shapes between op input and calculated input"),
        evidence="called:function;replaced:SelectV2=SelectGradAsPrinted",
        claims=(
            TOPIC.claim(
                "h",
                "In the place of the gradient of today's where, the printed gradient changes nothing.",
                "grad[2]",
                vjp=reference.summed,
                ulp={"grad": 4},
                refuted={"*/*": "SelectV2 broadcasts: zeros_like(x) has not the shape of y, whose gradient is a sum"},
                instead="claim-c12-select-v2-broadcasting",
            ),
        ),
    ),
)
