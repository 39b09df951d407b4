"""What an override map means: the claims."""

from functools import partial

import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import FLOATS, plain
from tf_opdiff.harness.spec.spec import Raises, Spec
from tf_opdiff.suites.claims.c19_override_map import program
from tf_opdiff.suites.claims.c19_override_map.topic import TOPIC
from tf_opdiff.suites.claims.evidence import CUSTOM_GRADIENT, map_of, mapped
from tf_opdiff.suites.forms.contracts import TAPE, TAPED, taped


def _with_control(draw, dtype):
    """The input, and that of the op which the map does reach."""
    return *plain(draw, dtype), *plain(draw, dtype)


def _mean_with_control(draw, dtype):
    return draw.values(dtype, 16), draw.values(dtype, 5), *plain(draw, dtype)


def _times_mean(x, y, z):
    return np.mean(x) * y, np.floor(z)


def _by_mean(g, x, y):
    """The VJP of mean(x)·y."""
    return np.full(x.shape, np.sum(g * y) / x.size), g * np.mean(x)


OfIdentity = partial(
    Spec,
    reference=lambda x: x,
    vjp=lambda g, x: 5 * g,
    ulp={"grad": 0.5},
    recipes={"plain": plain},
    ops="Identity",
    dtypes=FLOATS,
)
Inside = partial(
    Spec,
    reference=lambda x: -np.floor(x),
    vjp=lambda g, x: -g,
    recipes={"plain": plain},
    ops="Floor;Neg",
    dtypes=FLOATS,
)
Mapped = partial(Spec, recipes={"plain": plain}, dtypes=FLOATS)

SPECS = (
    Spec(
        name="claim-c19-map-of-floor",
        program=program.map_of_floor,
        reference=lambda x, z: (x * np.round(x), np.floor(z)),
        vjp=lambda g, x, z: (g[0] * np.round(x), g[1]),
        ulp={"output": 0.5, "grad": 0.5},
        unsigned_zeros=("output[0]", "grad[0]"),  # the claim is not about round(-0.2), whose sign differs on GPUs
        recipes={"plain": _with_control},
        ops="Round;Mul;Floor",
        evidence=mapped("Floor", "Identity"),
        dtypes=FLOATS,
        contract=taped(lambda x, z: (x * np.round(x), np.floor(z)), lambda g, x, z: (g[0] * np.round(x), None)),
        claims=(
            TOPIC.claim(
                "a",
                "A map for Floor changes nothing about ops of other types, be they as much like it as Round is.",
                "output[0]",
                "grad[0]",
                plans=("*/graph",),  # elsewhere it changes nothing about Floor either
            ),
        ),
    ),
    OfIdentity(
        name="claim-c19-map-of-identity",
        program=program.map_of_identity,
        evidence=mapped("Identity", "FiveTimes", "called:identity(name=Identity)"),
        contract=taped(lambda x: x, lambda g, x: g),
        claims=(
            TOPIC.claim(
                "b",
                "The map puts CustomGrad, which is 5·g, in the place of the gradient of Identity.",
                "grad",
                refuted=dict.fromkeys(TAPED, f"{TAPE}: the upstream comes back once"),
                instead="claim-c19-identity-five-times",
            ),
            TOPIC.claim("e", "The map keeps the forward pass.", "output"),
        ),
    ),
    OfIdentity(
        name="claim-c19-map-of-identity-unnamed",
        program=program.map_of_identity_unnamed,
        evidence=mapped("Identity", "FiveTimes", "called:identity"),
        contract=taped(lambda x: x, lambda g, x: g),
        claims=(
            TOPIC.claim(
                "c",
                'The map reaches tf.identity only with the argument name="Identity".',
                "grad",
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
        reference=lambda x, z: (-x, z),
        vjp=lambda g, x, z: (-g[0], 5 * g[1]),
        ulp={"grad": 0.5},
        recipes={"plain": _with_control},
        ops="Neg",
        evidence=mapped("Identity", "FiveTimes", "called:negative(name=Identity)"),
        dtypes=FLOATS,
        contract=taped(lambda x, z: (-x, z), lambda g, x, z: (-g[0], g[1])),
        claims=(
            TOPIC.claim(
                "f",
                'An op of another type is reached if its name is "Identity".',
                "grad[0]",
                vjp=lambda g, x, z: (5 * g[0], 5 * g[1]),
                plans=("*/graph",),
                refuted={"*/graph": "the map goes by the type of an op: one named Identity that negates is a Neg"},
                instead="claim-c19-identity-five-times",
            ),
        ),
    ),
    Mapped(
        name="claim-c19-map-left",
        program=program.map_left,
        reference=lambda x: (x, x),
        vjp=lambda g, x: 5 * g[0] + g[1],
        bound={"grad": lambda u, g, x: 2 * u * (5 * np.abs(g[0]) + np.abs(g[1]))},
        ops="Identity",
        evidence=mapped("Identity", "FiveTimes", "called:identity"),
        contract=taped(lambda x: (x, x), lambda g, x: g[0] + g[1]),
        claims=(
            TOPIC.claim("d", "The map leaves alone what is made outside its context.", "grad", plans=("*/graph",)),
        ),
    ),
    OfIdentity(
        name="claim-c19-identity-five-times",
        program=program.identity_five_times,
        evidence=CUSTOM_GRADIENT,
    ),
    Spec(
        name="claim-c19-map-around-a-mean",
        program=program.map_around_a_mean,
        reference=_times_mean,
        vjp=lambda g, x, y, z: (*_by_mean(g[0], x, y), g[1]),
        bound={
            "output[0]": lambda u, g, x, y, z: (x.size + 2) * u * np.mean(np.abs(x)) * np.abs(y),
            "grad[0]": lambda u, g, x, y, z: (y.size + 3) * u * np.sum(np.abs(g[0] * y)) / x.size,
            "grad[1]": lambda u, g, x, y, z: (x.size + 2) * u * np.mean(np.abs(x)) * np.abs(g[0]),
        },
        recipes={"plain": _mean_with_control},
        ops="Mean;Mul;Floor",
        evidence=mapped("Floor", "Identity"),
        dtypes=("float32", "float64"),
        contract=taped(_times_mean, lambda g, x, y, z: (*_by_mean(g[0], x, y), None)),
        claims=(
            TOPIC.claim(
                "g",
                "A map for Floor around reduce_mean(SomeVals) * SomeOtherVal changes nothing: no op there is a Floor.",
                "output[0]",
                "grad[0]",
                "grad[1]",
                plans=("*/graph",),  # elsewhere it changes nothing about Floor either
            ),
        ),
    ),
    Spec(
        name="claim-c19-run-what-was-registered",
        program=program.run_what_was_registered,
        reference=lambda x: Raises("RuntimeError", "Op type not registered 'CustomGrad'"),
        recipes={"plain": plain},
        ops="",
        evidence=f"{map_of('Identity', 'CustomGrad')};called:identity",
        modes=("graph",),
        sessions=True,
        claims=(
            TOPIC.claim(
                "h",
                "Registering a gradient defines an op that has no forward pass.",
                "output",
                reference=lambda x: Raises("INVALID_ARGUMENT", "No OpKernel was registered"),
                refuted={
                    "*/*": "it puts a name into a table of gradients: no op has this name, with or without kernel"
                },
                instead="claim-c19-identity-five-times",
            ),
        ),
    ),
    Mapped(
        name="claim-c19-map-to-nothing",
        program=program.map_to_nothing,
        reference=np.floor,
        vjp=lambda g, x: Raises("LookupError", "No gradient defined"),
        ops="Floor",
        evidence=mapped("Floor", "NeverRegistered"),
        contract=taped(np.floor, lambda g, x: None),
        claims=(
            TOPIC.claim(
                "i",
                '{"X": "Y"} needs a gradient that is registered as Y: without one, it is a LookupError.',
                "grad",
                refuted=dict.fromkeys(TAPED, f"{TAPE}: nobody looks up the gradient, and floor's own is None"),
                instead="claim-c19-identity-five-times",
            ),
        ),
    ),
    Inside(
        name="claim-c19-map-inside",
        program=program.map_inside,
        evidence=mapped("Floor", "Identity"),
        contract=taped(lambda x: -np.floor(x), lambda g, x: None),
        claims=(
            TOPIC.claim(
                "j",
                "The key of the map always is the type of the op that gives the output: no other op is reached.",
                "grad",
                denies=True,
                plans=("*/graph",),
                refuted={"*/graph": "it reaches every op of its type in the context, here a Floor in front of a Neg"},
                instead="claim-c19-pass-through-inside",
            ),
        ),
    ),
    Inside(
        name="claim-c19-pass-through-inside",
        program=program.pass_through_inside,
        evidence="called:grad_pass_through",
    ),
)
