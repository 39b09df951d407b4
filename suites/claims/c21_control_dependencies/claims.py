"""Control dependencies and reads: the claims."""

from typing import Any

import numpy as np

from tf_opdiff.harness.spec.plan import MODES
from tf_opdiff.harness.spec.spec import Side, Spec
from tf_opdiff.suites.claims.c21_control_dependencies.topic import TOPIC
from tf_opdiff.suites.claims.evidence import CONTROL_DEPENDENCIES, waiting_for

CONTEXT = "https://www.tensorflow.org/api_docs/python/tf/Graph#control_dependencies"


def variable(tf):
    return {"x": tf.Variable(0.0)}


def reference_variable(tf):
    return {"x": tf.compat.v1.Variable(0.0, use_resource=False)}


def read_as_it_is(tf, state):
    x = state["x"]
    x_plus_1 = tf.compat.v1.assign_add(x, 1)
    with tf.control_dependencies([x_plus_1]):
        tf.no_op()  # a control: in a graph, this op waits for the update
        return x


def read_by_identity(tf, state):
    x = state["x"]
    x_plus_1 = tf.compat.v1.assign_add(x, 1)
    with tf.control_dependencies([x_plus_1]):
        return tf.identity(x)


def read_the_update(tf, state):
    x = state["x"]
    x_plus_1 = tf.compat.v1.assign_add(x, 1)
    with tf.control_dependencies([x_plus_1]):
        tf.no_op()
        return x_plus_1


def _zeros():
    return np.zeros(5), {"x": np.float64(0)}


def _counting():
    return np.arange(1.0, 6.0), {"x": np.float64(5)}


PRUNED = "only ops made in the context wait for the update; nothing that is fetched needs it, so it never runs"
IN_ORDER = "outside of v1 graphs a program runs in its order: the update first, and then y, which is x, is read"
KINDS: tuple[tuple[str, tuple[str, str, str], dict[str, Any]], ...] = (
    ("", ("a", "b", "c"), {"state": variable, "ops": "AssignAddVariableOp"}),
    # A reference variable is one in a v1 graph only: elsewhere use_resource=False gives a resource variable.
    ("-ref", ("d", "e", "f"), {"state": reference_variable, "ops": "AssignAdd", "modes": ("graph",)}),
)
OF = {"": "", "-ref": " of a reference variable"}

SPECS = tuple(
    spec
    for suffix, (first, second, third), kind in KINDS
    for spec in (
        Spec(
            name=f"claim-c21-variable{suffix}",
            evidence=waiting_for(kind["ops"]),
            program=read_as_it_is,
            reference=_counting,
            recipes={"literal": lambda draw, dtype: ()},
            steps=5,
            contract={"*/graph": Side(reference=_zeros, why=PRUNED, link=CONTEXT)},
            claims=(
                TOPIC.claim(
                    first,
                    f"y = x{OF[suffix]} gives zeros only.",
                    "output[0]",
                    reference=_zeros,
                    refuted={f"*/{mode}": IN_ORDER for mode in kind.get("modes", MODES) if mode != "graph"},
                    instead=f"claim-c21-identity{suffix}",
                ),
            ),
            **kind,
        ),
        Spec(
            name=f"claim-c21-identity{suffix}",
            evidence=f"called:identity;{CONTROL_DEPENDENCIES}",
            program=read_by_identity,
            reference=_counting,
            recipes={"literal": lambda draw, dtype: ()},
            steps=5,
            claims=(TOPIC.claim(second, f"y = tf.identity(x){OF[suffix]} gives 1, 2, 3, 4, 5.", "output[0]"),),
            **kind,
        ),
        Spec(
            name=f"claim-c21-update{suffix}",
            evidence=waiting_for(kind["ops"]),
            program=read_the_update,
            reference=_counting,
            recipes={"literal": lambda draw, dtype: ()},
            steps=5,
            claims=(TOPIC.claim(third, f"y = x_plus_1{OF[suffix]} gives 1, 2, 3, 4, 5.", "output[0]"),),
            **kind,
        ),
    )
)
