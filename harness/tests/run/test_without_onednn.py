"""A default run with oneDNN on runs ops that oneDNN has a kernel for without oneDNN as well."""

import pytest

from tf_opdiff.harness.run.sessions.without_onednn import ONLY, plans, second_device
from tf_opdiff.harness.spec.catalog import Catalog
from tf_opdiff.harness.spec.plan import MODES

ON = {"cpu": {"oneDNN": "on", "device": "EPYC", "asked": True}}


@pytest.fixture(scope="module")
def items():
    return {item.spec.name: item for item in Catalog.load("tf_opdiff.harness.tests.planted_specs.planted_onednn").items}


def test_the_second_device_has_the_facts_of_the_first_but_for_onednn(items):
    expected = {"cpu+noonednn": {"oneDNN": "off", "device": "EPYC", "asked": True, **ONLY}}
    assert second_device(ON, items.values()) == expected


@pytest.mark.parametrize(
    ("devices", "names"),
    [
        ({"cpu": {**ON["cpu"], "oneDNN": "off"}}, ["product"]),
        ({"cpu": {**ON["cpu"], "asked": False}}, ["product"]),
        ({"gpu:0": ON["cpu"]}, ["product"]),
        (ON, ["floor"]),
    ],
    ids=["oneDNN is off", "the CPU does not run", "no CPU", "no op of oneDNN"],
)
def test_there_is_no_second_device_where_it_would_show_nothing(items, devices, names):
    assert second_device(devices, [items[name] for name in names]) == {}


def test_xla_does_not_run_there(items):
    assert [plan.mode for plan in plans(MODES)] == ["eager", "function", "graph"]
    assert all(items["product"].spec.runs_under(p) == (p.mode == "eager") for p in plans(MODES))
    assert not any(items["floor"].spec.runs_under(p) for p in plans(MODES))


@pytest.mark.parametrize(
    ("arguments", "cells"),
    [
        ((), {("product", "cpu+noonednn/eager")}),
        (("--tier", "smoke"), set()),
        (("--device", "cpu+noonednn"), None),
    ],
    ids=["default", "smoke", "it is named"],
)
def test_a_run_shows_the_difference_that_onednn_makes(run_pytest, arguments, cells):
    outcome = run_pytest(
        "-n", "0", "--repro", "none", *arguments,
        suites="tf_opdiff.harness.tests.planted_specs.planted_onednn", env={"TF_ENABLE_ONEDNN_OPTS": "1"},
    )  # fmt: skip
    verdicts = {(r.spec, r.plan, r.verdict) for r in outcome.merged.records if r.against == "numpy"}
    without = {(spec, plan) for spec, plan, _ in verdicts if plan.startswith("cpu+noonednn")}
    every = {(spec, f"cpu+noonednn/{mode}") for spec in ("product", "floor") for mode in ("eager", "xla")}
    assert without == (every if cells is None else cells), outcome.output
    assert (("product", "cpu/eager", "mismatch") in verdicts) == (cells is not None)
    assert all(verdict == "match" for spec, plan, verdict in verdicts if (spec, plan) in without)
