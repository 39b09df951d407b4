"""Attention by a Bernoulli sample that a Python function draws: the claims."""

from functools import partial

from tf_opdiff.harness.spec.plan import PLANS_WITHOUT_XLA
from tf_opdiff.harness.spec.spec import Side, Spec
from tf_opdiff.suites.claims.c03_attention import reference
from tf_opdiff.suites.claims.c03_attention.claims import CERTAIN, DRAWN
from tf_opdiff.suites.claims.c03_attention.topic import TOPIC
from tf_opdiff.suites.claims.c03_python_sample import program
from tf_opdiff.suites.claims.evidence import PY_FUNC, by_py_func, py_func_mapped
from tf_opdiff.suites.forms.contracts import NO_KERNEL, REFUSED_BY_XLA, TAPE, TAPE_LINK

TAPED = ("*/eager", "*/function")
Sampled = partial(
    Spec,
    reference=reference.attended,
    vjp=reference.flowing,
    ulp={"grad": 0.5},
    recipes=DRAWN,
    ops="Mul",
    dtypes=("float32", "float64"),
)

SPECS = (
    Sampled(
        name="claim-c03-py-func",
        program=program.attend_without_a_map,
        vjp=reference.stopped,
        evidence=by_py_func(),
        contract=REFUSED_BY_XLA,
        claims=(
            TOPIC.claim(
                "g",
                "A sample that py_func draws stops the gradient: without a map, None reaches the probability.",
                "grad[0]",
                plans=PLANS_WITHOUT_XLA,
            ),
        ),
    ),
    Sampled(
        name="claim-c03-py-func-map",
        program=program.attend_by_map,
        evidence=py_func_mapped("BernoulliGradient"),
        contract=REFUSED_BY_XLA
        | dict.fromkeys(TAPED, Side(reference=reference.attended, vjp=reference.stopped, why=TAPE, link=TAPE_LINK)),
        claims=(
            TOPIC.claim(
                "h",
                "A map of PyFunc around it lets the gradient flow: the probability gets the upstream times the "
                "features.",
                "grad[0]",
                refuted={"*/xla": NO_KERNEL} | dict.fromkeys(TAPED, f"{TAPE}: None reaches the probability"),
                instead="claim-c03-custom-gradient",
            ),
        ),
    ),
    Sampled(
        name="claim-c03-py-func-map-called",
        program=program.attend_by_called_map,
        evidence=f"{PY_FUNC};called:function;replaced:PyFunc=BernoulliGradient",
        contract=REFUSED_BY_XLA,
        claims=(
            TOPIC.claim(
                "i",
                "The map of PyFunc does so in eager mode as well, within a tf.function that is called.",
                "grad[0]",
                refuted={"*/xla": NO_KERNEL},
                instead="claim-c03-custom-gradient",
            ),
        ),
    ),
    Sampled(
        name="claim-c03-random-py-func",
        program=program.attend_at_random_by_called_map,
        reference=lambda p, features: p * features,
        vjp=lambda g, p, features: (g * features, g * p),
        recipes=CERTAIN,
        evidence=f"{PY_FUNC};called:function;replaced:PyFunc=RandomBernoulliGradient",
        contract=REFUSED_BY_XLA,
        claims=(
            TOPIC.claim(
                "j",
                "It does so where np.random.binomial draws the sample.",
                "grad[0]",
                refuted={"*/xla": NO_KERNEL},
                instead="claim-c03-random-custom-gradient",
            ),
        ),
    ),
    *(
        Spec(
            name=name,
            program=attend,
            reference=reference.attended,
            vjp=vjp,
            ulp={"grad": 1.5},  # two products: the error of the first is doubled at most
            recipes=DRAWN,
            ops=ops,
            dtypes=("float32", "float64"),
            evidence=f"{PY_FUNC};called:function;replaced:PyFunc=FeaturesTimesGrad",
            contract=REFUSED_BY_XLA,
            claims=(
                TOPIC.claim(
                    letter,
                    says,
                    "grad[0]",
                    vjp=reference.through_sample_alone,
                    refuted={"*/xla": NO_KERNEL} | refuted,
                    instead="claim-c03-custom-gradient",
                ),
            ),
        )
        for name, attend, vjp, ops, letter, says, refuted in (
            (
                "claim-c03-features-times-grad",
                program.attend_by_features_twice,
                reference.flowing_twice,
                "Mul",
                "k",
                (
                    "With the post's gradient function, features · grad, around the sample alone, the probability gets "
                    "the upstream times the features."
                ),
                {"*/*": "grad is the upstream times the features already: multiplied again, it is g·features²"},
            ),
            (
                "claim-c03-features-times-grad-of-product",
                program.attend_in_python,
                reference.through_sample_alone,
                "EnsureShape",
                "l",
                "With the same function around the sample and its product, it is the upstream times the features.",
                {},
            ),
        )
    ),
)
