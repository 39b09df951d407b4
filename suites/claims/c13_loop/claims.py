"""The gradient of Merge in a loop: the claims."""

import numpy as np

from tf_opdiff.harness.spec.spec import Spec
from tf_opdiff.suites.claims.c13_conditional.topic import TOPIC
from tf_opdiff.suites.claims.c13_loop import program, reference

RECIPES = {
    name: lambda draw, dtype, n=n: (np.array(n, np.int32), draw.values(dtype, 9) / dtype.type(2), draw.values(dtype, 9))
    for name, n in (("three", 3), ("none", 0))
}

SPECS = (
    Spec(
        name="claim-c13-loop",
        program=program.power,
        reference=reference.power,
        vjp=reference.gradients,
        bound={"output": reference.bound, "grad[1]": reference.bound, "grad[2]": reference.bound},
        recipes=RECIPES,
        ops="Switch;Merge;Mul",
        evidence="called:compat.v1.while_loop;built:Merge;built:Enter;built:Exit;built:NextIteration",
        dtypes=("float32", "float64"),
        modes=("graph",),  # elsewhere a loop is a While, or runs in Python
        claims=(
            TOPIC.claim(
                "e",
                "Merge is used in different contexts: in a loop, its gradient is that of all iterations, and a "
                "value for any number of them.",
                "grad",
            ),
        ),
    ),
)
