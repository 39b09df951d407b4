"""Several networks: the claims."""

from typing import Any

from tf_opdiff.harness.spec.plan import MODES, without_modes
from tf_opdiff.harness.spec.spec import Spec
from tf_opdiff.suites.claims.c23_networks import program, reference, sgan_program, sgan_reference
from tf_opdiff.suites.claims.c23_networks.reference import ROUNDS, rounding, rounding_in_the_end, with_final
from tf_opdiff.suites.claims.c23_networks.topic import TOPIC
from tf_opdiff.suites.claims.evidence import MINIMIZE

IN_ORDER = without_modes("graph")


def _samples(draw, dtype):
    """Real samples, noise, and the weights to start from: of the discriminator, and of the generator."""
    return tuple(draw.uniform(*shape).astype(dtype) for shape in ((6, 2), (4, 2), (2, 3), (2, 2)))


def _spec(name, program, reference, ops, *claims, evidence, state=None):
    how: dict[str, Any] = {"modes": ("graph",), "sessions": True}
    if state:
        how = {"modes": IN_ORDER, "state": state, "steps": ROUNDS}
        reference = with_final(reference)
    return Spec(
        name=name,
        program=program,
        reference=reference,
        recipes={"samples": _samples},
        # under op determinism, TensorFlow makes the loss of other ops
        ops=dict.fromkeys(MODES, ops) | {"+deterministic": ops.replace(CROSS_ENTROPY, "LogSoftmax")},
        dtypes=("float32", "float64"),
        evidence=evidence,
        bound={"output": rounding, "output[2]": rounding_in_the_end, "output[3]": rounding_in_the_end},
        claims=claims,
        **how,
    )


def _claim(letter, says, **more):
    return TOPIC.claim(letter, says, "output", **more)


IMPOSSIBLE = "Two networks cannot be trained in turn in one graph."
EACH = "Two networks can be trained in turn with a graph each, between which arrays are handed over."
CROSS_ENTROPY = "SparseSoftmaxCrossEntropyWithLogits"
LOSS = f"{CROSS_ENTROPY};Tanh"

LOCAL = ("output[0]", "output[1]")
MOVES = "Without copies, the training of SGAN's global pair moves the local pairs."


def starts(draw, dtype):
    """Real samples, noise, and the weights of a global pair and of two local ones."""
    return tuple(draw.uniform(*shape).astype(dtype) for shape in ((6, 2), (4, 2), (3, 2), (3, 2, 2)))


def _sgan(name, program, *claims, evidence=MINIMIZE):
    return Spec(
        name=name,
        program=program,
        reference=sgan_reference.sgan,
        bound=sgan_reference.BOUNDS,
        recipes={"starts": starts},
        ops="ResourceApplyGradientDescent;Softplus",
        evidence=f"graphs:1;{evidence}",
        dtypes=("float32", "float64"),
        modes=("graph",),
        sessions=True,
        claims=claims,
    )


ONE_GRAPH = _claim(
    "a",
    IMPOSSIBLE,
    denies=True,
    refuted={"*/*": "var_list says whose variables a step moves; the rest of the graph is only read"},
    instead="claim-c23-one-graph",
)

SPECS = (
    _spec(
        "claim-c23-one-graph",
        program.train_in_one_graph,
        reference.in_turn,
        f"ResourceApplyGradientDescent;{LOSS}",
        ONE_GRAPH,
        evidence=f"graphs:1;{MINIMIZE}",
    ),
    _spec(
        "claim-c23-one-program",
        program.train_in_one_program,
        reference.in_turn,
        LOSS,
        _claim(
            "a",
            IMPOSSIBLE,
            denies=True,
            plans=("*/function", "*/xla"),
            refuted={"*/*": "one traced function holds both networks; each tape's gradient is asked for one of them"},
            instead="claim-c23-one-program",
        ),
        evidence="called:GradientTape",
        state=program.two_networks,
    ),
    _spec(
        "claim-c23-two-graphs",
        program.train_in_two_graphs,
        reference.in_turn,
        f"ResourceApplyGradientDescent;{LOSS}",
        _claim("b", EACH),
        evidence="graphs:2;sessions:2",
    ),
    _spec(
        "claim-c23-two-functions",
        program.train_in_two_functions,
        reference.in_turn,
        LOSS,
        _claim("b", EACH),
        evidence="called:function",
        state=program.two_networks,
    ),
    _spec(
        "claim-c23-no-var-list",
        program.train_without_var_list,
        reference.both_at_once,
        f"ResourceApplyGradientDescent;{LOSS}",
        _claim(
            "c",
            "Minimising the discriminator's loss leaves the generator as it is, and the other way round.",
            reference=reference.in_turn,
            refuted={"*/*": "without var_list, minimize moves all trainable variables that the loss depends on"},
            instead="claim-c23-one-graph",
        ),
        evidence=f"graphs:1;{MINIMIZE}",
    ),
    _spec(
        "claim-c23-one-adam",
        program.train_by_one_adam,
        reference.one_adam,
        f"ResourceApplyAdam;{LOSS}",
        _claim(
            "d",
            "One Adam can train both networks just as two would.",
            reference=reference.each_adam,
            refuted={
                "*/*": "it has one pair of powers of its betas, which each step advances, whichever network's it is"
            },
            instead="claim-c23-adam-each",
        ),
        evidence=f"graphs:1;{MINIMIZE}",
    ),
    _spec(
        "claim-c23-adam-each",
        program.train_by_an_adam_each,
        reference.each_adam,
        f"ResourceApplyAdam;{LOSS}",
        evidence=f"graphs:1;{MINIMIZE}",
    ),
    _sgan(
        "claim-c23-sgan",
        sgan_program.sgan,
        ONE_GRAPH,
        TOPIC.claim(
            "e",
            "SGAN's global pair trains on copies of the local pairs, which train as they would alone.",
            *LOCAL,
            reference=sgan_reference.local_pairs_alone,
        ),
        evidence=f"{MINIMIZE};called:Variable.assign",
    ),
    _sgan(
        "claim-c23-sgan-without-copies",
        sgan_program.sgan_without_copies,
        TOPIC.claim(
            "f",
            MOVES,
            *LOCAL,
            reference=sgan_reference.local_pairs_alone,
            denies=True,
            refuted={"*/*": "var_list names the variables of the global pair alone: its steps only read the others"},
            instead="claim-c23-sgan-without-copies",
        ),
    ),
)
