"""SGAN with its messengers: the claims."""

from functools import partial

from tf_opdiff.harness.spec.spec import Spec
from tf_opdiff.suites.claims.c23_messengers import reference
from tf_opdiff.suites.claims.c23_networks import messenger_graphs, messenger_program
from tf_opdiff.suites.claims.c23_networks.claims import EACH, IMPOSSIBLE, LOCAL, MOVES, starts
from tf_opdiff.suites.claims.c23_networks.sgan_reference import local_pairs_alone
from tf_opdiff.suites.claims.c23_networks.topic import TOPIC
from tf_opdiff.suites.claims.evidence import MINIMIZE

Sgan = partial(
    Spec,
    recipes={"starts": starts},
    ops="ResourceApplyGradientDescent;Softplus",
    dtypes=("float32", "float64"),
    modes=("graph",),
    sessions=True,
)


def _never(**more):
    return TOPIC.claim(
        "g", "The global pair never affects the local ones.", *LOCAL, reference=local_pairs_alone, **more
    )


SPECS = (
    Sgan(
        name="claim-c23-messengers",
        program=messenger_program.with_messengers,
        reference=reference.with_messengers,
        bound=reference.bounds(reference.with_messengers),
        evidence=f"graphs:1;sessions:1;{MINIMIZE};called:Variable.assign",
        claims=(
            TOPIC.claim(
                "a",
                IMPOSSIBLE,
                "output",
                denies=True,
                refuted={"*/*": "each of the eight steps names its own network in var_list, messengers included"},
                instead="claim-c23-messengers",
            ),
            _never(),
        ),
    ),
    Sgan(
        name="claim-c23-no-messengers",
        program=messenger_program.without_messengers,
        reference=reference.without_messengers,
        bound=reference.bounds(reference.without_messengers),
        evidence=f"graphs:1;sessions:1;{MINIMIZE}",
        claims=(
            TOPIC.claim("f", MOVES, *LOCAL, reference=local_pairs_alone, denies=True),
            _never(
                refuted={"*/*": "the global generator's opponents learn its samples: here they are local themselves"},
                instead="claim-c23-messengers",
            ),
        ),
    ),
    Sgan(
        name="claim-c23-messengers-in-graphs",
        program=messenger_graphs.in_graphs,
        reference=reference.with_messengers,
        bound=reference.bounds(reference.with_messengers),
        evidence=f"graphs:3;sessions:3;{MINIMIZE};called:Variable.load",
        claims=(TOPIC.claim("b", EACH, "output"), _never()),
    ),
)
