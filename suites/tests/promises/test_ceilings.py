"""The ceilings of unary ops are those of the atlas, and notice faults that budgets and bounds allow."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from tf_opdiff.harness.device.observation import Result
from tf_opdiff.harness.judge.differences.compare import compare
from tf_opdiff.harness.judge.promises.expectation import expectations
from tf_opdiff.harness.paths import ATLAS, SUITES
from tf_opdiff.harness.spec.catalog import Catalog
from tf_opdiff.harness.spec.plan import Device, Plan
from tf_opdiff.harness.spec.spec import Case
from tf_opdiff.reports.analysis import ceilings as written
from tf_opdiff.reports.data.figures import atlas
from tf_opdiff.suites.forms import ceilings

CATALOG = Catalog.load(SUITES)
TABLES = atlas.load(ATLAS)


@pytest.mark.parametrize("name", sorted(TABLES))
def test_the_file_of_ceilings_is_that_of_the_atlas(name):
    text = written.text(TABLES[name], CATALOG)
    assert (ATLAS / f"{name}.toml").read_text() == text, "run `python -m harness atlas` and review the changes"


@pytest.mark.parametrize("name", sorted(TABLES))
def test_a_ceiling_is_above_every_error_of_the_atlas(name):
    _, by_spec = ceilings.load(ATLAS / f"{name}.toml")
    table = TABLES[name][(TABLES[name]["input_class"] == "normal") & (TABLES[name]["max_ulp"] >= 0)]
    columns = [table[c].to_numpy(object) for c in ("spec", "dtype", "mode", "quantity", "sign", "exponent", "max_ulp")]
    count = 0
    for spec, dtype, mode, quantity, sign, exponent, ulps in zip(*columns, strict=True):
        ceiling = by_spec.get(spec, {}).get(quantity, {}).get(dtype, {}).get("xla" if mode == "xla" else "eager")
        if ceiling:
            allowed = (ceiling.negative if sign < 0 else ceiling.positive).at(np.array([exponent]))[0]
            assert ulps < allowed, (spec, dtype, mode, quantity, exponent)
            count += np.isfinite(allowed)
    assert count > 30_000


def alive(spec, mode, quantity, fault):
    """Whether the recipe `edges` or `plain` of a spec in float32 lets a fault of a quantity pass in a mode."""
    for case in (Case(spec, "float32", "edges"), Case(spec, "float32", "plain")):
        (x,), plan = case.inputs(), Plan(Device.parse("cpu"), mode)
        want = expectations(case, (x,), [plan])[plan].wants[quantity]
        with np.errstate(all="ignore"):
            value = want.value.astype(np.float32)
            result = Result("value", fault(x, value))
        if compare(result, want, quantity).kind:
            return False
    return True


def times(factor, where):
    return lambda x, y: np.where(where(np.abs(x)), y * np.float32(factor), y)


@pytest.mark.parametrize(
    ("name", "mode", "quantity", "fault"),
    [
        # asin x = x for tiny numbers, and XLA answers x: two ULPs are too much there, beside a budget of 2.4.
        ("asin", "xla", "output[0]", times(1 - 2.0**-22, lambda x: x < 2**-15)),
        ("tanh", "eager", "output[0]", times(1 - 2.0**-21, lambda x: x < 2**-15)),
        # The series of spence is 17 ULPs off beside 2, and nowhere else.
        ("spence", "eager", "output[0]", times(1 - 2.0**-20, lambda x: x < 0.25)),
        # The bounds allow more than the errors that occur.
        ("sinh", "xla", "output[0]", times(1 - 2.0**-22, lambda x: np.abs(x) < 2.0**-13)),
        ("digamma", "xla", "output[0]", times(1 - 2.0**-21, lambda x: x < 0.25)),
        ("sigmoid", "eager", "grad[0]", times(1 - 2.0**-21, lambda x: x < 0.25)),
        ("selu", "xla", "grad[0]", times(1 - 2.0**-22, lambda x: x < 0.25)),
        ("bessel-k0e", "eager", "grad[0]", times(1 - 2.0**-20, lambda x: x < 0.25)),
    ],
)
def test_a_planted_fault_lives_without_ceilings_and_dies_with_them(name, mode, quantity, fault):
    _, by_spec = ceilings.load(ATLAS / "cpu@2.21.0.toml")
    spec = replace(CATALOG.specs[name], ceilings={})
    assert alive(spec, mode, quantity, fault)
    assert not alive(replace(spec, ceilings=by_spec[name]), mode, quantity, fault)


def test_ceilings_hold_only_for_the_instruction_sets_they_were_measured_on(monkeypatch):
    monkeypatch.setattr(ceilings, "version", lambda package: "2.21.0")
    header, by_spec = ceilings.load(ATLAS / "cpu@2.21.0.toml")
    measured = [(instructions, by_spec["asin"]) for instructions in header["instructions"]]
    for instructions, expected in (*measured, ("AVX AVX2", {})):
        monkeypatch.setattr(ceilings, "processor", lambda instructions=instructions: {"instructions": instructions})
        ceilings._of_this_machine.cache_clear()
        assert ceilings.of_this_machine("asin") == expected
    ceilings._of_this_machine.cache_clear()


def test_ceilings_name_the_instruction_sets_of_every_processor_on_which_errors_were_measured(tmp_path):
    table = TABLES["cpu@2.21.0"]
    floor = table[table["spec"] == "floor"].assign(processor="A, model 1, AVX")
    exp = table[table["spec"] == "exp"].assign(processor="A, model 1, AVX; B, model 2, AVX FMA")
    file = tmp_path / "cpu@2.21.0.toml"
    file.write_text(written.text(atlas.typed(pd.concat([floor, exp])), CATALOG))
    assert ceilings.load(file)[0] == {"tf": "2.21.0", "instructions": ("AVX", "AVX FMA")}
    with pytest.raises(ValueError, match=r"expected one version of TensorFlow, got 2\.20\.0, 2\.21\.0"):
        written.text(atlas.typed(pd.concat([floor, exp.assign(tf="2.20.0")])), CATALOG)


def test_without_a_file_for_this_tensorflow_there_are_no_ceilings(monkeypatch):
    monkeypatch.setattr(ceilings, "version", lambda package: "2.0.0")
    ceilings._of_this_machine.cache_clear()
    assert ceilings.of_this_machine("asin") == {}
    ceilings._of_this_machine.cache_clear()
