"""Specs that are recorded; `planted_kept_later` has them after a change."""

import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import plain
from tf_opdiff.harness.spec.spec import Side, Spec


def _many(draw, dtype):
    return (draw.uniform(1 << 15).astype(dtype),)


SPECS = (
    Spec(
        name="kept",
        ops="Floor",
        program=lambda tf, x: tf.floor(x),
        reference=np.floor,
        vjp=lambda g, x: None,
        recipes={"plain": plain},
        dtypes=("float32", "float64"),
        contract={"cpu/graph": Side(reference=np.floor, why="a side that holds, so that there is a contract")},
    ),
    Spec(
        name="sums",
        ops="AddV2",
        program=lambda tf, x: x + x,
        reference=lambda x: x + x,
        vjp=lambda g, x: 2 * g,
        recipes={"plain": plain},
    ),
    Spec(name="large", ops="Neg", program=lambda tf, x: -x, reference=np.negative, recipes={"many": _many}),
)
