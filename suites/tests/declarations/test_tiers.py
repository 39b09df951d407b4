"""The default tier has one dtype of each kind; the full tier has the others."""

import numpy as np
import pytest

from tf_opdiff.harness.spec.catalog import Catalog
from tf_opdiff.harness.spec.spec import Spec
from tf_opdiff.suites.derived.twin import stood_for

CATALOG = Catalog.load("tf_opdiff.suites")


def spec(*dtypes, **fields):
    recipes = {"plain": lambda draw, dtype: (draw.values(dtype, 3),)}
    return Spec(
        name="x", program=lambda tf, x: x, reference=np.positive, recipes=recipes, ops="Abs", dtypes=dtypes, **fields
    )


@pytest.mark.parametrize(
    ("dtypes", "others"),
    [
        (("float32", "float64"), ("float64",)),
        (("bfloat16", "float16"), ("float16",)),
        (("int8", "uint8", "int32", "bool"), ("int8", "uint8")),
        (("complex64", "complex128", "float64"), ("complex128",)),
        (("float8_e5m2", "float8_e4m3fn", "float32"), ()),
    ],
)
def test_one_dtype_of_each_kind_stands_for_the_others(dtypes, others):
    assert stood_for(spec(*dtypes)) == others


def test_dtypes_that_are_swept_stand_for_themselves():
    swept = spec("float16", "bfloat16", "float32", "float64", elementwise=True, every_input=True)
    assert stood_for(swept) == ("float64",)


def test_ops_have_their_other_dtypes_in_the_full_tier():
    tiers = {item.dtype: item.tier for item in CATALOG.items if item.spec.name == "add"}
    assert tiers == {"float16": "full", "bfloat16": "full", "float32": "default", "float64": "full"}
    assert {item.id for item in CATALOG.select(ops=["add"]) if item.spec.name == "add"} == {"add-float32"}


def test_an_unknown_dtype_is_refused():
    with pytest.raises(ValueError, match="dtype 'float46'"):
        spec("float32", full_dtypes=("float46",))
