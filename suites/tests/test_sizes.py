"""Every elementwise op meets tensors without elements, and with one element, of rank 1 to 3."""

import pytest

from tf_opdiff.harness.spec.catalog import Catalog
from tf_opdiff.suites.ops import sizes

OPS = Catalog.load("tf_opdiff.suites.ops").specs.values()


@pytest.mark.parametrize("dtype", sizes.DTYPES)
def test_every_elementwise_op_of_a_dtype_has_all_sizes(dtype):
    moved = {spec.name.removesuffix("-position") for spec in OPS if spec.elementwise}
    one_op = [s for s in OPS if s.name in moved and isinstance(s.ops, str) and ";" not in s.ops and s.tier != "full"]
    present = {op for spec in sizes.SPECS if spec.dtypes == (dtype,) for op in spec.ops.split(";")}
    assert {spec.ops for spec in one_op if dtype in spec.dtypes} <= present


def test_the_shapes_have_a_zero_in_each_dimension_or_one_element():
    assert {len(shape) for shape in sizes.SHAPES.values()} == {1, 2, 3}
    zeros = {(len(shape), i) for shape in sizes.SHAPES.values() for i, size in enumerate(shape) if size == 0}
    assert zeros >= {(1, 0), (2, 0), (2, 1), (3, 1)}
    assert {len(s) for s in sizes.SHAPES.values() if set(s) == {1}} == {1, 2, 3}


@pytest.mark.parametrize("spec", sizes.SPECS, ids=lambda spec: spec.name)
def test_one_trace_serves_all_shapes_of_a_rank(spec):
    assert spec.unknown_shapes and set(spec.modes) >= {"function", "graph"}
    for case in spec.cases():
        assert {x.shape for x in case.inputs()} == {sizes.SHAPES[case.recipe]}
