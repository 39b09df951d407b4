"""Integers, which wrap around: neutral and absorbing constants, powers of two, shifts, the same tensor twice.

Grappler rewrites them in `ConstantFolding::SimplifyArithmeticOperations`; XLA in `AlgebraicSimplifierVisitor`:
`HandleAnd`, `HandleOr`, `HandleAbs`, `HandleMultiply`, `HandleDivide` and `HandleRemainder`; and LLVM after it.
"""

from tf_opdiff.suites.forms.programs.composition import composition

_ARITHMETIC = (
    *(
        "x + 0",
        "0 + x",
        "x - 0",
        "0 - x",
        "x * 1",
        "x * 0",
        "x * -1",
        "x // 1",
        "x // -1",
        "x // 2",
        "x // -2",
        "x // 7",
    ),
    *("x % 1", "x % 2", "x % -2", "x % 8", "x % 7", "(x * 2) // 2", "(x // 2) * 2", "(x // 8) * 8 + x % 8"),
    *("(x * 8) // 8", "x * 8", "x * -8", "(x * 3) * 5", "(x + 100) + 100", "(x + 3) - 3", "(x - 3) + 3", "(x + y) - y"),
    *("x - x", "x + x", "x * x", "tf.pow(x, 0)", "tf.pow(x, 1)", "tf.pow(x, 2)", "tf.pow(x, 3)", "-(-x)", "-x + x"),
    *(
        "tf.abs(x)",
        "tf.abs(-x)",
        "tf.abs(tf.abs(x))",
        "tf.abs(x * x)",
        "tf.sign(x) * tf.abs(x)",
        "x * y + x * y",
        "x * y - y * x",
    ),
    *("tf.square(x) - tf.square(y)", "tf.add_n([x, x, y])", "(x // 3) // 5", "(x % 8) % 4"),
    *(
        "tf.maximum(x, x)",
        "tf.maximum(x, -x)",
        "tf.minimum(tf.maximum(x, 0), 7)",
        "tf.equal(x, x)",
        "x < x",
        "tf.logical_not(x < y)",
    ),
    *(
        "x + 1 > x",
        "x - 1 < x",
        "-x < y",
        "x * 2 < y * 2",
        "tf.equal(x - y, 0)",
        "tf.reduce_sum(x * 0, 0)",
        "tf.reduce_sum(x * 2, 0)",
    ),
    *(
        "tf.reduce_sum(-x, 0)",
        "tf.reduce_prod(x * -1, 0)",
        "tf.reduce_max(-x, 0)",
        "tf.reduce_sum(tf.reduce_sum(x, 0), 0)",
    ),
)
_BITS = (
    *(f"tf.bitwise.left_shift(x, tf.ones_like(x) * {n})" for n in (0, 1, 3)),
    *(f"tf.bitwise.right_shift(x, tf.ones_like(x) * {n})" for n in (0, 1, 3)),
    *(
        "tf.bitwise.right_shift(tf.bitwise.left_shift(x, tf.ones_like(x) * 4), tf.ones_like(x) * 4)",
        "tf.bitwise.invert(x)",
    ),
    *(
        "tf.bitwise.left_shift(tf.bitwise.right_shift(x, tf.ones_like(x) * 4), tf.ones_like(x) * 4)",
        "tf.bitwise.invert(x) + 1",
    ),
    *("tf.bitwise.bitwise_and(x, x)", "tf.bitwise.bitwise_or(x, x)", "tf.bitwise.bitwise_xor(x, x)"),
    *(f"tf.bitwise.bitwise_{op}(x, {c})" for op in ("and", "or", "xor") for c in ("0", "-1", "7")),
    *("tf.bitwise.bitwise_and(x, tf.bitwise.invert(x))", "tf.bitwise.bitwise_or(x, tf.bitwise.invert(x))"),
    *("tf.bitwise.bitwise_xor(tf.bitwise.bitwise_xor(x, y), y)", "tf.bitwise.invert(tf.bitwise.invert(x))"),
    *(
        "tf.bitwise.bitwise_and(tf.bitwise.bitwise_and(x, 12), 10)",
        "tf.bitwise.bitwise_or(tf.bitwise.bitwise_or(x, 1), 2)",
    ),
    *("x // 4 * 4", "tf.bitwise.bitwise_and(x, -4)", "tf.bitwise.bitwise_and(x, 3)", "x % 4"),
)

#: In a table of its own: in a graph its failure is the failure of all programs of the table.
_SQUARE_OF_DIFFERENCE = ("tf.square(x - y)",)

SPECS = (
    composition("compose-int32", _ARITHMETIC, dtype="int32", built="Mul;FloorDiv;FloorMod;Pow"),
    composition("compose-int8", _ARITHMETIC, dtype="int8", built="Mul;FloorDiv;FloorMod;Pow", tier="full"),
    composition("compose-int8-square", _SQUARE_OF_DIFFERENCE, dtype="int8", built="Square;Sub"),
    composition("compose-int32-square", _SQUARE_OF_DIFFERENCE, dtype="int32", built="Square;Sub"),
    composition("compose-int64", _ARITHMETIC, dtype="int64", built="Mul;FloorDiv;FloorMod;Pow", tier="full"),
    composition("compose-bits-int32", _BITS, dtype="int32", built="LeftShift;RightShift;BitwiseAnd"),
    composition("compose-bits-int8", _BITS, dtype="int8", built="LeftShift;RightShift;BitwiseAnd", tier="full"),
)
