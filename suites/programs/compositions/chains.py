"""Chains of constants that can be merged, sums that cancel, and common factors that can be hoisted.

Grappler merges constants in `ConstantFolding::ConstantPushDown` and `PartialAssocOpConstFolding`, and hoists factors in
`HoistCommonFactorOutOfAggregation`; XLA does so in `AlgebraicSimplifierVisitor::HandleAdd`, `HandleSubtract`,
`HandleMultiply` and `HandleDivide`.
"""

from tf_opdiff.suites.forms.programs.composition import composition

_TERMS = (("0.1", "0.2"), ("1e30", "1e30"), ("3e38", "3e38"))
_FACTORS = (("0.1", "10.0"), ("3.0", "3.0"), ("1e30", "1e30"), ("1e-30", "1e30"), ("1e30", "1e-30"))
_SUMS = (
    *(f"(x {one} {c}) {other} {d}" for one in "+-" for other in "+-" for c, d in _TERMS),
    *("(x + 12582912.0) - 12582912.0", "(x + 8388608.0) - 8388608.0", "0.1 + (x + 0.2)", "2.0 - (x + 1.0)"),
    *("2.0 - (3.0 - x)", "(3.0 - x) - 1.0", "(3.0 - x) + 1.0", "(x + 0.1) + (y + 0.2)", "(x + 0.1) - (y + 0.1)"),
    *("(x + 1e30) + (y - 1e30)", "(x + 0.1) + y", "x + (y + 0.1)", "((x + 0.1) + 0.2) + 0.3"),
    *("tf.add_n([x, tf.ones_like(x), tf.ones_like(x)])", "tf.nn.bias_add(x, [0.1] * 15) + [0.2] * 15"),
)
_PRODUCTS = (
    *(f"(x {one} {c}) {other} {d}" for one in "*/" for other in "*/" for c, d in _FACTORS),
    *("0.1 * (x * 3.0)", "(x * 0.1) * (y * 3.0)", "(x * 3.0) * y", "x * (y * 3.0)", "3.0 / (x * 7.0)"),
    *("(3.0 / x) * 7.0", "(3.0 / x) / 7.0", "3.0 / (7.0 / x)", "((x * 3.0) * 5.0) * 7.0", "-(x * 3.0)", "-x * 3.0"),
)
_MIXED = (
    *(f"(x {one} 3.0) {other} 0.1" for one in "+-" for other in "*/"),
    *(f"(x {one} 3.0) {other} 0.1" for one in "*/" for other in "+-"),
    *("(x * 3.0) + (x * 5.0)", "(x * 3.0) - (x * 2.0)", "(x * y) + (x * 3.0)", "x * (y + 1.0)", "(x + y) * 3.0"),
    *("x + x * 3.0", "x * 3.0 - x", "(x * 0.5) + (y * 0.5)", "(x + y) * 0.5", "(x - y) / 2.0"),
)
_CANCELLED = (
    *("(x + y) - x", "(x + y) - y", "(x - y) + y", "x - (x - y)", "x - (x + y)", "y + (x - y)", "-x + (x + y)"),
    *("(x * y) / y", "(x * y) / x", "(x / y) * y", "y * (x / y)", "x * (1.0 / y)", "(x * y) * (1.0 / y)"),
    *("x * y + x * z", "x * y - x * z", "x / y + z / y", "x / y - z / y", "x * y + z * y", "x * y + x", "x * y - x"),
    *("tf.add_n([x * y, x * z])", "(x + y) + (z - y)", "tf.add_n([x, y, z])", "(x + y) + z", "x + (y + z)"),
    *("tf.math.squared_difference(x, y)", "tf.square(x - y)", "(x - y) * (x - y)", "(x + y) * (x - y)"),
    *("x * x - y * y", "tf.square(x) - tf.square(y)", "x * y + z", "x * y - z", "z - x * y"),
)

SPECS = (
    composition("compose-chains-sum", _SUMS, built="AddV2;Sub;AddN;BiasAdd"),
    composition("compose-chains-product", _PRODUCTS, built="Mul;RealDiv"),
    composition("compose-chains-mixed", _MIXED, built="Mul;RealDiv;AddV2;Sub"),
    composition("compose-cancelled", _CANCELLED, inputs=3, built="Mul;RealDiv;AddV2;Sub;AddN;SquaredDifference"),
)
