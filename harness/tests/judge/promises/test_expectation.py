"""The reference is wider than the thing tested, and its result stands for the case's dtype."""

import sys

import numpy as np
import pytest

from tf_opdiff.harness.judge.promises.expectation import expectation
from tf_opdiff.harness.judge.promises.reference import ReferenceFault
from tf_opdiff.harness.spec.inputs.recipes import FLOATS, plain, special_values
from tf_opdiff.harness.spec.spec import Raises, Side, Spec
from tf_opdiff.suites.forms.elementwise.special_upstreams import in_turn


def expected(dtype="float16", side=None, recipe=plain, **more):
    defaults = {"name": "x", "program": len, "reference": np.floor, "recipes": {"plain": recipe}, "ops": ""}
    (case,) = Spec(**defaults | more, dtypes=(dtype,)).cases()
    return expectation(case, case.inputs(), side)


@pytest.mark.parametrize("dtype", FLOATS)
def test_a_reference_does_not_share_the_cancellation_of_the_dtype(dtype):
    tiny = 2.0**-20
    found = expected(dtype, recipe=lambda draw, d: (np.full(3, tiny, d),), reference=lambda x: (x + 1) - 1)
    want = found.wants["output[0]"]
    assert want.value.tolist() == [tiny] * 3
    assert want.dtype == np.dtype(dtype)


@pytest.mark.parametrize(("dtype", "wide"), [("complex64", "complex128"), ("bfloat16", "float64"), ("int8", "int8")])
def test_a_reference_gets_floats_wide_and_the_rest_as_it_is(dtype, wide):
    seen = []
    expected(dtype, reference=lambda x: seen.append(x.dtype.name) or x)
    assert seen == [wide]


def test_a_size_of_a_complex_number_comes_in_the_dtype_of_its_parts():
    assert expected("complex64", reference=np.abs).wants["output[0]"].dtype == np.float32


def test_a_dtype_other_than_the_wide_one_stands_for_itself():
    assert expected("float16", reference=lambda x: x > 0).wants["output[0]"].dtype == np.bool_
    assert expected("float16", reference=lambda x: x.astype(np.float32)).wants["output[0]"].dtype == np.float32


def test_a_recipe_may_have_upstreams_of_its_own():
    found = expected("float16", vjp=lambda g, x: g, upstreams={"plain": in_turn(special_values)}).upstreams[0]
    assert {*found.astype(str)} == {*special_values(np.dtype("float16")).astype(str)}


def test_upstreams_are_neither_zero_nor_alike_and_the_same_at_every_call():
    first, again = (expected("float32", vjp=lambda g, x: g).upstreams[0] for _ in range(2))
    assert (first == again).all()
    assert np.unique(first).size == first.size
    assert (np.abs(first) >= 0.5).all()
    assert {*np.sign(first).tolist()} == {-1, 1}


def test_a_refusal_asks_for_no_gradient():
    side = Side(reference=lambda x: Raises("INVALID_ARGUMENT"), why="planted")
    found = expected(side=side, vjp=lambda g, x: g)
    assert set(found.wants) == {"output[0]"}
    assert found.upstreams is None


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"reference": lambda x: ()}, "promises nothing"),
        ({"reference": lambda x: ({},)}, "promises nothing"),
        ({"reference": lambda x: None}, "returned NoneType: expected arrays"),
        ({"reference": lambda x: (x, [x, None])}, "returned list: expected arrays"),
        ({"second": lambda x: (np.floor(x), x)}, "promise 1 and 2 quantities"),
        ({"vjp": lambda g, x: ()}, "the VJP of x-float16-plain returned 0 gradients: expected 1"),
        ({"vjp": lambda g, x: (g, g)}, "returned 2 gradients: expected 1"),
        ({"vjp": lambda g, x: "g"}, "returned str: expected arrays"),
        ({"jvp": lambda t, x: ()}, "the JVP of x-float16-plain returned 0 gradients: expected 1"),
        ({"bound": {"output": lambda u, g, x: -np.abs(x)}}, "expected no negative number"),
        ({"bound": {"output": lambda u, g, x: np.nan}}, "is nan everywhere"),
        ({"bound": {"output": lambda u, g, x: x + np.inf}}, "is inf everywhere"),
        ({"bound": {"output": lambda u, g, x: None}}, "is object: expected real numbers"),
        ({"bound": {"output": lambda u, g, x: 1j * x}}, "is complex128: expected real numbers"),
        ({"bound": {"output": lambda u, g, x: x[:3]}}, "has shape (3,): expected (67,)"),
    ],
)
def test_what_promises_nothing_or_nonsense_is_a_fault_of_one_line(more, says):
    with pytest.raises(ReferenceFault) as caught:
        expected(**more)
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_side_of_a_contract_that_promises_nothing_is_a_fault():
    with pytest.raises(ReferenceFault, match="promises nothing"):
        expected(side=Side(reference=lambda x: (), why="planted"))


@pytest.mark.parametrize("dtype", ["int4", "uint4", "bfloat16", "float8_e5m2", "bool", "S1"])
def test_a_reference_may_return_any_dtype_that_tensorflow_has(dtype):
    import ml_dtypes  # noqa: F401  the names int4, bfloat16, …

    found = expected(reference=lambda x: np.zeros(x.shape, dtype)).wants["output[0]"]
    assert found.dtype == (object if dtype == "S1" else np.dtype(dtype))


def test_a_bound_may_be_nan_in_places():
    bound = expected(bound={"output": lambda u, g, x: np.where(x > 0, u, np.nan)}).wants["output[0]"].bound
    assert np.isnan(bound).any()


def test_a_reference_with_an_import_of_tensorflow_is_a_fault_and_imports_nothing(tmp_path, monkeypatch):
    (tmp_path / "tensorflow.py").write_text("floor = len")
    monkeypatch.syspath_prepend(tmp_path)

    def reference(x):
        import tensorflow

        return tensorflow.floor(x)

    with pytest.raises(ReferenceFault, match=r"the reference of x-float16-plain failed: ImportError: .*independent"):
        expected(reference=reference)
    assert "tensorflow" not in sys.modules
    assert all("_Refused" not in str(hook) for hook in sys.meta_path)


def test_a_reference_is_not_called_where_tensorflow_is_imported(monkeypatch):
    monkeypatch.setitem(sys.modules, "tensorflow", np)
    with pytest.raises(ReferenceFault, match="TensorFlow is imported in this process"):
        expected()


def test_two_references_have_to_agree_in_shape_and_in_every_number():
    for second in (np.ceil, lambda x: np.floor(x)[None], lambda x: np.where(np.arange(x.size) == 3, 9, np.floor(x))):
        with pytest.raises(ReferenceFault, match=r"the two references of x-float16-plain disagree on output\[0\]"):
            expected(second=second)
    assert expected(second=lambda x: -np.ceil(-x)).wants["output[0]"].status == "value"


def test_a_gradient_that_is_none_is_promised_to_be_unconnected():
    assert expected(vjp=lambda g, x: None).wants["grad[0]"].status == "unconnected"
    refused = expected(vjp=lambda g, x: Raises("INTERNAL")).wants["grad[0]"]
    assert (refused.status, refused.raises.code) == ("error", "INTERNAL")
