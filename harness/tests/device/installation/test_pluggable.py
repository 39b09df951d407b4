"""A device that comes as a plugin works by its name, as those of vendors do: installed, and nothing else changed."""

import os
import subprocess
import sys

import pytest

from tf_opdiff.harness.device.processes.preload import plugins
from tf_opdiff.harness.paths import ROOT
from tf_opdiff.harness.store.run_directories.run_info import RunInfo

SUITES = "tf_opdiff.harness.tests.planted_specs.planted_toy"
OPTIONS = ("--repro=none",)


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The environment in which the plugin of the device TOY is installed."""
    folder = tmp_path_factory.mktemp("toy") / "site-packages"
    command = [sys.executable, "-m", "tf_opdiff.harness.tests.toy", str(folder)]
    made = subprocess.run(command, check=False, cwd=ROOT, capture_output=True, text=True)
    if "no C++ compiler" in made.stderr:
        pytest.skip(made.stderr)
    assert made.returncode == 0, made.stderr
    return {"PYTHONPATH": str(folder)}


@pytest.fixture(scope="module")
def run(run_pytest, installed):
    return lambda *arguments, **more: run_pytest(*OPTIONS, *arguments, suites=SUITES, shared_env=installed, **more)


@pytest.fixture(scope="module")
def everything(run):
    names = ("alone", "called", "ceil", "cos", "floor", "of-another-dtype", "out-of-range", "rint", "sign")
    ops = [f"--op={op}" for op in names]
    return run("--device", "cpu", "--device", "toy:1", *ops)


def found(outcome, **place):
    there = [r for r in outcome.merged.records if all(getattr(r, k) == v for k, v in place.items())]
    assert there
    return there


def test_a_run_on_a_plugged_device_is_whole_and_finds_what_was_planted(everything):
    info = RunInfo.load(everything.directory)
    assert everything.status == 1, everything.output
    assert (info.state, info.not_run, info.faults) == ("complete", [], [])
    assert {name: about["asked"] for name, about in info.devices.items()} == {
        "cpu": True,
        "toy:0": False,
        "toy:1": True,
    }
    failing = {(r.device, r.spec, r.dtype) for r in everything.merged.records if r.failing}
    assert failing == {("toy:1", "floor", "float32"), ("toy:1", "rint", "float64")}


@pytest.mark.parametrize("mode", ["eager", "function", "graph"])
def test_what_matches_there_ran_there(everything, mode):
    for spec, dtype in (("ceil", "float32"), ("ceil", "float64"), ("floor", "float64"), ("rint", "float32")):
        records = found(everything, device="toy:1", mode=mode, spec=spec, dtype=dtype)
        assert {(r.verdict, r.ran_on) for r in records} == {("match", "TOY:1")}
        assert "cpu/eager" in {r.against for r in records}


@pytest.mark.parametrize("mode", ["eager", "function", "graph"])
def test_a_wrong_kernel_is_the_outlier(everything, mode):
    records = found(everything, device="toy:1", mode=mode, case="floor-float32-plain", quantity="output[0]")
    wrong = {(r.against, r.verdict, r.kind, r.ran_on) for r in records if r.against != r.plan}
    assert wrong == {(a, "mismatch", "value", "TOY:1") for a in ("numpy", "cpu/eager")}
    assert {r.verdict for r in found(everything, device="cpu", case="floor-float32-plain")} == {"match"}


@pytest.mark.parametrize("mode", ["eager", "function", "graph"])
def test_a_kernel_that_dies_costs_its_own_record(everything, mode):
    assert {r.got for r in found(everything, device="toy:1", mode=mode, spec="rint", dtype="float64")} == {
        "crash SIGABRT"
    }


def test_kernels_that_it_lacks_are_unavailable(everything):
    for spec, dtype, lacks in (("cos", "float32", "Cos"), ("cos", "float64", "Cos"), ("floor", "float16", "Floor")):
        for mode in ("eager", "function", "graph"):
            for record in found(everything, device="toy:1", mode=mode, spec=spec, dtype=dtype):
                assert record.verdict == "unavailable"
                assert record.detail.startswith(f"no TOY kernel of {lacks} for {dtype} is registered: ")


def test_a_promised_error_can_not_come_from_a_kernel_that_it_lacks(everything):
    assert {r.verdict for r in found(everything, device="toy:1", spec="out-of-range")} == {"unavailable"}
    assert {r.verdict for r in found(everything, device="cpu", spec="out-of-range")} == {"match"}


def test_a_gradient_made_of_an_op_that_it_lacks_is_unavailable_and_the_output_is_not(everything):
    records = found(everything, device="toy:1", mode="eager", spec="sign", dtype="float32", against="numpy")
    assert {r.quantity: r.verdict for r in records} == {"output[0]": "match", "grad[0]": "unavailable"}
    (gradient,) = [r for r in records if r.quantity == "grad[0]"]
    assert gradient.detail.startswith("no TOY kernel of ZerosLike for float32 is registered: ")


@pytest.mark.parametrize("mode", ["eager", "function", "graph"])
def test_a_kernel_that_it_has_for_other_dtypes_is_unavailable(everything, mode):
    records = found(everything, device="toy:1", mode=mode, spec="of-another-dtype")
    assert {r.verdict for r in records} == {"unavailable"}
    assert all(r.detail.startswith("no TOY kernel of Floor takes the dtypes of this call: ") for r in records)
    assert {r.verdict for r in found(everything, device="cpu", mode=mode, spec="of-another-dtype")} == {"match"}


def test_an_op_of_a_called_function_that_runs_on_the_cpu_instead_is_unavailable(everything):
    records = found(everything, device="toy:1", spec="called")
    assert {r.verdict for r in records} == {"unavailable"}
    details = {r.detail for r in records}
    assert all(d.startswith("no TOY kernel of Cos for float32 is registered") for d in details), details


def test_xla_does_not_compile_for_it_and_says_so(everything):
    records = found(everything, device="toy:1", mode="xla")
    assert {r.verdict for r in records} == {"unavailable"}
    assert all(r.detail.startswith("XLA does not compile for TOY: ") for r in records)


def test_a_server_sees_no_other_accelerator_than_its_own(everything):
    assert {r.verdict for r in found(everything, spec="alone")} == {"match"}


def test_a_kernel_that_never_returns_is_a_hang(run):
    outcome = run("--device", "toy:0", "--op", "round", "--mode", "eager", "--op-timeout", "15")
    assert outcome.status == 1, outcome.output
    assert {(r.verdict, r.kind) for r in found(outcome, spec="round")} == {("mismatch", "hang")}


LIST = """
device = "toy"
[[maturity]]
op = "Floor"
dtype = "float16"
level = "expected"
[[maturity]]
op = ["Ceil", "Cos"]
level = "{level}"
"""


def test_a_maturity_list_is_held_to_both_ways(run, tmp_path):
    path = tmp_path / "toy.toml"
    ops = [f"--op={op}" for op in ("ceil", "cos", "floor")]
    arguments = ["--device", "toy:0", "--mode", "eager", "--maturity", str(path), *ops]
    path.write_text(LIST.format(level="mandatory"))
    outcome = run(*arguments, "-n", "2")
    assert outcome.status == 1, outcome.output
    assert {(r.verdict, r.kind) for r in found(outcome, spec="cos")} == {("mismatch", "status")}
    assert {r.verdict for r in found(outcome, spec="ceil")} == {"match"}
    assert "which is mandatory, by entry 2 of toy.toml" in outcome.output
    assert {r.reason for r in found(outcome, dtype="float16")} == {"expected, by entry 1 of toy.toml"}
    assert "expected: no TOY kernel of Floor for float16 is registered" in outcome.output

    path.write_text(LIST.format(level="skip"))
    outcome = run(*arguments)
    assert outcome.status == 1, outcome.output
    assert {r.verdict for r in found(outcome, spec="cos")} == {"unavailable"}
    assert {r.verdict for r in found(outcome, spec="ceil", against="numpy", quantity="output[0]")} == {"stale"}
    assert "delete or narrow entry 2 of toy.toml" in outcome.output


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (LIST.format(level="mandatroy"), "toy.toml: entry 2: no level 'mandatroy'; there is expected, mandatory, skip"),
        ('device = "tpu"\n[[maturity]]\nlevel = "skip"\n', "toy.toml is about tpu, which is not run; cpu is"),
        (None, "No such file or directory"),
    ],
)
def test_a_list_that_is_not_about_this_run_is_wrong_usage(run_pytest, tmp_path, text, says):
    path = tmp_path / "toy.toml"
    if text:
        path.write_text(text)
    outcome = run_pytest("--device", "cpu", "--maturity", str(path), suites=SUITES)
    assert outcome.status == 4
    assert says in outcome.output
    assert "Traceback" not in outcome.output


def test_a_plugin_is_found_where_tensorflow_looks_for_it(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.delenv("TF_PLUGGABLE_DEVICE_LIBRARY_PATH", raising=False)
    before = plugins()
    (tmp_path / "tensorflow-plugins").mkdir()
    assert set(plugins()) - set(before) == {str(tmp_path / "tensorflow-plugins")}
    monkeypatch.setenv("TF_PLUGGABLE_DEVICE_LIBRARY_PATH", os.devnull)
    assert os.devnull in plugins()
