"""An id names the same inputs on every processor: recipes use no function whose last bit depends on the processor."""

import ast

import ml_dtypes
import numpy as np
import pytest
from mpmath import iv

from tf_opdiff.harness.paths import ROOT
from tf_opdiff.harness.spec.inputs.elementary import on_unit_circle, powers

#: NumPy's functions that it computes by another formula where the processor has AVX-512.
INEXACT = {
    "exp",
    "exp2",
    "expm1",
    "log",
    "log2",
    "log10",
    "log1p",
    "power",
    "sin",
    "cos",
    "tan",
    "cbrt",
    "tanh",
    "logspace",
    "geomspace",
}
FILES = sorted([*ROOT.glob("suites/**/*.py"), *ROOT.glob("harness/spec/*.py")])


def is_inexact(node):
    """Whether a part of a recipe calls such a function, or raises a number to a fraction."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return isinstance(node.func.value, ast.Name) and node.func.value.id == "np" and node.func.attr in INEXACT
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
        return any(
            isinstance(part, ast.Attribute) and part.attr in ("uniform", "linspace") for part in ast.walk(node.right)
        )
    return False


def inexact(text):
    """The lines of a file on which a recipe, a function that takes `draw`, does so."""
    recipes = [n for n in ast.walk(ast.parse(text)) if isinstance(n, (ast.FunctionDef, ast.Lambda))]
    drawing = [r for r in recipes if r.args.args and r.args.args[0].arg == "draw"]
    return sorted({part.lineno for recipe in drawing for part in ast.walk(recipe) if is_inexact(part)})


def test_no_recipe_calls_a_function_that_depends_on_the_processor():
    assert len(FILES) > 300
    found = {str(path.relative_to(ROOT)): lines for path in FILES if (lines := inexact(path.read_text("utf-8")))}
    assert not found, "expected the functions of harness.spec.inputs.elementary"


@pytest.mark.parametrize(
    "text",
    [
        "lambda draw, dtype: 2.0 ** -draw.uniform(4)",
        "def recipe(draw, dtype):\n    x = draw.uniform(4)\n    return np.exp(x)",
    ],
)
def test_such_a_recipe_is_found(text):
    assert inexact(text)


def test_powers_are_the_nearest_numbers():
    exponents = np.linspace(-1000, 1000, 701)
    for base in (2.0, 1.5, float(ml_dtypes.finfo("float32").max)):
        wanted = exponents[np.abs(exponents * np.log2(base)) < 1000]
        iv.prec = 120
        for power, exponent in zip(powers(base, wanted), wanted, strict=True):
            middle = (iv.mpf(base) ** iv.mpf(exponent)).mid
            below, above = np.nextafter(power, 0), np.nextafter(power, np.inf)
            assert abs(power - middle) <= min(abs(below - middle), abs(above - middle))


def test_numbers_on_the_unit_circle_are_the_nearest_ones():
    assert on_unit_circle(np.array([0.0])) == [1]
    angle = np.array([[0.5, -3.0]])
    assert np.abs(on_unit_circle(angle) - np.exp(1j * angle)).max() < 2e-16
    assert on_unit_circle(angle).shape == (1, 2)
