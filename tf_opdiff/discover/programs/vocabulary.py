"""Vocabulary: the texts of which programs are drawn, with the dtypes that they take and give.

A row is (operands, result, texts). An operand is `f` a float, `n` a float or an integer, `i` an integer, `b` a boolean;
all `f`, `n` and `i` of a row have one dtype. The result is `=` that dtype, or the name of another one.
"""

from __future__ import annotations

from typing import NamedTuple

FLOATS = ("float32", "float64", "bfloat16", "float16")
INTEGERS = ("int32", "int64", "int8", "uint8", "int16", "uint32")


class Word(NamedTuple):
    """The text of an op in a program, with `{0}`, `{1}` for its operands.

    Attributes:
      text: a Python expression.
      operands: a letter for each operand; see above.
      result: `=` or the name of a dtype.
      sums: whether it adds up many products or elements, so that a change of an operand's last bit can show.
    """

    text: str
    operands: str
    result: str
    sums: bool = False

    def takes(self, dtype: str) -> bool:
        """Whether its numbers may have a dtype."""
        return ("i" if dtype in FLOATS else "f") not in self.operands


_UNARY_FLOAT = (
    *("sqrt", "exp", "math.log", "math.log1p", "math.expm1", "tanh", "sigmoid", "sin", "cos", "tan", "asin", "acos"),
    *("atan", "sinh", "cosh", "asinh", "acosh", "atanh", "math.rsqrt", "math.reciprocal", "math.erf", "math.erfc"),
    *("floor", "math.ceil", "round", "math.rint", "math.lgamma", "math.digamma", "nn.relu", "nn.relu6", "nn.elu"),
    *("nn.selu", "nn.softplus", "nn.softsign", "nn.gelu", "nn.silu", "nn.leaky_relu", "math.reciprocal_no_nan"),
    *("math.log_sigmoid", "math.erfinv", "math.ndtri", "math.bessel_i0e", "math.bessel_i1e"),
)
_UNARY = ("abs", "square", "sign", "identity", "negative")
_BINARY = ("maximum", "minimum", "math.squared_difference", "math.floordiv", "math.floormod")
_BINARY_FLOAT = (
    "pow",
    "atan2",
    "math.divide_no_nan",
    "math.multiply_no_nan",
    "math.xlogy",
    "math.xdivy",
    "math.xlog1py",
)
_AXES = ("0", "-1", "[0, 1]", "-1, keepdims=True")
_CASTS = ("float16", "bfloat16", "float64", "int32", "int8", "bool")
_COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")

#: (operands, result, texts, whether they add up many elements)
_ROWS = (
    ("f", "=", [f"tf.{name}({{0}})" for name in _UNARY_FLOAT], False),
    ("n", "=", [f"tf.{name}({{0}})" for name in _UNARY], False),
    ("nn", "=", [f"tf.{name}({{0}}, {{1}})" for name in _BINARY], False),
    ("ff", "=", [f"tf.{name}({{0}}, {{1}})" for name in _BINARY_FLOAT], False),
    ("nn", "=", [f"({{0}} {sign} {{1}})" for sign in "+-*"] * 3, False),
    ("ff", "=", ["({0} / {1})"] * 3, False),
    ("nn", "bool", [f"({{0}} {sign} {{1}})" for sign in _COMPARISONS], False),
    ("f", "bool", ["tf.math.is_nan({0})", "tf.math.is_inf({0})", "tf.math.is_finite({0})"], False),
    ("bb", "bool", ["tf.logical_and({0}, {1})", "tf.logical_or({0}, {1})", "tf.math.logical_xor({0}, {1})"], False),
    ("b", "bool", ["tf.logical_not({0})", "tf.reduce_all({0}, 0)", "tf.reduce_any({0}, -1)"], False),
    ("bnn", "=", ["tf.where({0}, {1}, {2})"] * 4, False),
    ("nnn", "=", ["tf.clip_by_value({0}, {1}, {2})", "tf.add_n([{0}, {1}, {2}])"], False),
    ("n", "=", [f"tf.reduce_{name}({{0}}, {axis})" for name in ("max", "min") for axis in _AXES], False),
    ("n", "=", [f"tf.reduce_{name}({{0}}, {axis})" for name in ("sum", "prod", "mean") for axis in _AXES], True),
    (
        "f",
        "=",
        ["tf.reduce_logsumexp({0}, -1)", "tf.math.reduce_variance({0}, 0)", "tf.math.reduce_std({0}, -1)"],
        True,
    ),
    ("f", "=", ["tf.nn.softmax({0})", "tf.nn.log_softmax({0})", "tf.nn.l2_normalize({0}, -1)"] * 2, True),
    ("n", "=", ["tf.cumsum({0}, 0)", "tf.cumsum({0}, -1, reverse=True)", "tf.math.cumprod({0}, -1)"], True),
    ("f", "=", ["tf.math.cumulative_logsumexp({0}, -1)"], True),
    ("f", "=", [f"tf.cast(tf.cast({{0}}, tf.{dtype}), tf.float32)" for dtype in _CASTS], False),
    ("n", "int64", ["tf.argmax({0}, -1)", "tf.argmin({0}, 0)"], False),
    ("n", "int32", ["tf.argsort({0}, stable=True)"], False),
    ("n", "=", ["tf.sort({0})", "tf.sort({0}, 0, 'DESCENDING')", "tf.math.top_k({0}, 1)[0]"], False),
    ("ff", "=", ["tf.matmul({0}, {1}, transpose_b=True)", "tf.matmul({0}, {1}, transpose_a=True)"], True),
    ("ff", "=", ["tf.einsum('ij,ij->i', {0}, {1})"], True),
    ("n", "=", ["tf.transpose({0})", "tf.reshape({0}, [-1])", "tf.reverse({0}, [0])", "tf.expand_dims({0}, 0)"], False),
    ("n", "=", ["{0}[:1]", "{0}[..., ::2]", "{0}[::-1]", "tf.roll({0}, 1, 0)", "tf.tile({0}, [2, 1])"], False),
    ("nn", "=", ["tf.concat([{0}, {1}], 0)", "tf.stack([{0}, {1}])"], False),
    ("n", "=", ["tf.pad({0}, [[1, 0], [0, 1]])", "tf.linalg.band_part({0}, 0, -1)"], False),
    ("n", "=", ["tf.stop_gradient({0})", "tf.zeros_like({0})", "tf.ones_like({0})"], False),
    ("i", "=", ["tf.bitwise.invert({0})"], False),
    (
        "ii",
        "=",
        ["tf.bitwise.bitwise_and({0}, {1})", "tf.bitwise.right_shift({0}, tf.clip_by_value({1}, 0, 7))"],
        False,
    ),
    ("ii", "=", ["tf.bitwise.left_shift({0}, tf.clip_by_value({1}, 0, 7))", "tf.truncatemod({0}, {1})"], False),
)
WORDS = tuple(Word(text, operands, result, sums) for operands, result, texts, sums in _ROWS for text in texts)

#: Constants that a program may have in place of a tensor of floats, or of integers.
CONSTANTS = ("0.0", "-0.0", "1.0", "-1.0", "2.0", "0.5", "3.0", "0.1", "1e30", "1e-30", "1e38", "6.0", "inf", "nan")
WHOLE_CONSTANTS = ("0", "1", "2", "3", "7")


class Form(NamedTuple):
    """How a program runs a function `f` of its inputs.

    Attributes:
      text: the lines of its body; `{args}` are the inputs, `{dtype}` is the dtype of a result.
      base: the lines of a program that must give the same results in eager mode; empty if `text` itself must.
      gradient: whether it gives a gradient.
      unknown: whether the sizes of its inputs are unknown when it is traced.
    """

    text: str
    base: str = ""
    gradient: bool = False
    unknown: bool = False


_PLAIN = "return f({args})"
_ROWS_APART = "return tf.concat([f(*row)[None] for row in zip(*map(tf.unstack, [{args}]))], 0)"  # refuses no rows
_GRADIENT = """with tf.GradientTape() as tape:
    tape.watch([{args}])
    result = {call}({args})
return tape.gradient(result, [{args}], unconnected_gradients="zero")"""
FORMS = {
    "plain": Form(_PLAIN),
    "gradient": Form(_GRADIENT.replace("{call}", "f"), gradient=True),
    "unknown shape": Form(_PLAIN, unknown=True),
    "cond": Form("return tf.cond(tf.reduce_any(x == x), lambda: f({args}), lambda: tf.zeros_like(f({args})))"),
    "while": Form(
        "step = lambda i, v: (i + 1, f({args}))\n"
        "return tf.while_loop(lambda i, v: i < 1, step, (0, tf.zeros_like(f({args}))))[1]",
        _PLAIN,
    ),
    "map_fn": Form("return tf.map_fn(lambda row: f(*row), [{args}], fn_output_signature=tf.{dtype})", _ROWS_APART),
    "vectorized_map": Form("return tf.vectorized_map(lambda row: f(*row), [{args}])", _ROWS_APART),
    "recompute_grad": Form(
        _GRADIENT.replace("{call}", "tf.recompute_grad(f)"), _GRADIENT.replace("{call}", "f"), gradient=True
    ),
}
