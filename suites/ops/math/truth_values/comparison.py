"""Comparison: booleans from two arguments, which have no gradient."""

import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import COMPLEX, INTEGERS
from tf_opdiff.suites.derived.sizes import alike
from tf_opdiff.suites.forms.aspects import incompatible
from tf_opdiff.suites.forms.elementwise.comparison import SUBNORMAL, compared, of_equality, often_equal
from tf_opdiff.suites.forms.of_xla import of_xla
from tf_opdiff.suites.forms.op import op, with_sizes
from tf_opdiff.suites.forms.part import calling, part
from tf_opdiff.suites.forms.recipes.pairs import crossed, shaped


def _near(draw, dtype):
    """Numbers that differ by less than the tolerance, and by more."""
    x = draw.uniform(841, low=-1, high=1).astype(dtype)
    apart = np.resize([0.0, 1e-7, 0.5e-5, 0.9e-5, 1.1e-5, 2e-5, 1.0], 841) * np.where(draw.booleans(841), 1, -1)
    return x, (x + apart).astype(dtype)


def _at_half(draw, dtype):
    """Numbers that differ by the tolerance 0.5, and by its neighbours; NaN, infinities and zeros among them."""
    ends = [np.nextafter(np.array(0.5, dtype), np.array(end, dtype)) for end in (0, 1)]
    apart = np.resize(np.array([0.5, -0.5, *ends, *(-e for e in ends), np.nan, np.inf, -np.inf, 0.0], dtype), 841)
    return apart, np.where(np.arange(841) % 20 < 10, 0.0, np.where(np.isinf(apart), apart, 0)).astype(dtype)


def _close(tolerance):
    """|x - y| < tolerance, an attribute that is a float32; no input is so near to it that rounding matters."""
    return lambda x, y: np.abs(x - y) < np.float32(tolerance)


def _close_numbers(x, y):
    """|x - y| < 1/2; integers are so close if they are equal."""
    return x == y if x.dtype.kind in "iu" else np.abs(x - y) < 0.5


def _allowed(raw, wanted):
    """A part: shapes that cannot be broadcast together, where the attribute allows them: one boolean."""
    return part(
        "-incompatible-allowed",
        program=calling(raw, ("x", "y"), incompatible_shape_error=False),
        reference=lambda x, y: np.array(wanted),
        recipes={"shapes": shaped((2, 3), (4,))},
    )


_WITHIN_HALF = calling("ApproximateEqual", ("x", "y"), tolerance=0.5)

SPECS = (
    *op(
        "approximate-equal",
        "ApproximateEqual",
        part(
            "-default", reference=_close(1e-5), recipes={"near": _near, "edges": crossed}, dtypes=("float32", "float64")
        ),
        with_sizes(
            part(
                "-half",
                positions=True,
                program=_WITHIN_HALF,
                reference=_close(0.5),
                recipes={"plain": often_equal, "tolerance": _at_half},
                dtypes=("float32", "float64"),
            ),
            shapes=alike(2),
        ),
        of_xla(
            ("float16", "bfloat16", *INTEGERS, *COMPLEX),
            program=_WITHIN_HALF,
            reference=_close_numbers,
            recipes={"plain": often_equal},
        ),
    ),
    *op(
        "equal", "Equal", compared, of_equality, SUBNORMAL, incompatible(), _allowed("Equal", False), reference=np.equal
    ),
    *op("greater", "Greater", compared, SUBNORMAL, reference=np.greater),
    *op("greater-equal", "GreaterEqual", compared, SUBNORMAL, reference=np.greater_equal),
    *op("less", "Less", compared, SUBNORMAL, incompatible(), reference=np.less),
    *op("less-equal", "LessEqual", compared, SUBNORMAL, reference=np.less_equal),
    *op("not-equal", "NotEqual", compared, of_equality, SUBNORMAL, _allowed("NotEqual", True), reference=np.not_equal),
)
