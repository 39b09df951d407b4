"""Known failures on a processor that nobody measured: an absent failure is not stale, and a likely cause is named."""

import numpy as np
import pytest
from msgspec import structs

from tf_opdiff.harness.device.observation import Observation, Result
from tf_opdiff.harness.judge.differences.detail import NOT_SEEN, PROBABLE
from tf_opdiff.harness.judge.known_failures.cause import Cause
from tf_opdiff.harness.judge.known_failures.entry import Entry
from tf_opdiff.harness.judge.known_failures.known import DeviceFacts, Known
from tf_opdiff.harness.judge.known_failures.known_files import KnownError, load
from tf_opdiff.harness.judge.promises.want import Want
from tf_opdiff.harness.judge.verdicts.verdict import Context, Judge, Origin, Trial
from tf_opdiff.harness.paths import KNOWN, ROOT, SUITES
from tf_opdiff.harness.spec.catalog import Catalog
from tf_opdiff.harness.spec.plan import Device, Plan
from tf_opdiff.harness.spec.settings.trait import traits_in
from tf_opdiff.harness.spec.spec import Spec

#: The op is the identity. On the measured processor, the recipe `large` is known to double numbers above 100.
X = np.array([1, 2, 3, 200], np.float32)
DOUBLED = np.array([1, 2, 3, 400], np.float32)
CAUSE = Cause(id="doubles", owner="us", reason="planted for these tests", severity="wrong_value")
ENTRY = Entry(spec="x", kind="value", cause=CAUSE, recipe="large", where="x > 100", trait="fma")
MEASURED, OTHER = frozenset({"fma", "avx2"}), frozenset({"arm64"})


PLAN = Plan(Device("cpu"), "xla")


def judge_of(entries, traits, processors=(MEASURED,)):
    known = Known(entries, devices={"cpu": DeviceFacts("", traits)}, processors=processors)
    return Judge(Context(run="r", started="s", here=Origin("2.21.0"), known=known))


def record(got, *entries, traits=MEASURED, recipe="large", processors=(MEASURED,)):
    spec = Spec(
        name="x", program=lambda tf, x: x, reference=lambda x: x, ops="", recipes={recipe: lambda draw, d: (X,)}
    )
    (case, *_) = spec.cases()
    trial = Trial("s", case, PLAN, Observation({"output[0]": Result("value", got)}), (X,))
    judge = judge_of(entries, traits, processors)
    (row,) = judge.against_promises(trial, {"output[0]": Want("value", X.astype(np.float64), X.dtype)})
    return row


def test_an_entry_that_does_not_fail_is_stale_on_a_measured_processor_only():
    everywhere = structs.replace(ENTRY, trait="*")
    assert record(X, everywhere).verdict == "stale"
    elsewhere = record(X, everywhere, traits=OTHER)
    assert (elsewhere.verdict, elsewhere.detail) == ("match", f"{NOT_SEEN}: doubles.")


def test_a_record_that_a_recording_holds_is_stale_on_a_measured_processor_only():
    entry = structs.replace(ENTRY, trait="*", where="")
    verdicts = [judge_of((entry,), traits).restored(PLAN, record(X)).verdict for traits in (MEASURED, OTHER)]
    assert verdicts == ["stale", "match"]


@pytest.mark.parametrize("recipe", ["large", "others"])
def test_a_failure_in_the_region_of_a_cause_is_probably_of_that_cause(recipe):
    row = record(DOUBLED, ENTRY, traits=OTHER, recipe=recipe)
    assert (row.verdict, row.cause) == ("known", "doubles") and row.detail.startswith(PROBABLE)


def test_an_entry_of_a_kind_with_a_distance_explains_the_other_kinds_with_a_distance():
    assert record(DOUBLED, structs.replace(ENTRY, kind="position"), traits=OTHER).verdict == "known"
    assert record(DOUBLED, structs.replace(ENTRY, kind="inf"), traits=OTHER).verdict == "mismatch"
    assert record(DOUBLED, structs.replace(ENTRY, kind="position")).verdict == "mismatch"


@pytest.mark.parametrize(("index", "value"), [(0, 2), (3, np.nan)])
def test_a_failure_elsewhere_or_of_another_kind_is_a_mismatch_on_every_processor(index, value):
    got = DOUBLED.copy()
    got[index] = value
    assert record(got, ENTRY, traits=OTHER).verdict == "mismatch"


def test_without_a_list_of_processors_known_failures_hold_to_the_letter():
    assert record(X, structs.replace(ENTRY, trait="*"), traits=OTHER, processors=()).verdict == "stale"
    assert record(DOUBLED, ENTRY, recipe="others", traits=OTHER, processors=()).verdict == "mismatch"


def test_the_suites_name_processors_and_the_traits_that_each_has():
    known = load(ROOT / KNOWN, Catalog.load(SUITES))
    assert len([traits for traits in known.processors if {"x86-64", "arm64"} & traits]) >= 2
    assert {"compute-capability-9.0"} in known.processors


@pytest.mark.parametrize(
    ("facts", "verdict", "probable"),
    [
        ({"compute_capability": "(9, 0)"}, "stale", False),
        ({"compute_capability": "(12, 1)"}, "match", True),
        ({"device_name": "AMD Instinct"}, "stale", False),
    ],
)
def test_the_compute_capability_of_a_gpu_is_its_trait(facts, verdict, probable):
    traits, measured = traits_in(facts), (MEASURED, frozenset({"compute-capability-9.0"}))
    anywhere = structs.replace(ENTRY, trait="*")
    assert record(X, anywhere, traits=traits, processors=measured).verdict == verdict
    elsewhere = record(DOUBLED, anywhere, traits=traits, recipe="others", processors=measured)
    assert (elsewhere.verdict == "known" and elsewhere.detail.startswith(PROBABLE)) is probable


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('name = "a"\ntraits = ["warp"]', "processor 'one': no trait 'warp'"),
        ('name = " "\ntraits = []', "processor 'one': expected the name"),
        ("traits = []", "processor 'one': Object missing required field `name`"),
    ],
)
def test_a_malformed_processor_is_refused(tmp_path, text, message):
    (tmp_path / "known.toml").write_text(f"[processor.one]\n{text}\n")
    with pytest.raises(KnownError, match=message):
        load(tmp_path / "known.toml", Catalog(()))


@pytest.mark.parametrize(("state", "off", "on"), [("off", True, False), ("on", False, True)])
def test_a_cpu_whose_processor_leaves_onednn_off_is_one_without_onednn(state, off, on):
    facts = Known(devices={}).on({"cpu": {"oneDNN": state}}).facts("cpu")
    place = {"spec": "x", "device": "cpu", "mode": "eager"}
    without = structs.replace(ENTRY, device="cpu+noonednn", trait="*")
    with_it = structs.replace(ENTRY, device="cpu", unless="noonednn", trait="*")
    anyhow = structs.replace(ENTRY, device="cpu", trait="*")
    assert [entry.selects(place, "2.21.0", *facts) for entry in (without, with_it, anyhow)] == [off, on, True]
