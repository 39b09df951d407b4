"""Constant exponents and divisors, roots of squares, and quotients by roots.

Grappler rewrites them in `ConvertPowStage` and `SqrtDivToRsqrtMulStage` of its arithmetic optimiser, and in
`ConstantFolding::ReduceDivToReciprocalMul`; XLA in `AlgebraicSimplifierVisitor`: `HandlePower`, `HandleDivide`,
`HandleSqrt` and `HandleRsqrt`.
"""

from tf_opdiff.suites.forms.programs.composition import composition

_EXPONENTS = ("2.0", "3.0", "4.0", "5.0", "0.5", "0.25", "1.5", "-0.5", "-1.0", "-2.0", "-3.0", "1.0 / 3.0")
_POWERS = (
    *(f"tf.pow(x, {exponent})" for exponent in _EXPONENTS),
    *("tf.pow(2.0, x)", "tf.pow(0.5, x)", "tf.pow(10.0, x)", "tf.pow(-1.0, x)", "tf.pow(tf.exp(x), 2.0)"),
    *("tf.pow(tf.pow(x, 2.0), 0.5)", "tf.pow(tf.pow(x, 0.5), 2.0)", "tf.pow(tf.pow(x, 3.0), 2.0)"),
    *("tf.pow(tf.sqrt(x), 2.0)", "x * tf.pow(x, 2.0)", "tf.pow(x, 2.0) * tf.pow(x, 3.0)", "tf.pow(-x, 2.0)"),
    *("tf.pow(tf.abs(x), 2.0)", "tf.pow(tf.math.rsqrt(x), -2.0)", "tf.pow(x, 2.0) + tf.pow(y, 2.0)"),
)
_ROOTS = (
    *("tf.sqrt(tf.square(x))", "tf.square(tf.sqrt(x))", "tf.sqrt(x * x)", "tf.sqrt(x) * tf.sqrt(x)"),
    *("tf.sqrt(tf.pow(x, 2.0))", "tf.sqrt(x) * tf.sqrt(y)", "tf.sqrt(x * y * y)", "tf.sqrt(1.0 / x)"),
    *("1.0 / tf.sqrt(x)", "x / tf.sqrt(x)", "x / tf.sqrt(y)", "tf.sqrt(x) / x", "tf.sqrt(x) / tf.sqrt(y)"),
    *("tf.math.reciprocal(tf.sqrt(x))", "tf.sqrt(tf.math.reciprocal(x))", "1.0 / tf.math.rsqrt(x)"),
    *("x * tf.math.rsqrt(y)", "x / tf.math.rsqrt(y)", "x * tf.math.rsqrt(x)", "tf.math.rsqrt(tf.square(x))"),
    *("tf.square(tf.math.rsqrt(x))", "tf.math.rsqrt(tf.math.reciprocal(x))", "tf.math.rsqrt(1.0 / x)"),
    *("tf.square(tf.abs(x))", "tf.square(-x)", "tf.abs(x * x)", "tf.abs(tf.sqrt(x))", "tf.abs(tf.square(x))"),
)
_DIVISORS = ("2.0", "256.0", "3.0", "7.0", "10.0", "0.1", "1e38", "-3e38", "1e-38")
_QUOTIENTS = (
    *(f"x / {divisor}" for divisor in _DIVISORS),
    *(
        "x / tf.exp(y)",
        "x / tf.pow(y, 2.0)",
        "x / tf.pow(y, -1.0)",
        "(x / y) / 3.0",
        "x / (y / 3.0)",
        "3.0 / (x / 3.0)",
    ),
    *("(x / 3.0) / y", "x / (3.0 / y)", "(x / y) * y", "(x * y) / y", "(x / y) / (y / x)", "x / (y * 3.0)"),
    *("tf.math.reciprocal(x) * y", "x * tf.math.reciprocal(y)", "x / tf.abs(y)", "x / (-y)", "tf.truediv(x, 3.0)"),
)

SPECS = (
    composition("compose-powers", _POWERS, built="Pow"),
    composition("compose-roots", _ROOTS, built="Sqrt;Rsqrt;Square"),
    composition("compose-quotients", _QUOTIENTS, built="RealDiv;Reciprocal"),
)
