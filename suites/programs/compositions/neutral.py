"""Neutral and absorbing constants: x + 0, x × 1, x × 0, 0 - x, 0 / x, x^0, minimum and maximum with infinities.

Grappler removes them in `ConstantFolding::SimplifyArithmeticOperations`, XLA in the handlers of
`AlgebraicSimplifierVisitor`. A constant -0 stands in a list, for eager mode shares one tensor between the Python
numbers 0.0 and -0.0.
"""

from tf_opdiff.suites.forms.programs.composition import composition

_SUMS = (
    *("x + 0.0", "0.0 + x", "x + [-0.0]", "[-0.0] + x", "x - 0.0", "x - [-0.0]", "0.0 - x", "[-0.0] - x"),
    *("x + tf.zeros_like(x)", "x - tf.zeros_like(x)", "tf.zeros_like(x) - x", "tf.add_n([x, tf.zeros_like(x)])"),
    *("x + tf.zeros([2, 1, 1])", "x + inf", "x - inf", "inf - x", "-inf - x"),
    *("0.0 - (0.0 - x)", "-(0.0 - x)", "(0.0 - x) + y", "y - (0.0 - x)", "(x + 0.0) + y", "(x - 0.0) - (y + 0.0)"),
)
_PRODUCTS = (
    *("x * 1.0", "1.0 * x", "x * 0.0", "0.0 * x", "x * [-0.0]", "x * -1.0", "-1.0 * x", "x * inf", "-inf * x"),
    *("x * tf.ones_like(x)", "x * tf.zeros_like(x)", "x * tf.ones([2, 1, 1])", "x * tf.zeros([2, 1, 1])"),
    *("(x * 0.0) + y", "(x * 0.0) * y", "(x * 0.0) + 1.0", "(x + 0.0) * 1.0", "-(x * -1.0)", "(x * -1.0) * -1.0"),
    *("tf.math.multiply_no_nan(x, 0.0)", "tf.math.multiply_no_nan(x, 1.0)", "tf.reduce_max(x * 0.0, 1)"),
    *("tf.matmul(x, tf.zeros_like(x))", "tf.matmul(tf.zeros_like(x), x)"),
    ("tf.stack([x * 0.0, x * -0.0])", "tf.stack([x * 0.0, x * [-0.0]])"),
)
_QUOTIENTS = (
    *("x / 1.0", "x / -1.0", "0.0 / x", "[-0.0] / x", "x / 0.0", "x / [-0.0]", "x / inf", "inf / x", "-inf / x"),
    *("x / tf.ones_like(x)", "tf.zeros_like(x) / x", "x / tf.zeros_like(x)", "(x - 0.0) / 1.0", "(0.0 / x) * y"),
    *("tf.math.divide_no_nan(x, 1.0)", "tf.math.divide_no_nan(x, 0.0)", "tf.math.divide_no_nan(0.0 * x, y)"),
    *("(x / inf) * inf", "1.0 / (1.0 / x)", "-1.0 / x", "1.0 / x"),
)
_OTHERS = (
    *("tf.maximum(x, -inf)", "tf.maximum(-inf, x)", "tf.maximum(x, inf)", "tf.minimum(x, inf)", "tf.minimum(x, -inf)"),
    *("tf.minimum(tf.maximum(x, -inf), inf)", "tf.clip_by_value(x, 1.0, 1.0)", "tf.clip_by_value(x, -1.0, 2.0)"),
    *("tf.maximum(tf.maximum(x, 1.0), 2.0)", "tf.minimum(tf.maximum(x, 1.0), -1.0)", "tf.maximum(x, 3e38 * 2.0)"),
    *("tf.pow(x, 0.0)", "tf.pow(x, [-0.0])", "tf.pow(x, 1.0)", "tf.pow(1.0, x)", "tf.pow(tf.ones_like(x), y)"),
    *("tf.pow(0.0, x)", "tf.logical_and(x < y, True)", "tf.logical_and(x < y, False)", "tf.logical_or(x < y, False)"),
    *("tf.logical_or(True, x < y)", "tf.where(True, x, y)", "tf.where([False], x, y)", "tf.where(x < y, x, x)"),
    *("tf.where(tf.logical_not(x < y), x, y)", "tf.where(x < y, True, False)", "tf.where(x < y, 1.0, 1.0) * x"),
)

SPECS = (
    composition("compose-neutral-sum", _SUMS, built="AddV2;Sub;AddN"),
    composition("compose-neutral-product", _PRODUCTS, built="Mul;MulNoNan"),
    composition("compose-neutral-quotient", _QUOTIENTS, built="RealDiv;DivNoNan"),
    composition("compose-neutral-other", _OTHERS, built="Maximum;Minimum;Pow;LogicalAnd;SelectV2"),
)
