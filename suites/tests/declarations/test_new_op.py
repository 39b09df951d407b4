"""One declaration of at most eight lines is all that a new elementwise op needs."""

import ast
from pathlib import Path

import pytest

from tf_opdiff.harness.judge.planted_faults.mutation import score
from tf_opdiff.harness.spec.catalog import Catalog
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.reference.promises.wide import Wide

DECLARED = Path(__file__).parents[1] / "planted" / "planted_softsign.py"


def test_the_declaration_has_eight_lines_and_yields_every_kind_of_spec():
    (assignment,) = (n for n in ast.parse(DECLARED.read_text()).body if isinstance(n, ast.Assign))
    assert assignment.end_lineno - assignment.lineno + 1 <= 8
    assert set(Catalog.load("tf_opdiff.suites.tests.planted.planted_softsign").specs) == {
        *("softsign-twin", "softsign-twin-position"),
        *(f"softsign-twin-position-xla{rest}" for rest in ("", "-special")),
        *(f"softsign-twin-subnormal{twin}" for twin in ("", "-position", "-position-xla")),
        *(f"softsign-twin-{twin}{rest}" for twin in ("short", "gradient-alone") for rest in ("", "-other")),
        *(f"softsign-twin-sizes{rest}" for rest in ("", "-unknown-shape", "-xla")),
    }


@pytest.fixture(scope="module")
def verdicts(run_module):
    """case, quantity → verdict against NumPy, of the declaration and of one whose derivative is wrong."""
    modules = [f"tf_opdiff.suites.tests.planted.planted_softsign{end}" for end in ("", "_wrong")]
    records = [r for module in modules for r in run_module(module, modes=("eager",), dtypes=("float32",))]
    return {(r.case, r.quantity): r.verdict for r in records if r.against == "numpy"}


def test_the_new_op_passes(verdicts):
    assert {verdicts["softsign-twin-float32-plain", quantity] for quantity in ("output[0]", "grad[0]")} == {"match"}
    assert {verdict for (case, _), verdict in verdicts.items() if case.startswith("softsign-twin")} <= {
        "match",
        "contract",
    }


def test_a_wrong_derivative_is_found(verdicts):
    assert verdicts["softsign-wrong-float32-plain", "output[0]"] == "match"
    assert verdicts["softsign-wrong-float32-plain", "grad[0]"] == "mismatch"


def test_an_unknown_keyword_is_refused():
    with pytest.raises(TypeError, match="unexpected keyword argument 'slope'"):
        op("x", "Exp", f=Wide(abs), df=Wide(abs), ulp={}, slope=None)


#: Module → the most lines of its declaration.
DECLARATIONS = {"planted_binary": 15, "planted_attributes": 25, "planted_stateful": 30}


@pytest.mark.parametrize(("name", "most"), DECLARATIONS.items())
def test_any_other_op_is_a_short_declaration_as_well(name, most):
    (assignment,) = (
        n for n in ast.parse(DECLARED.with_name(f"{name}.py").read_text()).body if isinstance(n, ast.Assign)
    )
    assert assignment.end_lineno - assignment.lineno + 1 <= most


@pytest.mark.parametrize("name", DECLARATIONS)
def test_the_inputs_of_its_specs_detect_wrong_results(name):
    specs = Catalog.load(f"tf_opdiff.suites.tests.planted.{name}").specs.values()
    alive = {spec.name: score(spec).alive for spec in specs}
    assert {name: mutants for name, mutants in alive.items() if mutants} == {}


@pytest.mark.parametrize("name", DECLARATIONS)
def test_it_passes(name, run_module):
    records = run_module(
        f"tf_opdiff.suites.tests.planted.{name}", modes=("eager", "graph"), dtypes=("float32", "float64", "int32")
    )
    assert {record.verdict for record in records if record.against == "numpy"} <= {"match", "contract"}
    assert {record.verdict for record in records} >= {"match"}
