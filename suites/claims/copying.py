"""Copying variables between graphs and sessions: C24."""

import numpy as np

from harness.inputs import plain
from harness.spec import Claim, Spec
from suites.claims import topics


def load(tf, session, x):
    with session() as s:
        original, copy = (tf.compat.v1.get_variable(name, x.shape, x.dtype) for name in ("original", "copy"))
        s.run(tf.compat.v1.global_variables_initializer())
        original.load(x, s)
        copy.load(s.run(original), s)
        s.run(original.assign_add(np.ones_like(x)))
        return s.run((original, copy))


SPECS = (
    Spec(
        name="claim-c24-load",
        program=load,
        reference=lambda x: (x + 1, x),
        recipes={"plain": plain},
        ops="AssignAddVariableOp",
        ulp={"output[0]": 0.5},
        modes=("graph",),
        sessions=True,
        claims=(
            Claim(
                topic=topics.C24,
                letter="d",
                says="load makes a deep copy: what becomes of the original afterwards does not touch it.",
                about=("output",),
            ),
        ),
    ),
)
