"""An id names the same numbers on every machine, for ever."""

import hashlib
import os
import subprocess
import sys

import ml_dtypes
import numpy as np
import pytest

from tf_opdiff.harness.paths import ROOT
from tf_opdiff.harness.spec.catalog import Catalog
from tf_opdiff.harness.spec.inputs.recipes import COMPLEX, FLOATS, INTEGERS, ROUNDING, UNARY, Draw, subnormals
from tf_opdiff.harness.spec.spec import Spec


def digest(arrays):
    data = b"".join(f"{a.dtype.name}{a.shape}".encode() + a.tobytes() for a in arrays)
    return hashlib.sha256(data).hexdigest()[:16]


def test_the_stream_is_the_one_that_recordings_were_made_with():
    draw = Draw(12345)
    assert [hex(x) for x in draw.bits(2)] == ["0xa5792c0a0ed6a560", "0xc63666ba8b756514"]
    assert draw.uniform(2).tolist() == [0.5728725278571867, -0.6808066345543036]
    assert draw.integers(4, low=-3, high=4).tolist() == [-1, 1, 3, 0]


@pytest.mark.parametrize(
    ("dtype", "expected"),
    [
        ("float16", "236c24cd784634b1"),
        ("bfloat16", "0cc7e6083c9bb452"),
        ("float32", "f9234967b2bb5271"),
        ("float64", "cb698347cb74e73b"),
        ("int8", "049f299b796096c7"),
        ("int64", "ffee287c47b08c3d"),
        ("uint32", "2fc43959e0692d8d"),
        ("complex64", "652d6976f3ce9555"),
        ("bool", "23d15c2ad3e2ab61"),
    ],
)
def test_a_case_has_the_inputs_that_its_id_has_always_named(dtype, expected):
    spec = Spec(
        name="golden",
        program=len,
        reference=len,
        recipes=ROUNDING if dtype in FLOATS else UNARY,
        ops="",
        dtypes=(dtype,),
    )
    assert digest([a for case in spec.cases() for a in case.inputs()]) == expected


def test_inputs_do_not_depend_on_the_process():
    code = "from tf_opdiff.harness.tests.spec.test_recipes import all_inputs; print(all_inputs())"
    found = set()
    for seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        output = subprocess.run(
            [sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, check=True
        )
        found.add(output.stdout)
    assert len(found) == 1
    assert found.pop().strip()


def all_inputs():
    """A digest of every input of the planted suite."""
    cases = Catalog.load("tf_opdiff.harness.tests.planted_specs.planted").cases.values()
    return digest([a for case in cases for a in case.inputs()])


@pytest.mark.parametrize("dtype", [*FLOATS, *INTEGERS, *COMPLEX, "bool"])
def test_every_recipe_keeps_the_dtype_and_is_the_same_at_every_call(dtype):
    recipes = ROUNDING if dtype in FLOATS else UNARY
    spec = Spec(name="any", program=len, reference=len, recipes=recipes, ops="", dtypes=(dtype,))
    for case in spec.cases():
        (first,), (again,) = case.inputs(), case.inputs()
        assert first.dtype == np.dtype(dtype), case.id
        assert first.tobytes() == again.tobytes(), case.id


@pytest.mark.parametrize("dtype", FLOATS)
def test_subnormals_stand_in_their_own_recipe_only(dtype):
    @np.errstate(invalid="ignore")
    def subnormal(array):
        return (array != 0) & (np.abs(array) < ml_dtypes.finfo(dtype).smallest_normal)

    for name, recipe in ROUNDING.items():
        (array,) = recipe(Draw(1), np.dtype(dtype))
        assert not subnormal(array).any(), name
    (array,) = subnormals(Draw(1), np.dtype(dtype))
    assert subnormal(array).all()


@pytest.mark.parametrize("dtype", FLOATS)
def test_edges_hold_every_class(dtype):
    (array,) = UNARY["edges"](Draw(1), np.dtype(dtype))
    values = array.astype(np.float64)
    assert np.isnan(values).any()
    assert {np.inf, -np.inf, 1.0, -1.0, float(ml_dtypes.finfo(dtype).max)} <= set(values.tolist())
    assert {bool(s) for s in np.signbit(values[values == 0])} == {True, False}
