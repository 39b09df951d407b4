"""Every op that is not elementwise meets NaN, infinities, -0 and subnormal numbers, in one operand at a time."""

from dataclasses import replace
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from tf_opdiff.harness.device.observation import Result
from tf_opdiff.harness.judge.differences.compare import compare
from tf_opdiff.harness.judge.promises.expectation import expectation
from tf_opdiff.harness.spec.catalog import Catalog
from tf_opdiff.harness.spec.inputs.recipes import COMPLEX, FLOATS, is_float
from tf_opdiff.suites.derived.twin import ELEMENTWISE
from tf_opdiff.suites.forms.calls import call
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.recipes.elements import plain
from tf_opdiff.suites.forms.special_operands import NUMBERS, SPECIAL_OPERANDS
from tf_opdiff.suites.reference.promises.promise import Promise

SPECS = Catalog.load("tf_opdiff.suites.ops").specs.values()
#: OpDef with floats → why no spec has special numbers in its operands.
WITHOUT = dict(
    line.split(": ", 1)
    for line in Path(__file__).with_name("without_special_operands.txt").read_text("utf-8").splitlines()
)


def of_floats(spec):
    """The OpDefs of a spec with floats or complex numbers."""
    return spec.every_op if {*spec.dtypes} & {*FLOATS, *COMPLEX} else frozenset()


def lacking(specs):
    """The OpDefs with floats, none of whose specs is elementwise or has special operands; see also `meeting`."""
    specs = [*specs]
    aspects = (ELEMENTWISE, SPECIAL_OPERANDS)
    present = {op for spec in specs for op in spec.every_op if spec.elementwise or spec.aspect in aspects}
    others = {op for spec in specs for op in of_floats(spec)} - present
    return others - {op for op in others if meeting(spec for spec in specs if op in spec.every_op)}


def meeting(specs):
    """Whether specs have all special numbers among the inputs of their recipes, in each mode."""
    numbers = {}
    for spec in specs:
        dtypes = [dtype for dtype in spec.dtypes if dtype in (*FLOATS, *COMPLEX)][:1]
        cases = [case for dtype in dtypes for case in spec.cases(dtype) if "special" in case.recipe]
        met = {name for case in cases for name in of_inputs(case)}
        for mode in spec.modes:
            numbers.setdefault(mode, set()).update(met)
    return bool(numbers) and all(each == {*NUMBERS} for each in numbers.values())


def of_inputs(case):
    """The names of the special numbers that occur among the inputs of a case."""
    arrays = [part for x in case.inputs() for part in ((x.real, x.imag) if x.dtype.kind == "c" else (x,))]
    floats = [x for x in arrays if is_float(x.dtype)]
    with np.errstate(all="ignore"):
        return {name for x in floats for name, number in NUMBERS.items() if _has(x, name, number(x.dtype))}


def _has(x, name, number):
    """Whether an array has a special number; any subnormal one for `subnormal`."""
    if name == "subnormal":
        return bool(((x != 0) & (np.abs(x) < ml_dtypes.finfo(x.dtype).smallest_normal)).any())
    equal = np.isnan(x) if np.isnan(number) else (x == number) & (np.signbit(x) == np.signbit(number))
    return bool(equal.any())


def of_sums(**fields):
    """The specs of an op of two operands, of which the second one is computed."""

    class Sums(Promise):
        def f(self, x, y):
            return x.sum() + y

        def vjp(self, g, x, y):
            return np.sum(g) + np.zeros(x.shape), g

    first = call((2, 3), (4,))
    return op(
        "sums",
        "AddV2",
        program=lambda tf, x, y: tf.reduce_sum(x) + y,
        promise=Sums(),
        calls={"first": first, "second": call((5,), (1,))},
        recipes={"plain": plain},
        **fields,
    )


def of_products():
    """The specs of an op that multiplies its operands."""

    class Products(Promise):
        def f(self, x, y):
            return x * y

        def vjp(self, g, x, y):
            return g * y, g * x

        def error(self, u, x, y):
            return 2 * u * np.abs(x * y)

        def grad_error(self, i, u, g, x, y):
            return 2 * u * np.abs(g * (y, x)[i])

    return op(
        "products",
        "Mul",
        program=lambda tf, x, y: x * y,
        promise=Products(),
        calls={"first": call((5,), (5,)), "second": call((3, 2), (3, 2))},
        recipes={"plain": plain},
    )


def special(specs):
    """The specs with special operands, by the ends of their names."""
    return {spec.name.partition(SPECIAL_OPERANDS)[2]: spec for spec in specs if spec.aspect == SPECIAL_OPERANDS}


def test_every_op_with_floats_meets_special_numbers_or_has_a_reason():
    found = lacking(SPECS)  # pytest would print all specs
    assert found == WITHOUT.keys()
    assert not [op for op, why in WITHOUT.items() if len(why.split()) < 4]


def test_an_op_without_them_is_named():
    assert lacking(spec for spec in SPECS if not spec.name.startswith("bias-add-grad-")) - {*WITHOUT} == {"BiasAddGrad"}


def test_numbers_count_in_every_mode_of_an_op():
    reverse = next(spec for spec in SPECS if spec.name == "reverse")
    eager, graph = (replace(reverse, name=f"in-{mode}", modes=(mode,)) for mode in ("eager", "graph"))
    plain_graph = replace(graph, recipes={"plain": graph.recipes["plain"]}, upstreams={})
    assert meeting([eager, graph])
    assert not meeting([eager, plain_graph])


def test_each_number_stands_in_one_operand_of_each_call():
    specs = special(of_sums())
    assert {*specs[""].recipes} == {"nan_0", "nan_1"} and specs[""].modes == ("eager",)
    assert {*specs["-other"].recipes} == {f"{name}_{i}" for name in NUMBERS for i in range(2)}
    for case in specs["-other"].cases():
        name, _, operand = case.recipe.rpartition("_")
        number = np.float32(NUMBERS[name](np.dtype("float32")))
        counts = [int((x.view(np.uint32) == number.view(np.uint32)).sum()) for x in case.inputs()]
        assert counts == [1 - int(operand), int(operand)] * 2


def test_ordinary_numbers_are_left_out():
    specs = special(of_sums(ordinary={"*inf_0": "a reason", "nan_?": "a reason", "grad": "a reason"}))
    assert {*specs} == {"-other"}
    assert {*specs["-other"].recipes} == {"inf_1", "minus-inf_1"} | {
        f"{name}_{i}" for name in ("minus-zero", "subnormal") for i in range(2)
    }
    assert specs["-other"].derivatives.vjp is None


@pytest.mark.parametrize(("recipe", "kind"), [("nan_0", "nan"), ("inf_1", "inf"), ("minus-inf_0", "inf")])
def test_a_lost_number_is_a_mismatch(recipe, kind):
    spec = special(of_sums())["-other"]
    case = next(case for case in spec.cases() if case.recipe == recipe)
    want = expectation(case, case.inputs(), None).wants["output[0]"]
    lost = [np.where(np.isfinite(x), x, 0) for x in case.inputs()]
    assert compare(Result("value", (lost[0].sum() + lost[1]).astype(np.float32)), want, "output[0]").kind == kind


@pytest.mark.parametrize("quantity", ["output[0]", "grad[0]"])
def test_a_subnormal_operand_may_be_a_zero_and_nothing_else(quantity):
    spec = special(of_products())["-other"]
    case = next(case for case in spec.cases() if case.recipe == "subnormal_1")
    want = expectation(case, case.inputs(), None).wants[quantity]
    right = want.value.astype(np.float32)
    tiny = (right != 0) & (np.abs(right) < 1e-36)
    assert tiny.any()
    for wrong, kinds in ((right, {""}), (np.where(tiny, 0 * right, right), {""}), (right / 2, {"value", "subnormal"})):
        assert compare(Result("value", wrong.astype(np.float32)), want, quantity).kind in kinds


def test_an_ordinary_operand_may_be_no_zero():
    spec = special(of_products())["-other"]
    case = next(case for case in spec.cases() if case.recipe == "nan_1")
    assert not expectation(case, case.inputs(), None).wants["output[0]"].alternatives
