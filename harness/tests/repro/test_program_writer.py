"""Programs of findings are written so that they run with TensorFlow and NumPy alone, or are refused with the reason."""

import ast
import functools
import types
from dataclasses import replace

import numpy as np
import pytest
from scipy import special

from tf_opdiff.harness.repro.program_text.function_source import Unwritable
from tf_opdiff.harness.repro.program_text.program_writer import complete
from tf_opdiff.harness.repro.program_text.undefined_names import faults
from tf_opdiff.harness.repro.reproduce import Setting, reproduce
from tf_opdiff.harness.repro.script_runs.outcome import Outcome
from tf_opdiff.harness.spec.catalog import Catalog
from tf_opdiff.harness.spec.spec import Case
from tf_opdiff.harness.store.records.record import Record
from tf_opdiff.harness.tests.planted_specs import planted_writing

PLANTED = Catalog.load("tf_opdiff.harness.tests.planted_specs.planted_writing")


def text_of(function, rest=""):
    """The text of a program of one function, with a rest that is written around its definitions."""

    def build(writer):
        writer.function(function, "program")
        return "\n".join(["import numpy as np", *writer.import_lines, writer.text, rest])

    return complete(build)


def written(function, rest=""):
    scope = {}
    exec(compile(text_of(function, rest), "written", "exec"), scope)  # noqa: S102  that it runs is what is tested
    return scope["program"]


def test_a_program_may_use_a_named_tuple():
    pair = written(planted_writing.paired)(None, 5)
    assert tuple(pair) == (pair.first, pair.second) == (5, 0)


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory) -> dict[str, Outcome]:
    """The outcomes of the programs of planted findings, by spec."""
    setting = Setting(catalog=PLANTED, tf="2.21.0", folder=tmp_path_factory.mktemp("run") / "repro")
    records = [
        _record(name, got) for name, got in (("hard-to-write", 1.0), ("written-right", 1.0), ("other-value", 7.0))
    ]
    records.append(_record("needs-scipy", 0.0))
    x, y = (PLANTED.specs[name].cases()[0].inputs()[0].ravel()[0] for name in ("assigning", "allowed-twice"))
    against = {"against": "cpu/function", "got": str(3 * y), "want": "0.0"}
    records.append(replace(_record("allowed-twice", 0.0), **against))
    error = {"kind": "status", "got": "error ValueError", "want": "value"}
    records.append(replace(_record("refusing-gradient", 0.0), **error))
    records.append(replace(_record("assigning", 0.0), quantity="output[1]", got=str(2 * x + np.float32(1))))
    found = reproduce(records, setting)
    return {record.detail: outcome for record, outcome in zip(records, found, strict=True)}


def _record(name, off):
    """A record that says that the first output is off by so much at its first element."""
    spec = PLANTED.specs["hard-to-write" if name == "other-value" else name]
    case = Case(spec, "float32", "plain")
    x = case.inputs()[0].ravel()[0]
    want = np.float32(2 * abs(x))
    index = str([0] * case.inputs()[0].ndim)
    return Record(
        suite="planted_writing",
        spec=spec.name,
        verdict="mismatch",
        kind="value",
        case=case.id,
        dtype="float32",
        recipe="plain",
        device="cpu",
        mode="function" if name == "other-value" else "eager",
        against="numpy",
        quantity="output[0]",
        got=str(np.float32(want + np.float32(off))),
        want=str(want),
        worst_index=index,
        example_index=index,
        detail=name,
    )


def test_a_program_of_annotated_helpers_closures_and_types_runs_alone(outcomes):
    outcome = outcomes["hard-to-write"]
    assert (outcome.status, outcome.why) == ("reproduced", "")


@pytest.mark.parametrize("name", ["allowed-twice", "refusing-gradient", "assigning"])
def test_what_a_run_found_beside_another_allowed_value_in_gradients_and_in_states_has_a_program(outcomes, name):
    assert (outcomes[name].status, outcomes[name].why) == ("reproduced", "")


def test_a_program_that_shows_no_difference_says_so(outcomes):
    outcome = outcomes["written-right"]
    assert (outcome.status, outcome.why) == ("not reproduced", "it shows no difference in a process of its own")


def test_a_program_that_shows_another_result_is_not_that_of_its_finding(outcomes):
    outcome = outcomes["other-value"]
    assert outcome.status == "not reproduced"
    assert outcome.why.startswith("it printed ")


def test_a_program_that_needs_scipy_says_so(outcomes):
    outcome = outcomes["needs-scipy"]
    assert (outcome.status, outcome.script) == ("no script", "")
    assert outcome.why == "it uses scipy.special, which is not part of TensorFlow, NumPy or Python"


def test_the_text_has_no_annotation_and_no_field_that_the_program_does_not_use():
    text = text_of(PLANTED.specs["hard-to-write"].program)
    annotations = [
        n for n in ast.walk(ast.parse(text)) if getattr(n, "annotation", None) or getattr(n, "returns", None)
    ]
    assert annotations == []
    assert not [word for word in ("near", "special", "exact", "reference", "Draw", "Any") if word in text]


def _adding(n):
    return lambda x: x + n


def test_names_that_the_rest_of_a_program_binds_are_left_to_it():
    attempt = _adding(1)

    def program(x):
        return attempt(x) + planted_writing.allowed

    rest = "def attempt(run):\n    return run(1)\n\n\nresult = attempt(program)"
    scope = {}
    exec(compile(text_of(lambda x: attempt(x), rest), "written", "exec"), scope)  # noqa: S102
    assert scope["result"] == 2
    with pytest.raises(Unwritable, match=r"module .*planted_writing is the project's own"):
        text_of(program)


def test_an_inner_parameter_of_the_name_of_an_outside_one_stays_its_own():
    def both(f, g):
        return lambda x: [f(x), *[-f for f in (x, 2)], *map(lambda f: f + 1, (3,)), g(x)]  # noqa: C417

    function = both(_adding(1), both(_adding(2), _adding(3)))
    assert written(function)(10) == function(10)


@pytest.mark.parametrize(
    "value",
    [np.zeros((0, 4, 2), np.float32), np.float64("nan"), np.float32(2.5), np.array(1.5), np.array([True])],
    ids=["empty", "scalar NaN", "scalar", "no dimension", "bool"],
)
def test_an_array_keeps_its_shape_and_dtype(value):
    result = written(lambda: value)()
    assert isinstance(result, np.ndarray)
    assert (result.shape, result.dtype) == (value.shape, value.dtype)
    np.testing.assert_array_equal(result, value)


def test_a_partial_function_is_the_program_itself():
    program = functools.partial(_several, 2, scale=3)
    assert written(program)(5) == program(5)


def _several(n, x, scale=1):
    return x * scale + n


def test_what_cannot_be_written_leaves_nothing_half_defined():
    """A field that the program might use and that has no text, of a value whose other fields have one."""
    held = planted_writing.Kind(scale=4.0, reference=_not_writable(object()), exact=_not_writable)

    def program(x):
        return held.times(x) + getattr(x, "reference", 0)

    assert written(program)(2) == 8.0


def _not_writable(held):
    return lambda x: (x, held)


def test_functions_of_python_are_imported_and_not_copied():
    dumped = types.SimpleNamespace  # a class of Python
    text = text_of(lambda: (dumped(a=1).a, functools.reduce(max, [1, 2]), np.square(3)))
    assert "class SimpleNamespace" not in text
    assert "def reduce" not in text


def test_a_ufunc_of_scipy_is_no_function_of_numpy():
    y0 = special.y0
    with pytest.raises(Unwritable, match="it uses y0, which is no function of NumPy"):
        text_of(lambda x: y0(x))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("def f(x: Any): pass", ["it uses Any, which it does not define"]),
        ("class A:\n    x = missing\n    def m(self): return lambda: other", ["missing", "other"]),
        ("def f():\n    y = 1\n    def g(): return y + z\n    return g", ["z"]),
        ("a = [q for p in range(3)]", ["q"]),
        ("import numpy as np\nnp.y0(1)", ["it uses np.y0, which numpy lacks"]),
        ("import scipy.special as s", ["it imports scipy.special, which is not part of TensorFlow, NumPy or Python"]),
        ("from tf_opdiff import harness", ["it imports tf_opdiff, which is not part of TensorFlow, NumPy or Python"]),
        ("def f(:", ["it is no Python: invalid syntax in line 1"]),
        ("import os\ndef f(os): return os.nothing\n__name__", []),
        ("global_one = 1\ndef f(x, *, k=len): return [k(y) + global_one for y in x if (w := y)] and w", []),
    ],
)
def test_an_undefined_name_is_found_before_the_program_runs(text, expected):
    found = faults(text)
    assert len(found) == len(expected)
    assert all(word in said for word, said in zip(expected, found, strict=True)), found
