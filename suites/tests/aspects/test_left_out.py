"""Whatever inputs one recipe leaves out, another recipe of the same op tests in the same dtype."""

from dataclasses import replace

import numpy as np
import pytest

from tf_opdiff.harness.paths import SUITES
from tf_opdiff.harness.spec.catalog import Catalog
from tf_opdiff.harness.spec.inputs.recipes import Draw, edges
from tf_opdiff.harness.spec.spec import Case
from tf_opdiff.suites.forms.recipes.left_out import LeavesOut, left_out, widened
from tf_opdiff.suites.forms.recipes.pairs import crossed, normal, replaced
from tf_opdiff.suites.reference.elementwise.arithmetic import SUM

SPECS = Catalog.load(SUITES).specs
OPS = sorted({str(spec.ops) for spec in SPECS.values() if any(list(left_out(r)) for r in spec.recipes.values())})


def inside(region, dtype, xs):
    """Whether any of the inputs is in a region."""
    with np.errstate(all="ignore"):
        return bool(np.any(region(np.dtype(dtype), *widened(xs))))


@np.errstate(all="ignore")
def uncovered(specs):
    """Texts that name the regions that recipes of these specs of one op leave out, and that none of them has."""
    cases = [case for spec in specs for case in spec.cases()]
    inputs, missing = {}, []

    def of(case):
        if case.id not in inputs:
            inputs[case.id] = case.inputs()
        return inputs[case.id]

    for case in cases:
        for inner, name, region in left_out(case.spec.recipes[case.recipe]):
            dtype = np.dtype(case.dtype)
            if inside(region, dtype, inner(Draw(case.seed), dtype)):
                others = [c for c in cases if c.dtype == case.dtype and len(of(c)) == len(of(case))]
                others.sort(key=lambda c: isinstance(c.spec.recipes[c.recipe], LeavesOut))
                if not any(inside(region, dtype, of(c)) for c in others):
                    missing.append(f"{case.id} leaves out {name}")
    return missing


@pytest.mark.parametrize("op", OPS)
def test_another_recipe_brings_back_what_one_leaves_out(op):
    specs = [s for s in SPECS.values() if str(s.ops) == op and "-position" not in s.name]
    assert uncovered(specs) == []


def test_a_region_that_no_recipe_has_is_named():
    def beyond_two(dtype, x, y):
        return x > 2

    spec = replace(
        SPECS["add"], recipes={"edges": replaced(crossed, beyond_two, 1, 1)}, upstreams={}, dtypes=("float32",)
    )
    assert uncovered([spec]) == ["add-float32-edges leaves out beyond_two"]
    whole = replace(spec, recipes={**spec.recipes, "whole": crossed})
    assert uncovered([whole]) == []


def test_a_recipe_that_leaves_out_extremes_names_each_region():
    names = [name for _, name, _ in left_out(replaced(normal(crossed, SUM), lambda dtype, x, y: x > 2, 1, 1))]
    assert names[1:] == ["tiny_result", "tiny_derivative", "huge_derivative"]


def test_the_values_in_place_of_a_region_are_those_of_the_recipe():
    def zero(dtype, x):
        return x == 0

    recipe = LeavesOut(edges, {"zero": zero}, (5,))
    case = Case(
        replace(SPECS["neg"], name="planted", recipes={"edges": recipe}, upstreams={}, dtypes=("float32",)),
        "float32",
        "edges",
    )
    (x,), (whole,) = case.inputs(), edges(Draw(case.seed), np.dtype("float32"))
    assert (x[whole == 0] == 5).all()
    assert np.array_equal(x[whole != 0], whole[whole != 0], equal_nan=True)
