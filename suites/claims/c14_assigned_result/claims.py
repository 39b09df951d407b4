"""A result that was assigned to: the claims."""

from tf_opdiff.harness.spec.spec import Claim, Spec, Topic
from tf_opdiff.suites.claims.c14_assigned_result import program, reference
from tf_opdiff.suites.claims.c14_assigned_result.reference import volumes

TOPIC = Topic(
    id="C14",
    title="A result that was assigned to",
    program="difference(prod, box) in float16, its result built by assigning to elements of a variable in loops.",
    origin="an answer on why a gradient is None",
)


def _corners(draw, dtype):
    """Corners of four boxes and of three, in eighths; never in the same place along any axis."""
    prod = draw.integers(4, 3, low=-8, high=8) / 4
    box = draw.integers(3, 3, low=-8, high=8) / 4 + 0.125
    return prod.astype(dtype), box.astype(dtype)


SPECS = (
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
        claims=(
            Claim(
                topic=TOPIC,
                letter="a",
                says="A result that was assigned to, element by element, has no gradient: it is None.",
                about=("grad[0]", "grad[1]"),
            ),
        ),
    ),
    Spec(
        name="claim-c14-stacked",
        program=program.difference_by_stacking,
        reference=reference.volumes,
        vjp=reference.to_corners,
        bound=reference.VOLUME | reference.CORNERS,
        recipes={"corners": _corners},
        ops="Pack;Prod",
        dtypes=("float16", "float32"),
        claims=(
            Claim(
                topic=TOPIC,
                letter="b",
                says="The assignment stops the gradient, not the loops: the same elements, stacked, have one.",
                about=("grad",),
            ),
        ),
    ),
    Spec(
        name="claim-c14-broadcast",
        program=program.difference,
        reference=reference.volumes,
        vjp=reference.to_corners,
        bound=reference.VOLUME | reference.CORNERS,
        recipes={"corners": _corners},
        ops="Prod;Sub",
        dtypes=("float16", "float32", "float64"),
        claims=(
            Claim(
                topic=TOPIC,
                letter="c",
                says="Rewritten with broadcasting and reduce_prod, it has the gradient.",
                about=("grad",),
            ),
        ),
    ),
)
