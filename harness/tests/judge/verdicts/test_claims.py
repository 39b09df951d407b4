"""Claims are judged by what came, on real TensorFlow; and programs that open sessions are looked at like any other."""

import json
from dataclasses import replace

import numpy as np
import pytest

from tf_opdiff.harness.judge.planted_faults.mutation import score
from tf_opdiff.harness.judge.verdicts.claim import _listed
from tf_opdiff.harness.repro.listing import claims_data, listing
from tf_opdiff.harness.spec.catalog import Catalog, Item
from tf_opdiff.harness.spec.plan import MODES
from tf_opdiff.harness.tests.planted_specs import planted_claims


@pytest.fixture(scope="module")
def outcome(shared_run):
    return shared_run(suites="tf_opdiff.harness.tests.planted_specs.planted_claims", env={"CUDA_VISIBLE_DEVICES": "-1"})


@pytest.fixture(scope="module")
def claims(outcome):
    """The records of each claim, by letter and mode."""
    found = [r for r in outcome.merged.records if r.against.startswith("claim:")]
    by_letter = {}
    for record in found:
        by_letter.setdefault(record.against.removeprefix("claim:C99"), {})[record.mode] = record
    return by_letter


def said(claims, letter):
    return {mode: r.verdict for mode, r in claims[letter].items()}


def everywhere(verdict):
    return dict.fromkeys(MODES, verdict)


def test_a_claim_that_holds_matches(claims):
    assert said(claims, "a") == everywhere("match")


def test_a_claim_that_is_refuted_as_expected_shows_both_numbers_and_why(claims):
    assert said(claims, "b") == everywhere("contract")
    record = claims["b"]["xla"]
    assert (record.kind, record.reason) == ("value", planted_claims.WHY)
    assert float(record.want) == float(record.got) + 1


def test_a_record_lists_numbers_as_the_dtype_of_an_input_writes_them():
    assert _listed(np.array([[0.1, 2], [3, 4]], np.float32)) == "[[0.1, 2.0], [3.0, 4.0]]"
    assert _listed(np.arange(9.0)) == "[0.0, 1.0, 2.0, …]"
    assert _listed(np.array(True)) == "True"


def test_a_refuted_claim_shows_two_elements_that_differ(claims):
    record = claims["b"]["xla"]
    got, want = record.example.partition("got ")[2].split(", want ")
    assert record.example_index and record.example_index != record.worst_index
    assert float(want) == float(got) + 1


def test_a_claim_that_unexpectedly_fails_is_a_mismatch(claims):
    assert said(claims, "c") == everywhere("mismatch") | {"eager": "contract"}
    assert "C99c does not hold here: It does c." in claims["c"]["graph"].detail


def test_a_claim_that_unexpectedly_holds_is_stale(claims):
    assert said(claims, "d") == everywhere("match") | {"xla": "stale"}
    assert "was expected not to: floor is not ceil" in claims["d"]["xla"].detail


def test_a_denial_holds_where_what_it_denies_did_not_come(claims):
    assert said(claims, "e") == everywhere("match")
    assert said(claims, "f") == everywhere("contract")
    assert all(r.example_index not in ("", r.worst_index) for r in claims["f"].values())
    assert all(r.input and r.got and r.got == r.want for r in claims["f"].values())  # what is denied, and came


def test_no_gradient_is_not_a_gradient_of_zeros(claims):
    assert said(claims, "g") == everywhere("contract")
    assert {r.kind for r in claims["g"].values()} == {"gradient_status"}


def test_a_claim_is_judged_on_the_plans_that_it_speaks_of(claims):
    assert said(claims, "h") == {"graph": "match"}


def test_a_claim_of_an_error_is_refuted_by_a_value(claims):
    assert said(claims, "i") == everywhere("contract")


def test_a_prediction_of_another_shape_refutes_nothing(claims):
    assert said(claims, "j") == everywhere("error")
    assert "prediction of C99j is of another shape" in claims["j"]["eager"].detail


def test_an_error_that_nobody_promised_confirms_and_refutes_nothing(claims):
    for letter in "op":  # of the program's own
        assert said(claims, letter) == {"eager": "error", "graph": "error"}
        assert "name 'floor' is not defined" in claims[letter]["eager"].detail
    for letter in "qr":  # TensorFlow's
        assert said(claims, letter) == {"eager": "mismatch", "graph": "mismatch"}


def test_a_denial_is_confirmed_by_the_error_that_its_spec_promises(claims):
    assert said(claims, "s") == everywhere("match")


@pytest.mark.parametrize(
    ("spec", "says"), [("claimed-of-nothing", "about output[7]"), ("claimed-to-raise", "ZeroDivisionError")]
)
def test_a_prediction_that_can_not_be_made_is_the_suites_own_fault(outcome, spec, says):
    found = [r for r in outcome.merged.records if r.spec == spec]
    assert {(r.verdict, r.kind) for r in found} == {("error", "reference")}
    assert all(says in r.detail for r in found)


def test_a_claim_on_a_side_of_a_contract_is_held_against_what_the_claim_predicts(claims):
    assert said(claims, "m") == everywhere("match") | {"eager": "contract"}


def test_what_a_program_says_it_lacks_makes_it_unavailable(outcome, claims):
    found = [r for r in outcome.merged.records if r.spec.startswith("lacks-")]
    assert {r.verdict for r in found} == {"unavailable"}
    assert all("no C++ compiler" in r.detail for r in found)
    assert said(claims, "n") == {"eager": "unavailable", "graph": "unavailable"}


def test_the_run_is_red_and_the_books_balance(outcome):
    assert outcome.status == 3, outcome.output
    for text in ("claim:C99c", "C99d holds here", "no C++ compiler"):
        assert text in outcome.output


def test_the_run_keeps_what_is_claimed_and_the_programs(outcome):
    kept = json.loads((outcome.directory / "claims.json").read_text())
    assert [c["id"] for c in kept] == sorted(f"C99{letter}" for letter in "abcdefghijklmnopqrs")
    assert kept[0]["listing"] == "def floor(tf, x):\n    return tf.floor(x)\n"
    assert kept[0]["topic"]["title"] == "Planted"


@pytest.fixture(scope="module")
def on_two_devices(run_pytest):
    """The records against NumPy, by spec and device."""
    where = ["--device", "cpu", "--device", "cpu:1"]
    names = ("two-sessions", "session-elsewhere", "session-that-folds", "beside-the-host")
    ops = [word for name in names for word in ("--op", name)]
    found = run_pytest(*where, *ops, suites="tf_opdiff.harness.tests.planted_specs.planted_claims").merged.records
    return {(r.spec, r.device): r for r in found if r.against == "numpy"}


def test_sessions_of_a_programs_own_run_where_the_plan_says(on_two_devices):
    verdicts = {key: (r.verdict, r.ran_on) for key, r in on_two_devices.items()}
    assert verdicts["two-sessions", "cpu"] == ("match", "CPU:0")
    assert verdicts["two-sessions", "cpu:1"] == ("match", "CPU:1")
    assert verdicts["session-elsewhere", "cpu"][0] == "match"
    assert verdicts["session-elsewhere", "cpu:1"] == ("error", "CPU:0")
    assert verdicts["session-that-folds", "cpu"][0] == "error"
    assert "no Floor" in on_two_devices["session-that-folds", "cpu"].detail


def test_evidence_may_be_an_op_that_runs_on_the_host(on_two_devices):
    record = on_two_devices["beside-the-host", "cpu:1"]
    assert (record.verdict, record.ran_on) == ("match", "CPU:1")


def test_a_run_without_the_evidence_of_its_subject_is_at_fault(outcome):
    for i, why in enumerate(planted_claims.LACKING.values()):
        found = [r for r in outcome.merged.records if r.spec == f"without-evidence-{i}" and r.against == "numpy"]
        assert {(r.mode, r.verdict, r.detail) for r in found} == {
            (mode, "error", f"the subject is missing: {why}") for mode in ("eager", "graph")
        }


def test_evidence_may_be_an_argument_of_a_call_and_a_control_input(outcome):
    found = [r for r in outcome.merged.records if r.spec.startswith("with-evidence-")]
    assert {(r.spec, r.verdict) for r in found} == {("with-evidence-0", "match"), ("with-evidence-1", "match")}


def test_a_promised_error_of_a_program_that_never_called_its_subject_is_a_fault(outcome):
    found = [r for r in outcome.merged.records if r.spec == "refuses-by-itself" and r.against == "numpy"]
    assert {r.verdict for r in found} == {"error"}
    assert all("did not call tf.RegisterGradient" in r.detail for r in found)


def test_evidence_may_be_an_op_that_was_pruned(outcome):
    found = [r for r in outcome.merged.records if r.spec == "what-is-pruned"]
    assert {r.verdict for r in found} == {"match"}


@pytest.mark.parametrize("evidence", ["called", "seen:Floor", "ran:"])
def test_evidence_of_an_unknown_kind_is_refused(evidence):
    with pytest.raises(ValueError, match="expected KIND:NAME, of ran, also, built, replaced, waits, called, graphs"):
        planted_claims.spec("x", evidence=evidence)


def test_what_a_state_hides_is_kept_between_steps_and_not_looked_at(outcome):
    found = [r for r in outcome.merged.records if r.spec == "keeps-a-counter"]
    assert {r.verdict for r in found} == {"match"}
    assert {r.quantity for r in found} == {"output[0]", "output[1]"}


def test_a_prediction_that_can_not_be_told_from_wrong_ones_is_found_out():
    blunt = planted_claims.claim("z", reference=np.zeros_like)
    spec = planted_claims.spec("blunt", blunt, vjp=None)
    assert score(replace(spec, claims=())).alive == []
    assert any(name.endswith("as C99z predicts") for name in score(spec).possible)


def test_an_id_stands_for_one_sentence():
    one, other = planted_claims.claim("a"), replace(planted_claims.claim("a"), says="Something else.")
    catalog = Catalog(tuple(Item("m", planted_claims.spec(n, c), "float32") for n, c in (("x", one), ("y", other))))
    with pytest.raises(LookupError, match=r"C99a says 'Something else\.'"):
        claims_data(catalog)


def test_the_right_way_that_a_claim_names_has_to_be_there():
    lost = replace(planted_claims.claim("a"), instead="nowhere")
    with pytest.raises(LookupError, match="no spec 'nowhere'"):
        claims_data(Catalog((Item("m", planted_claims.spec("x", lost), "float32"),)))


def test_a_listing_holds_the_functions_that_a_program_names():
    text = listing(planted_claims.spec("x", program=_outer))
    assert text.index("def _inner") < text.index("def _outer")
    assert text.count("def ") == 2


def test_a_hash_tells_programs_and_predictions_apart_and_takes_annotated_ones():
    def annotated(tf, x: np.ndarray, *rest: int):
        return tf.floor(x)

    def hashes(spec):
        (row,) = claims_data(Catalog((Item("m", spec, "float32"),)))
        return [row[name] for name in ("program", "inputs", "prediction")]

    first = planted_claims.spec("x", planted_claims.claim("a"))
    assert hashes(first) == hashes(first)
    for number, other in enumerate(
        (
            replace(first, program=annotated),
            replace(first, recipes={"plain": lambda draw, dtype: (np.zeros(3, dtype),)}),
            replace(first, claims=(planted_claims.claim("a", reference=np.ceil),)),
        )
    ):
        assert [a == b for a, b in zip(hashes(first), hashes(other), strict=True)] == [i != number for i in range(3)]


def _inner(tf, x):
    return tf.floor(x)


def floor(tf, x):
    raise NotImplementedError("an attribute of this name is another thing")


def _outer(tf, x):
    return _inner(tf, x)
