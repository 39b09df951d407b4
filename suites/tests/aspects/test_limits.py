"""Every integer argument of an op stands at its limits in some spec, or has a reason not to."""

from collections import defaultdict
from types import SimpleNamespace

import numpy as np
import pytest

from tf_opdiff.harness.paths import SUITES
from tf_opdiff.harness.spec.catalog import Catalog
from tf_opdiff.harness.spec.contract import Undocumented
from tf_opdiff.harness.spec.lists.raw_ops import RawOps
from tf_opdiff.suites.forms.limits import (
    FREE,
    LEFT_OUT,
    LIMITS,
    NUMBERS,
    UNCHANGED,
    every_limit_of,
    limits_of,
    with_attribute,
)

SPECS = [spec for spec in Catalog.load(SUITES).specs.values() if spec.aspect == LIMITS]


def covered(specs):
    """OpDef → its arguments with their limits."""
    limits = defaultdict(set)
    for spec in specs:
        for op in spec.every_op:
            limits[op] |= {(own["argument"], own["limit"]) for own in spec.attrs.values()}
    return limits


def lacking(specs):
    """The limits `OP.ARGUMENT=LIMIT` at which no spec puts an integer argument, and that are not left out."""
    here = covered(specs)
    ops = [name for name, op in RawOps.load().ops.items() if not op.excluded]
    return {f"{op}.{name}={limit}" for op in ops for name, limit in {*limits_of(op)} - here[op]}


def test_every_integer_argument_is_at_its_limits_or_has_a_reason():
    assert not lacking(SPECS)
    assert len(LEFT_OUT) <= 45 and all(reason.strip() for reason in LEFT_OUT.values())


def test_only_limits_that_an_op_has_are_left_out():
    every = {
        f"{op}.{text}" for op in RawOps.load().ops for n, limit in every_limit_of(op) for text in (n, f"{n}={limit}")
    }
    assert LEFT_OUT.keys() <= every


def test_an_argument_without_limits_is_named():
    assert "OneHot.depth=size" in lacking(spec for spec in SPECS if spec.name != "one-hot-limits")


def test_each_argument_has_every_limit_that_its_dtypes_hold():
    axis = [limit for name, limit in limits_of("OneHot") if name == "axis"]
    depth = [limit for name, limit in limits_of("OneHot") if name == "depth"]
    assert {"minus_one", "zero", "one", "rank", "size", "past_int32", "past_int64"} <= {*axis}
    assert {"minus_one", "zero", "one", "size", "smallest_int32"} <= {*depth} and "past_int32" not in depth
    assert {*axis, *depth} <= NUMBERS.keys()


@pytest.mark.parametrize("raw", ["BitwiseAnd", "NoSuchOp", "RandomUniform"])
def test_numbers_to_compute_with_and_seeds_have_no_limits(raw):
    assert not {name for name, _ in limits_of(raw)} - {"shape"}
    assert "seed" in FREE


def test_the_unchanged_call_must_give_a_value_and_the_others_may_fail():
    (spec,) = (spec for spec in SPECS if spec.name == "one-hot-limits")
    promises = {label: spec.reference(0, **own) for label, own in spec.attrs.items()}
    assert not promises[UNCHANGED].error and promises["axis=size"].error
    assert {type(promise) for promise in promises.values()} == {Undocumented}


def test_the_last_number_of_a_list_is_at_the_limit():
    call = lambda *, strides=[1, 1], axis=-1: None  # noqa: E731
    assert with_attribute(call, {}, "axis", 7) == {"axis": 7}
    assert with_attribute(call, {"strides": [1, 2, 2]}, "strides", 7) == {"strides": [1, 2, 7]}
    assert with_attribute(call, {}, "strides", 0) == {"strides": [1, 0]}


def test_a_program_makes_the_first_call_alone_with_the_argument_at_the_limit():
    """A stand-in for TensorFlow, whose raw op returns its attribute."""
    (spec,) = (spec for spec in SPECS if spec.name == "squeeze-limits")
    int32 = SimpleNamespace(base_dtype="int32")
    raw = SimpleNamespace(Squeeze=lambda *, input, axis=(): SimpleNamespace(dtype=int32, axis=axis))
    tf = SimpleNamespace(raw_ops=raw, resource="resource", string="string", variant="variant", TensorShape=tuple)
    x = SimpleNamespace(shape=Shape((3, 1)))
    assert spec.program(tf, x, **spec.attrs["squeeze_dims=size"]).axis[-1] == 3


class Shape(tuple):
    """The shape of a tensor."""

    rank = property(len)

    def num_elements(self):
        return int(np.prod(self))
