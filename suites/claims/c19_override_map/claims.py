"""What an override map means: the claims."""

import numpy as np

from tf_opdiff.harness.spec.recipes import FLOATS, plain
from tf_opdiff.harness.spec.spec import Claim, Spec
from tf_opdiff.suites.claims.c19_override_map import program
from tf_opdiff.suites.claims.c19_override_map.topic import TOPIC
from tf_opdiff.suites.claims.evidence import CUSTOM_GRADIENT, MAP, mapped
from tf_opdiff.suites.forms.contracts import TAPE, TAPED, taped

SPECS = (
    Spec(
        name="claim-c19-map-of-floor",
        program=program.map_of_floor,
        reference=lambda x: x * np.round(x),
        vjp=lambda g, x: g * np.round(x),
        ulp={"output": 0.5, "grad": 0.5},
        recipes={"plain": plain},
        ops="Round;Mul",
        evidence=MAP,
        dtypes=FLOATS,
        claims=(
            Claim(
                topic=TOPIC,
                letter="a",
                says="A map for Floor changes nothing about ops of other types, be they as much like it as Round is.",
                about=("output", "grad"),
            ),
        ),
    ),
    Spec(
        name="claim-c19-map-of-identity",
        program=program.map_of_identity,
        reference=lambda x: x,
        vjp=lambda g, x: 5 * g,
        ulp={"grad": 0.5},
        recipes={"plain": plain},
        ops="Identity",
        evidence=mapped("Identity", "FiveTimes", "called:identity"),
        dtypes=FLOATS,
        contract=taped(lambda x: x, lambda g, x: g),
        claims=(
            Claim(
                topic=TOPIC,
                letter="b",
                says="The map puts CustomGrad, which is 5·g, in the place of the gradient of Identity.",
                about=("grad",),
                refuted=dict.fromkeys(TAPED, f"{TAPE}: the upstream comes back once"),
                instead="claim-c19-identity-five-times",
            ),
            Claim(
                topic=TOPIC,
                letter="e",
                says="The map keeps the forward pass.",
                about=("output",),
            ),
        ),
    ),
    Spec(
        name="claim-c19-map-of-identity-unnamed",
        program=program.map_of_identity_unnamed,
        reference=lambda x: x,
        vjp=lambda g, x: 5 * g,
        ulp={"grad": 0.5},
        recipes={"plain": plain},
        ops="Identity",
        evidence=mapped("Identity", "FiveTimes", "called:identity"),
        dtypes=FLOATS,
        contract=taped(lambda x: x, lambda g, x: g),
        claims=(
            Claim(
                topic=TOPIC,
                letter="c",
                says='The map reaches tf.identity only with the argument name="Identity".',
                about=("grad",),
                vjp=lambda g, x: g,
                plans=("*/graph",),
                refuted={"*/graph": "the map goes by the type of an op, which is Identity whatever its name"},
                instead="claim-c19-identity-five-times",
            ),
        ),
    ),
    Spec(
        name="claim-c19-map-of-identity-by-name",
        program=program.map_of_identity_by_name,
        reference=lambda x: -x,
        vjp=lambda g, x: -g,
        recipes={"plain": plain},
        ops="Neg",
        evidence=MAP,
        dtypes=FLOATS,
        claims=(
            Claim(
                topic=TOPIC,
                letter="f",
                says='An op of another type is reached if its name is "Identity".',
                about=("grad",),
                vjp=lambda g, x: 5 * g,
                ulp={"grad": 0.5},
                refuted={"*/*": "the map goes by the type of an op: one named Identity that negates is a Neg"},
                instead="claim-c19-identity-five-times",
            ),
        ),
    ),
    Spec(
        name="claim-c19-map-left",
        program=program.map_left,
        reference=lambda x: (x, x),
        vjp=lambda g, x: 5 * g[0] + g[1],
        bound={"grad": lambda u, g, x: 2 * u * (5 * np.abs(g[0]) + np.abs(g[1]))},
        recipes={"plain": plain},
        ops="Identity",
        evidence=mapped("Identity", "FiveTimes", "called:identity"),
        dtypes=FLOATS,
        contract=taped(lambda x: (x, x), lambda g, x: g[0] + g[1]),
        claims=(
            Claim(
                topic=TOPIC,
                letter="d",
                says="The map leaves alone what is made outside its context.",
                about=("grad",),
                plans=("*/graph",),
            ),
        ),
    ),
    Spec(
        name="claim-c19-identity-five-times",
        program=program.identity_five_times,
        reference=lambda x: x,
        vjp=lambda g, x: 5 * g,
        ulp={"grad": 0.5},
        recipes={"plain": plain},
        ops="Identity",
        evidence=CUSTOM_GRADIENT,
        dtypes=FLOATS,
    ),
)
