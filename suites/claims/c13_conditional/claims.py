"""The gradient of a conditional: the claims."""

from typing import Any

from tf_opdiff.harness.spec.spec import Raises, Side, Spec
from tf_opdiff.suites.claims.c13_conditional import program, reference
from tf_opdiff.suites.claims.c13_conditional.topic import TOPIC
from tf_opdiff.suites.forms.programs.branches import ROUNDED, either

WIDE = ("float32", "float64")


ONE_TAPE = "an eager cond runs one branch, and only that is on the tape"
ZEROS = "the graph holds both branches: zeros come out of the one not taken, and they are a value"
MERGED = "the gradient of a Switch merges zeros for the side that is dead, so that outside a value always arrives"
_SWITCHED: dict[str, Any] = {
    "reference": lambda p, x, y, z: x * (y if p else z),
    "vjp": reference.branch,
    "ulp": ROUNDED,
    "recipes": either((9,), (9,), (9,)),
    "ops": "Switch;Merge",
    "dtypes": WIDE,
    "modes": ("graph",),  # elsewhere cond is an If, or runs one branch, and XLA knows no Switch
}

SPECS = (
    Spec(
        name="claim-c13-cond",
        program=program.conditional,
        reference=lambda p, x, y, z: x * (y if p else z),
        vjp=reference.branch,
        ulp=ROUNDED,
        recipes=either((9,), (9,), (9,)),
        ops={"eager": "Mul", "function": "StatelessIf", "xla": "StatelessIf", "graph": "StatelessIf"},
        evidence="called:cond",
        dtypes=WIDE,
        contract={
            "*/eager": Side(reference=lambda p, x, y, z: x * (y if p else z), vjp=reference.branch_alone, why=ONE_TAPE)
        },
        claims=(
            TOPIC.claim(
                "a",
                "What only the branch not taken uses has a gradient that is switched off, not a value.",
                "grad[2]",
                "grad[3]",
                vjp=reference.branch_alone,
                refuted=dict.fromkeys(("*/function", "*/xla", "*/graph"), ZEROS),
            ),
        ),
    ),
    Spec(
        name="claim-c13-cond-v1",
        evidence="called:compat.v1.cond;built:Switch;built:Merge",
        program=program.conditional_v1,
        claims=(
            TOPIC.claim(
                "b",
                "With Switch and Merge, what only the branch not taken uses has a gradient that is switched off.",
                "grad[2]",
                "grad[3]",
                vjp=reference.branch_alone,
                refuted={"*/graph": MERGED},
            ),
        ),
        **_SWITCHED,
    ),
    Spec(
        name="claim-c13-switch-merge",
        program=program.switched,
        claims=(
            TOPIC.claim(
                "c",
                "With Switch and Merge by hand, it is switched off as well.",
                "grad[2]",
                "grad[3]",
                vjp=reference.branch_alone,
                refuted={"*/graph": MERGED},
            ),
        ),
        **_SWITCHED,
    ),
    Spec(
        name="claim-c13-inside-branch",
        program=program.inside_branch,
        reference=lambda p, x: Raises("INVALID_ARGUMENT", "Retval[0] does not have value") if p else 2 * x,
        recipes=either((9,)),
        ops="Switch;Merge",
        evidence="called:gradients",
        dtypes=WIDE,
        modes=("graph",),
        claims=(
            TOPIC.claim(
                "d", "Inside the branch not taken, the gradient is switched off: there is no value to fetch.", "output"
            ),
        ),
    ),
)
