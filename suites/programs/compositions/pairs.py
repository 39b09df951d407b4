"""Inverse pairs, the same tensor twice, negations, and comparisons that are negated.

Grappler removes them in `RemoveInvolution`, `RemoveIdempotentStage`, `RemoveNegationStage`, `RemoveLogicalNotStage`,
`SimplifyAggregation`, `ReplaceMulWithSquare`, `ConvertLog1pStage`, `ConvertExpm1Stage`, `LogSoftmaxStage` and
`HoistCWiseUnaryChainsStage`; XLA in `AlgebraicSimplifierVisitor`: `HandleLog`, `HandleNegate`, `HandleNot`,
`HandleCompare`, `HandleMaximum`, `HandleSubtract`, `HandleDivide` and others.
"""

from tf_opdiff.suites.forms.programs.composition import composition

_INVERSES = (
    *("tf.exp(tf.math.log(x))", "tf.math.log(tf.exp(x))", "tf.math.log(tf.pow(x, 2.0))", "tf.math.log(tf.sqrt(x))"),
    *("tf.math.log(1.0 / x)", "tf.math.log(x * x)", "tf.math.log(1.0 + x)", "tf.math.log(x + 1.0)", "tf.exp(x) - 1.0"),
    *("tf.math.log1p(x - 1.0)", "1.0 + tf.math.expm1(x)", "tf.math.expm1(tf.math.log1p(x))", "tf.exp(-x)"),
    *("tf.math.log1p(tf.math.expm1(x))", "tf.exp(x) * tf.exp(y)", "tf.exp(x) / tf.exp(y)", "1.0 / tf.exp(x)"),
    *("tf.math.log(tf.nn.softmax(x))", "tf.exp(tf.nn.log_softmax(x))", "tf.math.log(tf.sigmoid(x))"),
    *("1.0 / (1.0 + tf.exp(-x))", "x * tf.sigmoid(x)", "1.0 - tf.sigmoid(x)", "tf.math.log(1.0 + tf.exp(x))"),
    *("tf.sin(x) / tf.cos(x)", "tf.sinh(x) / tf.cosh(x)", "tf.tanh(tf.math.softplus(x)) * x", "tf.cos(-x)"),
    *("tf.sin(-x)", "tf.tanh(-x)", "tf.math.log(tf.exp(x) * 2.0)", "tf.exp(tf.math.log(x) * 2.0)"),
)
_REPEATED = (
    *("x - x", "x / x", "x + x", "x * x", "x * x * x", "x * x * x * x", "tf.add_n([x, x])", "tf.add_n([x, x, x])"),
    *("tf.add_n([x])", "tf.equal(x, x)", "tf.not_equal(x, x)", "x < x", "x <= x", "x > x", "x >= x"),
    *("tf.maximum(x, x)", "tf.minimum(x, x)", "tf.math.divide_no_nan(x, x)", "tf.math.squared_difference(x, x)"),
    *("(x - x) + y", "(x / x) * y", "(x - x) * y", "tf.where(tf.equal(x, x), x, y)", "tf.where(x < x, x, y)"),
    *("tf.logical_and(x < y, x < y)", "tf.logical_or(x < y, x >= y)", "tf.logical_and(x < y, x >= y)"),
    *("tf.pow(x, 0.5) * tf.pow(x, 0.5)", "(x + x) - x", "(x + x) / 2.0", "x * 2.0 - x", "(x + y) - (x + y)"),
    *("tf.math.divide_no_nan(x - x, y)", "tf.maximum(tf.minimum(x, y), x)", "tf.maximum(tf.maximum(x, y), y)"),
)
_NEGATED = (
    *(f"tf.logical_not(x {sign} y)" for sign in ("<", "<=", ">", ">=")),
    *("tf.logical_not(tf.equal(x, y))", "tf.logical_not(tf.not_equal(x, y))", "tf.logical_not(tf.logical_not(x < y))"),
    *("tf.logical_not(tf.logical_or(x < y, x > y))", "tf.logical_and(tf.logical_not(x < y), tf.logical_not(x > y))"),
    *("-x < -y", "-x < 1.0", "x - y < 0.0", "x * -1.0 < 0.0", "tf.equal(x - y, 0.0)", "x + 1.0 < 3.0", "x * 3.0 < 7.0"),
    *("tf.equal(x < y, True)", "tf.not_equal(x < y, False)", "tf.equal(x < y, False)", "x < inf", "x <= inf"),
    *("x >= -inf", "tf.abs(x) < 0.0", "tf.abs(x) >= 0.0", "tf.square(x) >= 0.0", "tf.exp(x) > 0.0"),
    *("tf.math.is_nan(x * 0.0)", "tf.math.is_inf(x / 0.0)", "tf.math.is_nan(x - x)", "tf.math.is_inf(-x)"),
)
_SIGNS = (
    *("-(-x)", "-(-(-x))", "-x + y", "x + -y", "x - -y", "-x - y", "-x - -y", "-x * -y", "-x / -y", "x * -y"),
    *("-(x - y)", "-(x + y)", "-(x * y)", "-(x / y)", "tf.abs(tf.abs(x))", "tf.abs(-x)", "-tf.abs(-x)"),
    *("tf.abs(x * -2.0)", "tf.sign(tf.abs(x))", "tf.abs(x) * tf.sign(x)", "tf.sign(-x)", "tf.sign(tf.sign(x))"),
    *("tf.math.reciprocal(tf.math.reciprocal(x))", "tf.maximum(-x, -y)", "-tf.maximum(-x, y - y)"),
    *("tf.floor(tf.floor(x))", "tf.math.ceil(tf.floor(x))", "tf.round(tf.floor(x))", "-tf.floor(-x)"),
    *(
        "tf.nn.relu(tf.nn.relu(x))",
        "tf.nn.relu(x) * 0.0",
        "tf.nn.relu6(tf.nn.relu(x))",
        "tf.minimum(tf.nn.relu(x), 6.0)",
    ),
    *("tf.maximum(x, 0.0)", "tf.maximum(0.0, tf.minimum(6.0, x))", "tf.nn.relu(x) - tf.nn.relu(-x)"),
)

SPECS = (
    composition("compose-inverses", _INVERSES, built="Exp;Log;Log1p;Expm1;Softmax;Sigmoid"),
    composition("compose-repeated", _REPEATED, built="Sub;RealDiv;AddN;Equal;Maximum"),
    composition("compose-negated", _NEGATED, built="LogicalNot;Less;Equal"),
    composition("compose-signs", _SIGNS, built="Neg;Abs;Relu;Floor"),
)
