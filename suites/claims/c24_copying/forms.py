"""Specs of programs that copy variables, in a session and in the order of the program, and what they share."""

from tf_opdiff.harness.spec.plan import without_modes
from tf_opdiff.harness.spec.spec import Spec
from tf_opdiff.suites.claims.c24_copying.topic import TOPIC

RESOURCE = "AssignAddVariableOp;AssignSubVariableOp"
REFERENCE = "AssignAdd;AssignSub"
BY_GRAPH = (
    "Copying the graph makes a reference: what becomes of the variable shows in its copy, and the other way round."
)
BY_LOAD = "load makes a deep copy: what becomes of the one variable afterwards does not touch the other."
IN_ORDER = without_modes("graph")


def quarters(draw, dtype):
    """Values and changes whose sums are all exact."""
    x, change = draw.integers(2, 9, low=-16, high=16) / 4 + 0.125
    return x.astype(dtype), (change + 1.125).astype(dtype)


def claim(letter, says, **more):
    return TOPIC.claim(letter, says, "output", **more)


def in_session(name, program, reference, ops, *claims, **more):
    return Spec(
        name=name,
        program=program,
        reference=reference,
        recipes={"quarters": quarters},
        ops=ops,
        modes=("graph",),
        sessions=True,
        claims=claims,
        **more,
    )


def in_order(name, program, reference, state, *claims, evidence=""):
    return Spec(
        name=name,
        program=program,
        reference=reference,
        recipes={"quarters": quarters},
        ops="AssignAddVariableOp;AssignSubVariableOp",
        evidence=evidence,
        modes=IN_ORDER,
        state=state,
        claims=claims,
    )


LOAD = claim("d", BY_LOAD)
