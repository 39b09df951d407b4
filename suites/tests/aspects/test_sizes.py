"""Every op meets tensors without elements, and with one element, of rank 1 to 3, in shapes known and unknown."""

from itertools import zip_longest
from pathlib import Path

import numpy as np
import pytest

from tf_opdiff.harness.spec.catalog import Catalog
from tf_opdiff.harness.spec.lists.raw_ops import RawOps
from tf_opdiff.suites.derived.sizes import FEW, PAIRS, alike, elementwise_sizes, sizes
from tf_opdiff.suites.forms.elementwise.binary import floats
from tf_opdiff.suites.forms.op import op, with_sizes
from tf_opdiff.suites.forms.part import part
from tf_opdiff.suites.reference.elementwise.arithmetic import SUM

SPECS = {**Catalog.load("tf_opdiff.suites.ops").specs}
UNKNOWN = [spec for spec in SPECS.values() if spec.name.endswith("-sizes-unknown-shape")]
#: The OpDefs that have no such specs, each with the reason.
LINES = Path(__file__).with_name("without_sizes.txt").read_text("utf-8").splitlines()
TO_DO = {line.partition(": ")[0]: line.partition(": ")[2] for line in LINES}


def ops_of(specs):
    """The OpDefs that have a spec of their own."""
    return {spec.ops for spec in specs if isinstance(spec.ops, str) and ";" not in spec.ops}


def lacking(specs):
    """The OpDefs without sizes, in programs of known shapes in the default tier, or in programs of unknown ones.

    They are in all modes that the op has, but for XLA, which compiles each shape anew.
    """
    specs = [*specs]
    usual = [spec for spec in specs if spec.tier == "default"]
    modes = {op: modes_of(spec for spec in specs if spec.ops == op) - {"xla"} for op in ops_of(specs)}
    known = ops_of(s for s in usual if s.aspect == "sizes" and {*s.modes} >= modes.get(s.ops, {"none"}))
    unknown = ops_of(spec for spec in specs if spec.execution.unknown_shapes)
    return ops_of(specs) - (known & unknown)


def modes_of(specs):
    """The modes that any of the specs has."""
    return {mode for spec in specs for mode in spec.modes}


def shapes_of(spec):
    """The shapes of the inputs of the cases of a spec."""
    return [shape for case in spec.cases() for shape in (x.shape for x in case.inputs())]


def has_one_element(spec):
    """Whether an input or an output has one element, and a dimension."""
    if any({*shape} == {1} for shape in shapes_of(spec)):
        return True
    outputs = [spec.reference(*case.inputs()) for case in spec.cases()]
    return any({*np.shape(y)} == {1} for each in outputs for y in (each if isinstance(each, tuple) else (each,)))


def test_every_op_has_tensors_of_zero_elements_and_of_one():
    assert lacking(SPECS.values()) == TO_DO.keys()
    assert len(LINES) <= 17 and all(TO_DO.values())


def test_an_op_without_them_is_named():
    rest = [spec for spec in SPECS.values() if not spec.name.startswith(("exp-sizes", "gather-nd-sizes"))]
    assert lacking(rest) - TO_DO.keys() == {"Exp", "GatherNd"}
    assert lacking(spec for spec in SPECS.values() if spec.name != "exp-sizes-unknown-shape") - TO_DO.keys() == {"Exp"}


def of_one_rank(spec):
    """Whether each operand has one rank only, as in products of matrices; scalars have no dimension to be zero."""
    cases = [
        [len(x.shape) for x in case.inputs()] for case in SPECS[spec.name.removesuffix("-sizes-unknown-shape")].cases()
    ]
    return all(len({*ranks} - {0}) <= 1 for ranks in zip_longest(*cases, fillvalue=0))


@pytest.mark.parametrize("spec", UNKNOWN, ids=lambda spec: spec.name)
def test_programs_of_unknown_shapes_meet_zero_and_one(spec):
    assert {"function", "graph"} & {*SPECS[spec.name.removesuffix("-sizes-unknown-shape")].modes} <= {*spec.modes}
    shapes = shapes_of(spec)
    assert len({len(shape) for shape in shapes if 0 in shape}) > 1 or of_one_rank(spec)
    assert has_one_element(spec) or "one" not in RawOps.load().ops[spec.ops].shapes


@pytest.mark.parametrize("shapes", [alike(1), alike(3), PAIRS])
def test_each_dimension_is_zero_once(shapes):
    zeros = {(len(shape), i) for each in shapes.values() for shape in each for i, n in enumerate(shape) if n == 0}
    assert zeros >= {(1, 0), (2, 0), (2, 1), (3, 1)}
    assert {len(shape) for each in shapes.values() for shape in each if {*shape} == {1}} == {1, 2, 3}
    assert FEW & shapes.keys() and "ones" not in FEW


def test_shapes_that_are_broadcast_sum_up_no_element_or_one():
    for x, y in PAIRS.values():
        result = [max(pair) if 0 not in pair else 0 for pair in zip(x[::-1], y[::-1], strict=False)]
        assert all(n < 2 or m == n or 0 in (*x, *y) for n, m in zip(result, x[::-1], strict=False))


def test_values_are_those_of_a_recipe_of_the_spec():
    x = {*SPECS["acosh"].cases("float32")[3].inputs()[0].tolist()}
    drawn = {v for case in SPECS["acosh-sizes-unknown-shape"].cases() for v in case.inputs()[0].ravel().tolist()}
    assert drawn and drawn <= x


def test_float32_stands_for_other_dtypes_and_a_spec_with_gradients_for_one_without():
    usual = [
        s.name
        for s in SPECS.values()
        if s.ops in ("Pow", "Add") and s.aspect in ("sizes", "unknown-shape") and s.modes != ("xla",)
    ]
    assert sorted(usual) == [f"{name}-sizes{end}" for name in ("add", "pow-gradient") for end in ("", "-unknown-shape")]


def test_an_op_may_have_other_shapes():
    parts = (part(positions=True, recipes=SPECS["add"].recipes, dtypes=("float32",)),)
    *_, last = op("less-one", "Sub", with_sizes(*parts, shapes=alike(2)), reference=SUM)
    assert {*last.recipes} == {*alike(2)}
    assert {*op("less-one", "Sub", floats(SUM, ulp={"output": 0.5, "grad": 0}))[-2].recipes} == {*PAIRS}


def test_specs_of_which_none_is_elementwise_have_none():
    assert elementwise_sizes([SPECS["add-broadcast"]], PAIRS) == []
    assert [*sizes(SPECS["invert"], {}, ("int8",), "int32")] == []
