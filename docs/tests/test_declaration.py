"""The declarations that the tutorial and the README show are those that tests run."""

import ast
import re

import numpy as np
import pytest

from docs.generate import LIKE
from tf_opdiff.harness.judge.planted_faults.mutation import score
from tf_opdiff.harness.paths import ROOT
from tf_opdiff.suites.ops.nn.layers import activation

PAGES = ("README.md", "docs/tutorial/add-an-op.md")
SOFTSIGN = {spec.name: spec for spec in activation.SPECS if re.match(r"softsign(?!-grad\b)", spec.name)}


def declaration(page):
    """The lines of the declaration of a page."""
    return re.search(r"```python\n(\*op\(.*?)```", (ROOT / page).read_text(), re.DOTALL)[1]


@pytest.fixture(scope="module", params=PAGES)
def twins(request):
    """The specs of the declaration, by name, as the file of its family would have them."""
    made = eval(f"({declaration(request.param)})", vars(activation))  # the document's own lines
    return {spec.name: spec for spec in made}


@pytest.mark.parametrize("page", PAGES)
def test_it_has_at_most_eight_lines(page):
    assert len(declaration(page).splitlines()) <= 8


def test_it_makes_the_specs_of_softsign_but_those_of_the_second_order(twins):
    expected = {name for name in SOFTSIGN if "second-order" not in name and "hvp" not in name and "jvp" not in name}
    assert {name.replace("-twin", "", 1) for name in twins} == expected


def test_its_specs_promise_what_those_of_softsign_promise(twins):
    for name, twin in twins.items():
        spec = SOFTSIGN[name.replace("-twin", "", 1)]
        assert (twin.dtypes, set(twin.recipes), twin.ops_in("eager")) == (
            *(spec.dtypes, set(spec.recipes)),
            spec.ops_in("eager"),
        )
        for case in spec.cases():
            assert np.array_equal(twin.reference(*case.inputs()), spec.reference(*case.inputs()), equal_nan=True)


def test_its_inputs_can_tell_right_from_wrong(twins):
    assert {name: score(twin).alive for name, twin in twins.items() if score(twin).alive} == {}


@pytest.mark.parametrize("name", ["planted_binary", "planted_attributes", "planted_stateful"])
def test_the_tutorial_shows_the_declaration_that_a_test_runs(name):
    text = (ROOT / "suites" / "tests" / "planted" / f"{name}.py").read_text()
    assert f"```python\n{text[text.index('SPECS = ') :]}```" in (ROOT / PAGES[1]).read_text()


@pytest.mark.parametrize(("module", "name"), [of[-2:] for of in LIKE])
def test_an_example_of_the_reference_is_a_short_declaration(module, name):
    tree = ast.parse((ROOT / "suites" / f"{module.replace('.', '/')}.py").read_text())
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    names = [[*call.args[:1], *(k.value for k in call.keywords if k.arg == "name")] for call in calls]
    lines = [
        call.end_lineno - call.lineno + 1
        for call, values in zip(calls, names, strict=True)
        if any(isinstance(value, ast.Constant) and value.value == name for value in values)
    ]
    assert len(lines) == 1 and lines[0] <= 15


def test_the_reference_has_at_most_eight_rows_to_choose_from():
    assert len(LIKE) <= 8
