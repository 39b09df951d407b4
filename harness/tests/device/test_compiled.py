"""An op that is compiled for a run: without a compiler it is unavailable, without CUDA's it has no kernel for GPUs."""

import os
import shutil

import pytest

OPS = ("--op", "claim-c06-skip-cube", "--op", "claim-c06-custom-gradient", "--device", "cpu")


def run(run_pytest, cache, path, *arguments):
    env = {"PATH": path, "CXX": "", "TF_OPDIFF_CACHE": str(cache)}
    return run_pytest(*OPS, *arguments, suites="tf_opdiff.suites.claims.c06_compiled_op", env=env)


def test_without_a_compiler_the_op_is_unavailable_and_the_rest_runs(run_pytest, tmp_path):
    outcome = run(run_pytest, tmp_path, "")
    assert outcome.status == 0, outcome.output
    ops = [r for r in outcome.merged.records if r.spec == "claim-c06-skip-cube"]
    assert {r.verdict for r in ops} == {"unavailable"}
    assert {r.mode for r in ops} == {"eager", "function", "xla", "graph"}
    assert all("no C++ compiler" in r.detail for r in ops)
    assert any(r.against.startswith("claim:") for r in ops)
    rest = [r for r in outcome.merged.records if r.spec == "claim-c06-custom-gradient"]
    assert {r.verdict for r in rest} == {"match"}
    assert not list(tmp_path.glob("*.so"))


def test_where_cudas_compiler_fails_the_op_has_its_kernel_for_cpus(run_pytest, tmp_path):
    if not (shutil.which("g++") or shutil.which("c++") or shutil.which("clang++")):
        pytest.skip("no C++ compiler")
    nvcc = tmp_path / "nvcc"
    nvcc.write_text("#!/bin/sh\necho 'fatal: planted' >&2\nexit 1\n")
    nvcc.chmod(0o755)
    cache = tmp_path / "cache"
    outcome = run(run_pytest, cache, f"{tmp_path}{os.pathsep}{os.environ['PATH']}", "--mode", "eager")
    assert outcome.status == 0, outcome.output
    assert {r.verdict for r in outcome.merged.records} == {"match"}
    (library,) = cache.glob("*.so")
    reason = library.with_suffix(".txt").read_text()
    assert reason.startswith("no GPU kernel")
    assert "planted" in reason or "nvcc" in reason  # TensorFlow for CPUs only does not ask for it
