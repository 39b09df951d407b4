"""A run measures the traits of its processor, and known failures select processors by them."""

import json
import os
import subprocess
import sys

import pytest

from tf_opdiff.harness.judge.known_failures.known import Known
from tf_opdiff.harness.spec.settings.trait import CPU_TRAITS, FACT
from tf_opdiff.harness.spec.settings.variant import ONEDNN, facts
from tf_opdiff.harness.tests.forked_python import forked_python

PROGRAM = """
import json
from tf_opdiff.harness.device.installation import measured_traits as m
import numpy as np, tensorflow as tf
one = tf.constant(np.ones(64, np.float32))
print(json.dumps([sorted(m._MEASURES), m.measured_traits(),
    [float(tf.math.reciprocal(one)[0]), float(tf.math.rsqrt(one)[0]), float((one * 1e-40)[0])]]))
"""


def measured(**environment):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], env={**os.environ, **environment}, capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def here():
    return json.loads(forked_python("-c", PROGRAM).stdout)


def test_every_trait_is_measured(here):
    names, traits, _ = here
    assert names == sorted(CPU_TRAITS)
    assert set(traits) < set(CPU_TRAITS)


def test_traits_say_what_eager_ops_do(here):
    _, traits, (reciprocal, rsqrt, subnormal) = here
    assert ("inexact-reciprocal" in traits) == (reciprocal != 1)
    assert ("inexact-rsqrt" in traits) == (rsqrt != 1)
    assert ("flushes-subnormals" in traits) == (subnormal == 0)
    assert "flushes-float16" not in traits  # or this test runs in QEMU


def test_a_processor_has_one_architecture(here):
    assert len({"arm64", "x86-64"} & set(here[1])) == 1


def test_flags_can_keep_xla_from_sixteen_bit_floats(here):
    if "avx512fp16" not in here[1]:
        pytest.skip("this processor has no AVX512-FP16")
    assert "avx512fp16" not in measured(XLA_FLAGS="--xla_cpu_max_isa=AVX2")[1]


def test_run_json_has_the_traits_of_the_cpu_and_of_its_variants(run_pytest, here):
    outcome = run_pytest(
        "-n", "0", "--repro", "none", "--mode", "eager", "--device", "cpu", "--device", "cpu+threads=2",
        suites="tf_opdiff.harness.tests.planted_specs.planted_onednn",
    )  # fmt: skip
    devices = json.loads((outcome.directory / "run.json").read_text())["devices"]
    assert [devices[name][FACT].split() for name in ("cpu", "cpu+threads=2")] == [here[1]] * 2


def test_onednn_takes_float16_only_where_it_is_on(here):
    if "onednn-float16" not in here[1]:
        pytest.skip("oneDNN is off, or this processor has no AVX512-FP16")
    assert "onednn-float16" not in measured(TF_ENABLE_ONEDNN_OPTS="0")[1]


def test_a_device_without_onednn_has_no_trait_of_it():
    about = {ONEDNN: "on", FACT: "avx2 onednn-float16"}
    assert facts(about, ("noonednn",)) == {ONEDNN: "off", FACT: "avx2"}
    assert facts(about, ("threads=2",)) == about
    known = Known(processors=(frozenset({"avx2", "onednn-float16"}),))
    without = {"cpu+noonednn": facts(about, ("noonednn",)), "cpu": {ONEDNN: "on", FACT: "avx2"}}
    assert [known.on(without).measured(name) for name in without] == [True, False]
