"""Annex G: the promises of complex numbers with infinite and NaN parts are those of C99, annex G.6."""

import numpy as np
import pytest

from tf_opdiff.harness.judge.differences.compare import compare
from tf_opdiff.harness.judge.planted_faults.mutation import truth
from tf_opdiff.harness.judge.promises.expectation import expectation
from tf_opdiff.harness.spec.catalog import Catalog
from tf_opdiff.harness.spec.spec import Case

SPECS = {n: s for n, s in Catalog.load("tf_opdiff.suites.ops").specs.items() if n.endswith("-complex-special")}
#: Those of functions of one number that promise numbers with an infinite or a NaN part.
UNARY = sorted(name for name, spec in SPECS.items() if Case(spec, "complex64", "special").inputs()[0].size == 67)
INF, NAN = float("inf"), float("nan")
#: Rows of the tables of annex G.6: function, argument, result; "±" in place of a sign that is open.
TABLE = [
    ("acos", (-INF, INF), (3 * np.pi / 4, -INF), ""),
    ("acos", (NAN, INF), (NAN, -INF), ""),
    ("acosh", (-INF, 1.0), (INF, np.pi), ""),
    ("asinh", (INF, INF), (INF, np.pi / 4), ""),
    ("asinh", (NAN, INF), (INF, NAN), "real"),
    ("atanh", (INF, 1.0), (0.0, np.pi / 2), ""),
    ("cosh", (0.0, INF), (NAN, 0.0), "imag"),
    ("exp", (-INF, INF), (0.0, 0.0), "both"),
    ("exp", (INF, 0.0), (INF, 0.0), ""),
    ("exp", (NAN, 0.0), (NAN, 0.0), ""),
    ("log", (-INF, 1.0), (INF, np.pi), ""),
    ("log", (0.0, NAN), (NAN, NAN), ""),
    ("log", (NAN, INF), (INF, NAN), ""),
    ("sinh", (INF, INF), (INF, NAN), "real"),
    ("sqrt", (-INF, -1.0), (0.0, -INF), ""),
    ("sqrt", (1.0, INF), (INF, INF), ""),
    ("sqrt", (-INF, NAN), (NAN, INF), "imag"),
    ("tanh", (INF, INF), (1.0, 0.0), "imag"),
]


def judged(name, argument, result):
    """The kinds by which a result at one argument breaks the promise; all other elements keep it."""
    case = Case(SPECS[f"{name}-complex-special"], "complex64", "special")
    (z,) = case.inputs()
    at = next(i for i, v in enumerate(z) if same(v.real, argument[0]) and same(v.imag, argument[1]))
    with np.errstate(all="ignore"):
        want = expectation(case, (z,), None).wants["output[0]"].in_mode("eager")
        value = truth(want).value.copy()
        value.real[at], value.imag[at] = result
        return compare(truth(want).__class__("value", value), want, "output[0]").kinds


def same(a, b):
    return bool(np.isnan(a) and np.isnan(b)) or bool(a == b and np.signbit(a) == np.signbit(b))


@pytest.mark.parametrize(("name", "argument", "result", "open_parts"), TABLE)
def test_a_row_of_the_table_is_promised_with_its_signs(name, argument, result, open_parts):
    real, imag = result
    assert not judged(name, argument, (real, imag))
    for turned, parts in (((-real, imag), "real"), ((real, -imag), "imag")):
        changes = not np.isnan(real if parts == "real" else imag)
        assert bool(judged(name, argument, turned)) == (changes and open_parts not in (parts, "both"))


@pytest.mark.parametrize("name", UNARY)
def test_a_special_spec_meets_every_special_part_beside_every_part(name):
    (z,) = Case(SPECS[name], "complex64", "special").inputs()
    assert not np.isfinite(z).any()
    assert len({np.array(v).tobytes() for v in z}) == 57


@pytest.mark.parametrize("name", ["log", "sqrt", "exp"])
def test_a_number_in_place_of_nan_is_wrong(name):
    assert judged(name, (1.0, NAN), (0.5, NAN)) == ("nan",)


@pytest.mark.parametrize("name", ["div", "mul"])
def test_nan_is_right_where_annex_g_recovers_an_infinity_or_a_zero_and_wrong_for_finite_numbers(name):
    case = Case(SPECS[f"{name}-complex-special"], "complex64", "special")
    x, y = case.inputs()
    with np.errstate(all="ignore"):
        want = expectation(case, (x, y), None).wants["output[0]"]
        right = truth(want).value
        finite = np.isfinite(x) & np.isfinite(y) & (y != 0) & np.isfinite(want.value.astype("complex64"))
        infinite = np.isinf(x) & np.isfinite(y) & (y != 0) & np.isinf(right)
        assert finite.sum() > 1000
        assert infinite.sum() > 100
        for where, kinds in ((finite, ("nan",)), (infinite, ())):
            value = np.where(where, np.complex64(complex(NAN, NAN)), right)
            assert compare(truth(want).__class__("value", value), want, "output[0]").kinds == kinds
