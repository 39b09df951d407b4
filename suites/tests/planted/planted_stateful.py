"""A stateful op, as in the tutorial: a twin of `tf.raw_ops.AssignAddVariableOp`."""

import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import FLOATS
from tf_opdiff.suites.forms.errors import WHEN_BUILT
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.part import part, tiered
from tf_opdiff.suites.forms.recipes.elements import small_integers
from tf_opdiff.suites.forms.recipes.pairs import shaped
from tf_opdiff.suites.forms.state.variables import RESOURCE, final

SPECS = op(
    "assign-add-twin",
    "AssignAddVariableOp",
    part(
        "-three-steps",
        steps=3,
        reference=lambda x, y: (np.stack([x + y, x + 2 * y, x + 3 * y]), {"v": x + 3 * y}),
        recipes={"exact": lambda draw, dtype: (small_integers(draw, dtype, 5), small_integers(draw, dtype, 5))},
        lowest_tier=True,
    ),
    part("-mismatched", recipes={"columns": shaped((3, 5), (3, 4))}, lowest_tier=True, **WHEN_BUILT),
    arguments=("resource", "value"),
    variables=RESOURCE,
    reference=final(lambda x, y: x + y),
    recipes={"plain": shaped((3, 5), (3, 5)), "scalar": shaped((), ()), "empty": shaped((0, 3), (0, 3))},
    dtypes=tiered(FLOATS),
    ulp={"output": 0.5},
)
