"""The answer's helper, and the slide's formulas: the claims."""

from functools import partial

from tf_opdiff.harness.spec.inputs.recipes import plain
from tf_opdiff.harness.spec.plan import MODES, PLANS_WITHOUT_XLA
from tf_opdiff.harness.spec.spec import Raises, Spec
from tf_opdiff.suites.claims.c01_addition.claims import NET, SAME
from tf_opdiff.suites.claims.c01_addition.topic import TOPIC
from tf_opdiff.suites.claims.c01_helper import program, reference
from tf_opdiff.suites.claims.evidence import PY_FUNC, by_py_func
from tf_opdiff.suites.forms.contracts import REFUSED_BY_XLA

LOSS_OP = dict.fromkeys(MODES, "SparseSoftmaxCrossEntropyWithLogits") | {"+deterministic": "LogSoftmax"}
STATELESS = f"{PY_FUNC};built:PyFuncStateless"
RANDOM = "A random number in the name of a gradient avoids duplicates."
#: 1 - exp(-n² / (2·10⁸)) is one half at n = 11,774.
COLLISION = (
    "under the same seed, NumPy draws the same number again, and the second name is a KeyError; without a seed, two of "
    "11,774 such names are equal with a probability of 50 %"
)
Net = partial(
    Spec,
    reference=reference.loss,
    bound=reference.BOUNDS,
    recipes=NET,
    ops={key: f"AddV2;Mul;{op}" for key, op in LOSS_OP.items()},
    dtypes=("float32", "float64"),
)

SPECS = (
    Net(
        name="claim-c01-grad-as-it-comes",
        program=program.grad_as_it_comes,
        vjp=reference.grad_is_by_e,
        evidence=f"{PY_FUNC};called:function;replaced:PyFunc=GradToK",
        contract=REFUSED_BY_XLA,
        claims=(
            TOPIC.claim(
                "l",
                "grad, which a registered gradient receives, is the derivative of the loss by a = d·e.",
                "grad[2]",
                vjp=reference.grad_is_by_a,
                refuted=SAME | {"*/*": "grad is the derivative by the op's own output e, and that is d times as much"},
                instead="claim-c01-mended",
            ),
        ),
    ),
    Net(
        name="claim-c01-total-derivative",
        program=program.plain_net,
        vjp=reference.by_complex_step,
        claims=(
            TOPIC.claim(
                "m",
                "The slide's formulas, (e+d)·g by c, d·g by k and e·g by d, are the total derivatives if g is the "
                "derivative by a.",
                "grad",
                vjp=reference.by_total_derivative,
            ),
        ),
    ),
    Net(
        name="claim-c01-without-a-map",
        program=program.without_a_map,
        vjp=reference.by_d_only,
        evidence=by_py_func(),
        contract=REFUSED_BY_XLA,
        claims=(
            TOPIC.claim(
                "n", "py_func without a map gives None: no gradient reaches k.", "grad[2]", plans=PLANS_WITHOUT_XLA
            ),
        ),
    ),
    Net(
        name="claim-c01-stateless",
        program=program.stateless_under_a_map_of_py_func,
        reference=reference.loss_and_twice,
        vjp=reference.with_twice(reference.by_d_only),
        bound=reference.BOUNDS_WITH_TWICE,
        evidence=f"{STATELESS};replaced:PyFunc=HelperSumGradient",
        contract=REFUSED_BY_XLA,
        claims=(
            TOPIC.claim(
                "o",
                "The helper overrides the gradient with stateful=False too.",
                "grad[1]",
                "grad[2]",
                vjp=reference.with_twice(reference.right),
                refuted=SAME
                | {"*/*": "stateful=False makes another op, PyFuncStateless; the map of PyFunc is ignored silently"},
                instead="claim-c01-stateless-mapped",
            ),
        ),
    ),
    Net(
        name="claim-c01-stateless-mapped",
        program=program.stateless_under_its_own_map,
        vjp=reference.right,
        evidence=f"{STATELESS};replaced:PyFuncStateless=HelperSumGradient",
        contract=REFUSED_BY_XLA,
    ),
    Spec(
        name="claim-c01-random-name-without-seed",
        program=program.register_without_a_seed,
        reference=lambda x: -x,
        recipes={"plain": plain},
        ops="Neg",
        evidence="called:RegisterGradient",
        claims=(TOPIC.claim("p", RANDOM, "output"),),
    ),
    Spec(
        name="claim-c01-random-name",
        program=program.register_under_a_fixed_seed,
        reference=lambda x: Raises("KeyError", "Registering two gradient with name 'PyFuncGrad"),
        recipes={"plain": plain},
        ops="",
        evidence="called:RegisterGradient",
        claims=(
            TOPIC.claim(
                "p",
                RANDOM,
                "output",
                reference=lambda x: x,
                refuted={"*/*": COLLISION},
                instead="claim-c01-random-name-without-seed",
            ),
        ),
    ),
)
