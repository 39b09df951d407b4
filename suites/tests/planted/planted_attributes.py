"""An op with attributes and several shapes, as in the tutorial: a twin of `tf.roll`."""

import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import FLOATS, INTEGERS
from tf_opdiff.suites.forms.calls import Wrong, call
from tf_opdiff.suites.forms.errors import IN_KERNEL
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.part import tiered
from tf_opdiff.suites.forms.recipes.elements import not_numbers, plain
from tf_opdiff.suites.reference.promises.promise import OfOneTensor

SPECS = op(
    "roll-twin",
    "Roll",
    arguments=("input",),
    promise=OfOneTensor(
        f=lambda x, shift, axis: np.roll(x, shift, axis),
        vjp=lambda g, x, shift, axis: np.roll(g, -shift, axis),
        jvp=lambda t, x, shift, axis: np.roll(t, shift, axis),
        hvp=lambda g, t, x, shift, axis: None,
    ),
    calls={
        "rows": call((3, 5), shift=1, axis=0),
        "backwards": call((2, 3, 4), shift=-2, axis=-1),
        "around": call((7,), shift=9, axis=0),
    },
    dtypes=tiered(FLOATS),
    recipes={"plain": plain, "special": not_numbers, "upstreams": plain},
    second=("plain",),
    integers=tiered(INTEGERS),
    of_integers={"plain": plain},
    batch={"rows": call((3, 5), shift=2, axis=1)},
    small={"none": {"x": call((0,), shift=1, axis=0)}, "one": {"x": call((1,), shift=1, axis=0)}},
    wrong={"no-axis": Wrong(lambda tf, x: tf.raw_ops.Roll(input=x, shift=1, axis=2), ((3, 5),), IN_KERNEL)},
)
