"""Variants of a device: the switch is really set, there and nowhere else; and names that mean nothing are refused."""

import os
import platform
import re
import subprocess
import sys
from dataclasses import replace

import pytest

from tf_opdiff.harness.paths import ROOT
from tf_opdiff.harness.spec.plan import Device
from tf_opdiff.harness.spec.settings import variant
from tf_opdiff.harness.spec.settings.variant import ONEDNN_FLAG
from tf_opdiff.harness.store.run_directories.run_info import RunInfo
from tf_opdiff.harness.tests.planted_specs import planted_variants

SUITE = "tf_opdiff.harness.tests.planted_specs.planted_variants"


@pytest.fixture(scope="module")
def outcome(shared_run):
    devices = ("cpu", "cpu+denormals", "cpu+threads=3", "cpu+deterministic", "cpu+noonednn", "cpu+onednn")
    return shared_run(*(word for d in devices for word in ("--device", d)), "--repro=none", suites=SUITE)


def verdicts(outcome, spec):
    return {
        (r.device, r.verdict) for r in outcome.merged.records if r.spec == spec and r.against in ("numpy", "cpu/eager")
    }


def test_subnormals_are_preserved_in_every_mode_under_one_variant_alone(outcome):
    records = [r for r in outcome.merged.records if r.spec == "halved" and r.against == "numpy"]
    assert {(r.device, r.verdict) for r in records} == {
        *((d, "contract") for d in ("cpu", "cpu+threads=3", "cpu+deterministic", "cpu+noonednn", "cpu+onednn")),
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


def test_onednn_is_on_and_off_in_its_variants_and_a_run_says_so_of_each_device(outcome):
    """Whether it is on in the others depends on the processor; TensorFlow writes to its log at the start that it is."""
    started = ("cpu+denormals", "cpu+noonednn", "cpu+onednn")  # these import TensorFlow each for itself
    logs = {d: "".join(p.read_text() for p in (outcome.directory / "logs").glob(f"{d}-*.log")) for d in started}
    logged = {d: "on" if "oneDNN custom operations are on" in text else "off" for d, text in logs.items()}
    assert (logged["cpu+noonednn"], logged["cpu+onednn"]) == ("off", "on")
    devices = RunInfo.load(outcome.directory).devices
    assert logged == {device: devices[device]["oneDNN"] for device in started}
    assert devices["cpu"]["oneDNN"] == devices["cpu+threads=3"]["oneDNN"] == logged["cpu+denormals"]


@pytest.mark.rotating
@pytest.mark.parametrize(("setting", "state"), [("0", "off"), ("1", "on")])
def test_a_run_says_whether_onednn_is_on_and_a_resumed_one_has_it_the_same(run_pytest, setting, state):
    words = ("--op", "halved", "--mode", "eager", "--repro=none")
    outcome = run_pytest(*words, suites=SUITE, env={ONEDNN_FLAG: setting})
    info = RunInfo.load(outcome.directory)
    assert (info.devices["cpu"]["oneDNN"], info.flags[ONEDNN_FLAG]) == (state, setting)
    assert "AVX" in info.machine["instructions"] or "NEON" in info.machine["instructions"]
    assert f"cpu (oneDNN {state})" in outcome.output
    info.state = "interrupted"
    info.save(outcome.directory)
    resume = ("--resume", str(outcome.directory))
    other = run_pytest(*resume, suites=SUITE, folder=outcome.directory, env={ONEDNN_FLAG: str(1 - int(setting))})
    assert other.status == 4
    assert f"it was run with cpu's oneDNN {state}; here is {'off' if state == 'on' else 'on'}" in other.output


def test_a_tensorflow_that_does_not_obey_a_variant_is_no_such_device():
    """As one that was built without oneDNN would do; here, since the environment says something else."""
    program = (
        "from tf_opdiff.harness.device.installation import tensorflow_setup; from tf_opdiff.harness.spec import plan; "
    )
    program += "print(tensorflow_setup.configure(plan.Device.parse('cpu+onednn')))"
    environment = {**os.environ, ONEDNN_FLAG: "0"}
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, check=True, cwd=ROOT, capture_output=True, text=True, env=environment)
    assert done.stdout.strip() == f"{ONEDNN_FLAG}=1 leaves oneDNN off in this TensorFlow; expected on"


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the names are those of instruction sets of x86-64")
def test_onednn_uses_no_later_instruction_set_than_the_variant_says():
    """oneDNN names the instruction set that it uses in its first verbose lines."""
    limits = variant.environment(("isa=AVX2",))
    assert limits["XLA_FLAGS"].endswith("--xla_cpu_max_isa=AVX2")
    program = "import tensorflow as tf; tf.matmul(tf.ones([64, 64]), tf.ones([64, 64]))"
    environment = {**os.environ, **limits, ONEDNN_FLAG: "1", "ONEDNN_VERBOSE": "1"}
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True, env=environment)
    assert re.search(r"cpu,isa:.*AVX2", done.stdout)
    assert not re.search(r"cpu,isa:.*AVX-512", done.stdout)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("cpu+fast", "no variant 'fast'; there is noonednn"),
        ("cpu+tf32", "variant 'tf32' is for gpu, not for cpu"),
        ("cpu+threads", r"expected threads=N"),
        ("cpu+threads=0", r"expected threads=N"),
        ("cpu+noonednn=2", r"expected noonednn"),
        ("cpu+isa=SSE9", r"expected isa=AVX2\|AVX512"),
        ("cpu+onednn+noonednn", "variants 'noonednn' and 'onednn' contradict each other"),
    ],
)
def test_a_variant_that_means_nothing_is_refused(name, says):
    with pytest.raises(ValueError, match=says):
        Device.parse(name)


@pytest.mark.parametrize("name", ["noonednn", "onednn"])
def test_no_promise_goes_by_a_variant_that_the_processor_may_decide(name):
    """With oneDNN off by default, `cpu` and `cpu+noonednn` are the same device under two names."""
    spec = planted_variants.SPECS[0]
    side = replace(spec.contract["cpu/*"], unless=name)
    for change in ({"contract": {"cpu/*": side}}, {"ops": {"eager": "Mul", f"+{name}": "Mul"}}):
        with pytest.raises(ValueError, match=f"no promise can go by '{name}'"):
            replace(spec, **change)


def test_a_device_with_variants_is_written_one_way():
    assert str(Device.parse("CPU:0+threads=4+deterministic")) == "cpu+deterministic+threads=4"
    assert str(Device.parse("gpu:1+tf32")) == "gpu:1+tf32"


def test_without_a_compiler_preserving_subnormals_is_a_crash_that_says_why(run_pytest, tmp_path):
    env = {"PATH": str(tmp_path), "TF_OPDIFF_CACHE": str(tmp_path / "cache")}
    outcome = run_pytest(
        "--op", "halved", "--device", "cpu+denormals", "--mode", "eager", "--repro=none", suites=SUITE, env=env
    )
    assert outcome.status in (1, 3), outcome.output
    assert all("there is no C compiler" in r.detail for r in outcome.merged.records if r.against == "numpy")
    assert os.listdir(tmp_path) in ([], ["cache"])
