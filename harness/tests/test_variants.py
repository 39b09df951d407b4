"""Variants of a device: the switch is really set, there and nowhere else; and names that mean nothing are refused."""

import os

import pytest

from harness.plan import Device

SUITE = "harness.tests.planted_variants"


@pytest.fixture(scope="module")
def outcome(run_pytest):
    devices = ("cpu", "cpu+denormals", "cpu+threads=3", "cpu+deterministic", "cpu+noonednn")
    return run_pytest(*(word for d in devices for word in ("--device", d)), "--no-repro", suites=SUITE)


def verdicts(outcome, spec):
    return {
        (r.device, r.verdict) for r in outcome.merged.records if r.spec == spec and r.against in ("numpy", "cpu/eager")
    }


def test_subnormals_are_preserved_in_every_mode_under_one_variant_alone(outcome):
    records = [r for r in outcome.merged.records if r.spec == "halved" and r.against == "numpy"]
    assert {(r.device, r.verdict) for r in records} == {
        *((d, "contract") for d in ("cpu", "cpu+threads=3", "cpu+deterministic", "cpu+noonednn")),
        ("cpu+denormals", "match"),
    }
    assert {r.mode for r in records if r.device == "cpu+denormals"} == {"eager", "function", "xla", "graph"}


def test_only_the_variant_with_threads_has_them(outcome):
    records = [r for r in outcome.merged.records if r.spec == "threads" and r.against == "numpy"]
    assert {r.device for r in records if r.verdict == "match"} == {"cpu+threads=3"}
    assert {r.got for r in records if r.verdict == "mismatch"} == {"1.0"}


def test_other_ops_under_determinism_are_seen_and_expected(outcome):
    found = {r.device: r for r in outcome.merged.records if r.spec == "loss" and r.against == "numpy"}
    assert {r.verdict for r in found.values()} == {"match"}
    assert "LogSoftmax" in found["cpu+deterministic"].raw_op
    assert "SparseSoftmaxCrossEntropyWithLogits" in found["cpu"].raw_op


def test_a_random_op_has_its_seed_under_determinism(outcome):
    records = [r for r in outcome.merged.records if r.spec == "random" and r.device == "cpu+deterministic"]
    assert {(r.mode, r.verdict) for r in records if r.against == "numpy"} == {("eager", "match"), ("graph", "match")}


def test_onednn_is_off_in_its_variant_alone(outcome):
    """TensorFlow says at its start that oneDNN is on."""
    logs = {path.name: path.read_text() for path in (outcome.directory / "logs").glob("cpu+*.log")}
    said = {name.rpartition("-")[0] for name, text in logs.items() if "oneDNN custom operations are on" in text}
    assert "cpu+denormals" in said
    assert "cpu+noonednn" not in said


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("cpu+fast", "no variant 'fast'; there is noonednn"),
        ("cpu+tf32", "variant 'tf32' is for gpu, not for cpu"),
        ("cpu+threads", r"expected threads=N"),
        ("cpu+threads=0", r"expected threads=N"),
        ("cpu+noonednn=2", r"expected noonednn"),
    ],
)
def test_a_variant_that_means_nothing_is_refused(name, says):
    with pytest.raises(ValueError, match=says):
        Device.parse(name)


def test_a_device_with_variants_is_written_one_way():
    assert str(Device.parse("CPU:0+threads=4+deterministic")) == "cpu+deterministic+threads=4"
    assert str(Device.parse("gpu:1+tf32")) == "gpu:1+tf32"


def test_without_a_compiler_preserving_subnormals_is_a_crash_that_says_why(run_pytest, tmp_path):
    env = {"PATH": str(tmp_path), "TF_OPDIFF_CACHE": str(tmp_path / "cache")}
    outcome = run_pytest(
        "--op", "halved", "--device", "cpu+denormals", "--mode", "eager", "--no-repro", suites=SUITE, env=env
    )
    assert outcome.status in (1, 3), outcome.output
    assert all("there is no C compiler" in r.detail for r in outcome.merged.records if r.against == "numpy")
    assert os.listdir(tmp_path) in ([], ["cache"])
