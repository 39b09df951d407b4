"""Pairs of special values stand in whole vectors, in short tensors, and in tensors that are broadcast together."""

import numpy as np
import pytest

from tf_opdiff.harness.spec.catalog import Catalog
from tf_opdiff.harness.spec.inputs import recipes
from tf_opdiff.harness.spec.inputs.recipes import FLOATS, INTEGERS, Draw
from tf_opdiff.suites.derived.special_places import (
    LENGTHS,
    distinct,
    short,
    side_by_side_sizes,
    sizes,
    special,
    special_source,
)
from tf_opdiff.suites.forms.elementwise.special_upstreams import KINDS
from tf_opdiff.suites.forms.recipes.hard_pairs import special_pairs, special_values

SPECS = Catalog.load("tf_opdiff.suites.ops").specs
MOVED = [spec for spec in SPECS.values() if f"{spec.name}-position" in SPECS and isinstance(spec.ops, str)]
#: Elementwise specs that cross the special values of several inputs.
CROSSED = [
    spec for spec in MOVED if special_source(spec) and not spec.sweepable and not KINDS.keys() & spec.recipes.keys()
]
#: Gradient ops, which cross upstreams with special values.
GRADIENT_OPS = [spec for spec in MOVED if not spec.derivatives.vjp and KINDS.keys() <= spec.recipes.keys()]


def elements(xs):
    """The elements of several inputs of one shape, as a set of their bytes."""
    return {tuple(a.tobytes() for a in each) for each in zip(*xs, strict=True)}


def lengths_of(xs, lengths):
    """Pairs of an element and the length of a tensor that holds it."""
    assert sum(lengths) == len(xs[0])
    for end, length in zip(np.cumsum(lengths), lengths, strict=True):
        for one in elements([x[end - length : end] for x in xs]):
            yield one, length


@pytest.mark.parametrize("spec", CROSSED, ids=lambda spec: spec.name)
def test_every_combination_of_special_values_stands_in_a_tensor_of_each_length(spec):
    twin = SPECS[f"{spec.name}-short"]
    (case,) = twin.cases()
    xs = case.inputs()
    wanted = elements(special_source(spec)(Draw(0), np.dtype(case.dtype)))
    assert {*lengths_of(xs, side_by_side_sizes(len(xs[0])))} == {(one, length) for one in wanted for length in LENGTHS}


@pytest.mark.parametrize("spec", GRADIENT_OPS, ids=lambda spec: spec.name)
def test_every_upstream_with_every_special_value_stands_in_a_tensor_of_each_length(spec):
    (case,) = SPECS[f"{spec.name}-short"].cases()
    xs, dtype = case.inputs(), np.dtype("float32")
    wanted = {
        (g.tobytes(), x.tobytes()) for of in KINDS.values() for g in of(dtype) for x in recipes.special_values(dtype)
    }
    assert {*lengths_of(xs, side_by_side_sizes(len(xs[0])))} >= {(one, length) for one in wanted for length in LENGTHS}


@pytest.mark.parametrize("name", ["add", "div", "floor-mod", "mul", "pow", "squared-difference"])
def test_the_combinations_of_an_op_of_floats_are_all_pairs_of_special_values(name):
    values = special_values(np.dtype("float32"))
    (case,) = SPECS[f"{name}-short"].cases()
    assert len(elements(case.inputs())) == values.size**2
    x, y = SPECS[f"{name}-special-outer"].cases()[0].inputs()
    assert (x.shape, y.shape) == ((values.size, 1), (1, values.size))


@pytest.mark.parametrize("dtype", [*FLOATS, *INTEGERS])
def test_a_spec_of_one_input_has_each_special_value(dtype):
    (case,) = (c for s in short(SPECS["exp"]) for c in s.cases() if c.dtype == "float32")
    xs, wanted = case.inputs(), elements([special(np.dtype("float32"))])
    assert {*lengths_of(xs, sizes(len(xs[0])))} == {(one, length) for one in wanted for length in LENGTHS}
    assert len(elements([special(np.dtype(dtype))])) == special(np.dtype(dtype)).size


def test_distinct_elements_keep_their_order_and_zeros_of_both_signs():
    x, y = distinct(lambda draw, dtype: (np.array([2.0, 0.0, -0.0, 2.0, 0.0]), np.array([1.0, 1, 1, 1, 1])))(None, None)
    assert x.tolist() == [2, 0, 0]
    assert np.signbit(x).tolist() == [False, False, True]
    assert y.size == 3
    assert len(elements(distinct(special_pairs)(Draw(0), np.dtype("float16")))) == 100
