"""Names of quantities, plans and elements: what is written is read back, and other texts are refused."""

import pytest

from tf_opdiff.harness.spec.plan import Device, Plan, PlanName
from tf_opdiff.harness.spec.quantity import Quantity, family_of, is_quantity, named, number_of
from tf_opdiff.harness.store.records.element_index import index_text, parse_index


@pytest.mark.parametrize("text", ["output[0]", "grad[12]", "jvp[1]", "hvp[3]"])
def test_a_quantity_is_read_as_it_is_written(text):
    quantity = Quantity.parse(text)
    assert str(quantity) == text and is_quantity(text)
    assert (family_of(text), number_of(text)) == tuple(quantity)


@pytest.mark.parametrize(
    "text", ["", "output", "output[]", "output[-1]", "output[0][1]", "input[0]", "grad[1] ", "Output[0]"]
)
def test_another_text_is_no_quantity(text):
    assert not is_quantity(text)
    with pytest.raises(ValueError, match=r"expected output\[i\], grad\[i\], jvp\[i\], hvp\[i\]$"):
        Quantity.parse(text)


def test_a_family_is_its_own_family_and_an_input_has_a_number():
    assert family_of("grad") == "grad" and number_of("input[2]") == 2
    assert named("jvp", 2) == ["jvp[0]", "jvp[1]"] and named("jvp", 0) == []


def test_a_plan_is_named_by_its_device_and_mode():
    plan = Plan(Device.parse("cpu+noonednn"), "xla")
    assert PlanName.parse(str(plan)) == plan.name == ("cpu+noonednn", "xla")
    assert str(PlanName.parse("h100@2.21.0/eager")) == "h100@2.21.0/eager"


@pytest.mark.parametrize("text", ["numpy", "claim:C08b", ""])
def test_another_oracle_is_no_plan(text):
    assert PlanName.parse(text) is None


@pytest.mark.parametrize("index", [(), (0,), (3, 4), (10**12, 0, 7)])
def test_an_index_is_read_as_it_is_written(index):
    assert parse_index(index_text(index)) == index


@pytest.mark.parametrize("text", ["", "[", "3, 4", "[3,4]", "[-1]", "[1e3]", "[" + "9" * 40 + "]", "[1, 2] "])
def test_another_text_is_no_index(text):
    assert parse_index(text) is None
    assert index_text(None) == ""
