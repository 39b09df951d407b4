"""Attention by a Bernoulli sample: the claims."""

from functools import partial

import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import FLOATS, SIZE
from tf_opdiff.harness.spec.spec import Side, Spec
from tf_opdiff.suites.claims.c03_attention import program, reference
from tf_opdiff.suites.claims.c03_attention.topic import TOPIC
from tf_opdiff.suites.claims.evidence import CUSTOM_GRADIENT, mapped
from tf_opdiff.suites.forms.contracts import TAPE, TAPE_LINK, TAPED


def _drawn(draw, dtype):
    """Probabilities and a uniform number in sixty-fourths, so that sums are exact; and features."""
    p, u = (draw.integers(SIZE, low=0, high=n) / 64 for n in (65, 64))
    p[:2] = 0, 1
    return p.astype(dtype), u.astype(dtype), draw.values(dtype, SIZE)


def _certain(draw, dtype):
    """Probabilities of 0 and 1, and features: what is drawn does not matter then."""
    return draw.booleans(SIZE).astype(dtype), draw.values(dtype, SIZE)


DRAWN = {"drawn": _drawn}
CERTAIN = {"certain": _certain}

Sampled = partial(Spec, recipes=DRAWN, dtypes=FLOATS)
Certain = partial(Spec, reference=lambda p, features: p * features, recipes=CERTAIN, ops="RandomUniform;Less;Mul")

SPECS = (
    Sampled(
        name="claim-c03-sample",
        program=program.attend,
        reference=reference.attended,
        vjp=reference.stopped,
        ops="Less;Mul",
        claims=(TOPIC.claim("a", "A sample stops the gradient: none reaches the probability.", "grad[0]"),),
    ),
    Certain(
        name="claim-c03-random-sample",
        program=program.attend_at_random,
        vjp=lambda g, p, features: (None, g * p),
        claims=(TOPIC.claim("b", "So it is with numbers that TensorFlow draws.", "grad[0]"),),
    ),
    Sampled(
        name="claim-c03-custom-gradient",
        program=program.attend_with_gradient,
        reference=reference.attended,
        vjp=reference.flowing,
        ulp={"grad": 0.5},
        ops="Less;Mul",
        evidence=CUSTOM_GRADIENT,
        claims=(
            TOPIC.claim(
                "c",
                "With an override it flows: the gradient of the probability is the upstream times the features.",
                "grad[0]",
            ),
        ),
    ),
    Certain(
        name="claim-c03-random-custom-gradient",
        program=program.attend_at_random_with_gradient,
        vjp=lambda g, p, features: (g * features, g * p),
        ulp={"grad": 0.5},
        evidence=CUSTOM_GRADIENT,
        claims=(TOPIC.claim("d", "It flows with numbers that TensorFlow draws, too.", "grad[0]"),),
    ),
    Sampled(
        name="claim-c03-map",
        program=program.attend_by_map,
        reference=reference.attended_from_below,
        vjp=reference.flowing_from_below,
        ulp={"grad": 0.5},
        ops="Floor;Mul",
        evidence=mapped("Floor", "Identity"),
        contract=dict.fromkeys(
            TAPED,
            Side(
                reference=reference.attended_from_below,
                vjp=lambda g, p, u, features: (None, None, g * np.floor(p + u)),
                why=TAPE,
                link=TAPE_LINK,
            ),
        ),
        claims=(
            TOPIC.claim(
                "e",
                'The map {"Floor": "Identity"} around floor(p + u) does the same.',
                "grad[0]",
                refuted=dict.fromkeys(TAPED, f"{TAPE}: floor keeps its own gradient, which is None"),
                instead="claim-c03-custom-gradient",
            ),
        ),
    ),
    Spec(
        name="claim-c03-map-called",
        program=program.attend_by_called_map,
        reference=reference.attended_from_below,
        vjp=reference.flowing_from_below,
        ulp={"grad": 0.5},
        recipes=DRAWN,
        ops="Floor;Mul",
        evidence="called:function;replaced:Floor=Identity",
        claims=(
            TOPIC.claim(
                "f",
                "The map does so wherever what is differentiated is a graph, as a call of a tf.function is.",
                "grad[0]",
            ),
        ),
    ),
)
