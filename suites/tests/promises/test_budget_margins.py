"""Flat budgets hold over all inputs that the atlas tried, and are not much wider than the largest error of a dtype."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from tf_opdiff.harness.judge.known_failures import known_files
from tf_opdiff.harness.judge.known_failures.known import Known
from tf_opdiff.harness.paths import KNOWN, ROOT
from tf_opdiff.harness.spec.catalog import Catalog
from tf_opdiff.reports.analysis.budget_margins import margins
from tf_opdiff.reports.data.figures import atlas
from tf_opdiff.reports.verbs.atlas import FOLDER

CATALOG = Catalog.load("tf_opdiff.suites")
ENTRIES = known_files.load(ROOT / KNOWN, CATALOG)
TABLES = atlas.load(FOLDER)


@pytest.mark.parametrize("name", sorted(TABLES))
def test_a_flat_budget_holds_over_all_inputs_and_is_no_wider_than_needed(name):
    each = list(margins(TABLES[name], CATALOG, ENTRIES))
    assert len({m.spec for m in each if m.step == 1}) > 40, "the atlas has at least the 16-bit dtypes of the unary ops"
    assert len({m.spec for m in each if m.dtype == "float32"}) > 40, "the atlas has at least a sample of float32"
    assert [str(margin) for margin in each if margin.exceeded] == []
    assert [str(margin) for margin in each if margin.wide] == []


def replaced(catalog, budgets):
    """The catalog with other budgets of `exp`."""
    return SimpleNamespace(specs={"exp": replace(catalog.specs["exp"], ulp=budgets, bound={})})


def test_an_exceeded_budget_and_a_wide_one_are_seen():
    (table,) = (table for name, table in TABLES.items() if name == "cpu@2.21.0")
    exp = table[(table["spec"] == "exp") & (table["dtype"] == "float16") & (table["input_class"] == "normal")]

    def seen(factor):
        changed = exp.assign(max_ulp=exp["max_ulp"] * factor)
        return [(m.exceeded, m.wide) for m in margins(changed, CATALOG, Known()) if m.quantity == "output[0]"]

    assert set(seen(1)) == {(False, False)}
    assert set(seen(4)) == {(True, False)}
    plus = list(margins(exp.assign(max_ulp=0.001), replaced(CATALOG, {"output": 1.0}), Known()))
    assert {m.wide for m in plus if m.quantity == "output[0]"} == {True}


def test_a_sample_exceeds_a_budget_and_never_proves_that_one_is_wide():
    (table,) = (table for name, table in TABLES.items() if name == "cpu@2.21.0")
    exp = table[(table["spec"] == "exp") & (table["dtype"] == "float16") & (table["input_class"] == "normal")]

    def seen(**columns):
        changed = exp.assign(step=257, **columns)
        return {(m.exceeded, m.wide) for m in margins(changed, CATALOG, Known())}

    assert seen(max_ulp=1000.0) == {(True, False)}
    assert seen(max_ulp=0.001) == {(False, False)}


def test_a_known_failure_explains_a_larger_error_in_its_place_alone():
    (table,) = (table for name, table in TABLES.items() if name == "cpu@2.21.0")
    asin = table[(table["spec"] == "asin") & (table["dtype"] == "bfloat16") & (table["quantity"] == "output[0]")]
    with_entries = [m for m in margins(asin, CATALOG, ENTRIES) if m.mode == "xla"]
    assert [(m.exceeded, m.causes) for m in with_entries] == [(False, ("xla-asin-doubles-half",))]
    assert [m.exceeded for m in margins(asin, CATALOG, Known()) if m.mode == "xla"] == [True]
