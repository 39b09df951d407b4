"""The claims of `suites.claims` are complete, and their inputs tell each prediction from the promise of its spec."""

import re
from typing import NamedTuple

import numpy as np
import pytest

from tf_opdiff.harness.device.observation import Result
from tf_opdiff.harness.judge.differences.compare import compare
from tf_opdiff.harness.judge.promises.expectation import expectations
from tf_opdiff.harness.judge.verdicts.claim import predictions
from tf_opdiff.harness.spec.catalog import Catalog
from tf_opdiff.harness.spec.plan import MODES, Device, Plan
from tf_opdiff.harness.store.records.record import CLAIM, FAILING
from tf_opdiff.harness.tests.rotation import subject
from tf_opdiff.suites.forms.contracts import TAPE
from tf_opdiff.suites.tests.claims import planted_denials, planted_without
from tf_opdiff.suites.tests.subjects.rows import ROWS

CATALOG = Catalog.load("tf_opdiff.suites.claims")
SPECS = tuple(CATALOG.specs.values())
#: The letters of each topic's claims; C10 has one claim, without a letter.
LETTERS = {
    "C01": "abcdefghijklmnop",
    "C02": "abcdefghi",
    "C03": "abcdefghijkl",
    "C04": "abc",
    "C05": "abcdefghijk",
    "C06": "abcdefghi",
    "C07": "ab",
    "C08": "ab",
    "C09": "abcd",
    "C10": "",
    "C11": "abcdefg",
    "C12": "abcdefgh",
    "C13": "abcde",
    "C14": "abcde",
    "C15": "abcdefghijklmno",
    "C16": "abcdefgh",
    "C17": "abcdefghijklmno",
    "C18": "abcdefghijklmn",
    "C19": "abcdefghij",
    "C20": "abcdefgh",
    "C21": "abcdef",
    "C22": "abcde",
    "C23": "abcdefg",
    "C24": "abcdefghi",
    "C25": "abcdef",
    "C26": "abc",
    "C27": "ab",
}
#: Refuted by roundings that are TensorFlow's, and not its reference's.
BY_ROUNDING = [
    "C09c of claim-c09-binarize on cpu/graph",
    *(f"C27a of claim-c27-conv-layer on cpu/{mode}" for mode in ("eager", "function", "xla")),
    *(f"C27a of claim-c27-{name} on cpu/{mode}" for name in ("conv", "matmul") for mode in MODES),
]
#: These say that a map changes no gradient.
SAYS_THAT_NOTHING_CHANGES = {"C12h", "C19a", "C19c", "C19g"}
#: The mean's own part of the gradient comes with and without the map.
ALSO_WITHOUT_THE_MAP = {"C08b"}


def test_every_topic_has_its_claims():
    present = {}
    for claim in (claim for spec in SPECS for claim in spec.claims):
        present.setdefault(claim.topic.id, set()).add(claim.letter)
    assert {topic: "".join(sorted(letters)) for topic, letters in present.items()} == LETTERS


def test_a_package_has_the_claims_of_the_topic_whose_number_it_has():
    for item in CATALOG.items:
        number = item.module.split(".")[-2].partition("_")[0]
        assert item.suite == "claims" and item.spec.name.startswith(f"claim-{number}-")
        assert {claim.topic.id.lower() for claim in item.spec.claims} <= {number}


def outcome(want):
    """A result that is what a spec promises."""
    if want.status == "error":
        return Result("error", code=want.raises.code, message=want.raises.says)
    value = None if want.value is None else want.value.astype(want.dtype)
    return Result(want.status, value, want.indices, want.shape)


@pytest.fixture(scope="module")
def judged():
    """(spec, claim, plan, whether what the spec promises there is what the claim predicts, in all cases)."""
    rows = []
    for spec in SPECS:
        plans = [Plan(Device.parse("cpu"), mode) for mode in spec.modes]
        agree = {
            (claim.id, plan): True for claim in spec.claims for plan in plans if any(map(plan.matches, claim.plans))
        }
        for case in spec.cases():
            inputs = case.inputs()
            expected, predicted = expectations(case, inputs, plans), predictions(case, inputs)
            for name, plan in agree:
                agree[name, plan] &= agrees(case, plan.mode, expected[plan].wants, predicted[name], name)
        by_id = {claim.id: claim for claim in spec.claims}
        rows += [(spec, by_id[name], plan, agreed) for (name, plan), agreed in agree.items()]
    return rows


def agrees(case, mode, promised, predicted, name):
    """Whether what a spec promises is what a claim predicts of a case."""
    with np.errstate(all="ignore"):
        return not any(
            compare(outcome(promised.get(q, promised["output[0]"])), want.in_mode(mode), q).kind
            for q, want in predicted.items()
        )


def test_the_inputs_tell_a_prediction_from_what_its_spec_promises(judged):
    wrong = [
        f"{claim.id} of {spec.name} on {plan}"
        for spec, claim, plan, agreed in judged
        if (agreed == claim.denies) != bool(claim.why_refuted(plan))
    ]
    assert wrong == BY_ROUNDING


def test_no_claim_of_a_gradient_holds_where_its_map_is_ignored(judged):
    """The gradient there is the plain one: it would confirm the claim by coincidence."""
    holding = {
        claim.id
        for spec, claim, plan, _ in judged
        if spec.side(plan) and TAPE in spec.side(plan).why and not claim.why_refuted(plan)
        if any(quantity.startswith("grad") for quantity in claim.about)
    }
    assert holding == ALSO_WITHOUT_THE_MAP


def test_every_spec_with_a_claim_has_a_planted_program():
    planted = {spec.name.partition("--")[0] for spec in planted_without.SPECS}
    assert [spec.name for spec in SPECS if spec.claims and spec.name not in planted] == []


def test_every_way_to_take_a_subject_out_is_used():
    used = {row for rows in planted_without.WAYS.values() for row in rows}
    assert [row for row in ROWS if row not in used] == []


def topic_of(name):
    """The topic of a spec about a claim: `c01` of `claim-c01-…`."""
    return name.split("-")[1]


class TakenOut(NamedTuple):
    """The programs of a topic without their subjects: the names of their specs, and the records of a run."""

    topic: str
    specs: set
    records: list


def modules_of(topic):
    """The modules of the claims of a topic."""
    return {item.module for item in CATALOG.items if topic_of(item.spec.name) == topic}


TOPICS = sorted({topic_of(spec.name) for spec in planted_without.SPECS})


@pytest.fixture(scope="module", params=[subject(topic, *modules_of(topic)) for topic in TOPICS])
def taken_out(request, run_module):
    specs = {spec.name for spec in planted_without.SPECS if topic_of(spec.name) == request.param}
    modes = ("eager", "graph")
    records = run_module("tf_opdiff.suites.tests.claims.planted_without", modes, specs=specs)
    return TakenOut(request.param, specs, records)


def test_a_program_without_its_subject_is_red(taken_out):
    assert {r.spec for r in taken_out.records} == taken_out.specs
    ran = {r.spec for r in taken_out.records if r.verdict != "unavailable"}
    assert ran - {r.spec for r in taken_out.records if r.verdict in FAILING} == set()


def test_a_program_without_its_subject_does_not_stop_at_a_name(taken_out):
    """Otherwise it would be red whatever its spec looks at. The names of our own replacements begin with `_`."""
    stops = re.compile(r"NameError|UnboundLocalError|ImportError|'_\w+' object has no attribute")
    assert [r for r in taken_out.records if r.verdict in FAILING and stops.search(f"{r.got} {r.detail}")] == []


def test_no_prediction_about_an_overridden_gradient_is_what_comes_without_the_override(taken_out):
    overrides = ("map", "map-empty", "map-around-nothing", "custom-gradient", "pass-through")
    about = {c.id for spec in SPECS for c in spec.claims if any(q.startswith("grad") for q in c.about)}
    came = [r for r in taken_out.records if r.against.startswith(CLAIM) and not r.kind]
    confirmed = {r.against.removeprefix(CLAIM) for r in came if r.spec.partition("--")[2] in overrides} & about
    assert confirmed == {claim for claim in SAYS_THAT_NOTHING_CHANGES if claim.lower().startswith(taken_out.topic)}


def test_a_name_error_confirms_no_denial(run_module):
    records = run_module("tf_opdiff.suites.tests.claims.planted_denials")
    denied = {f"claim:{c.id}" for spec in planted_denials.SPECS for c in spec.claims if c.denies}
    judged = [r for r in records if r.against in denied]
    assert {r.against for r in judged} == denied
    assert {r.verdict for r in judged} == {"error"}
