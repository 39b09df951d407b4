"""Chains of casts: double rounding, casts there and back, and ops between them.

Grappler removes casts in `RemoveRedundantBitcastStage`, `RemoveRedundantCastStage` and
`ReorderCastLikeAndValuePreserving`; XLA in `AlgebraicSimplifierVisitor::HandleConvert` and
`SimplifyFPConversions`.
"""

from tf_opdiff.suites.forms.programs.composition import composition

_FLOAT32 = (
    *(f"tf.cast(tf.cast(x, tf.{t}), tf.float32)" for t in ("float16", "bfloat16", "float64", "float32")),
    *("tf.cast(tf.cast(tf.cast(x, tf.bfloat16), tf.float16), tf.float32)", "tf.cast(x, tf.float32)"),
    *(
        "tf.cast(tf.cast(tf.cast(x, tf.float16), tf.bfloat16), tf.float32)",
        "tf.cast(tf.cast(x, tf.float16), tf.bfloat16)",
    ),
    *("tf.cast(tf.cast(x, tf.float64) * 0.1, tf.float32)", "tf.cast(tf.cast(x, tf.float64) + 1e-9, tf.float32)"),
    *(
        "tf.cast(tf.cast(tf.cast(x, tf.float64) * 0.1, tf.float32), tf.float16)",
        "tf.cast(-tf.cast(x, tf.float16), tf.float32)",
    ),
    *("tf.cast(tf.cast(x, tf.float16) + 1.0, tf.float32)", "tf.cast(tf.cast(x, tf.bfloat16) * 3.0, tf.float32)"),
    *("tf.cast(tf.cast(x, tf.bfloat16) + tf.cast(y, tf.bfloat16), tf.float32)", "tf.cast(x < y, tf.float32)"),
    *("tf.cast(tf.cast(x, tf.bool), tf.float32)", "tf.cast(tf.cast(x < y, tf.float32), tf.bool)"),
    *("tf.cast(tf.cast(x < y, tf.int32), tf.bool)", "tf.cast(x < y, tf.float32) * x", "tf.where(x < y, x, 0.0) * 1.0"),
    *("tf.bitcast(tf.bitcast(x, tf.int32), tf.float32)", "tf.cast(tf.cast(x + y, tf.bfloat16), tf.float32)"),
    *(
        "tf.bitcast(tf.bitcast(tf.bitcast(x, tf.uint32), tf.int32), tf.float32)",
        "tf.cast(tf.cast(x, tf.float16), tf.float16)",
    ),
    *("tf.cast(tf.transpose(tf.cast(x, tf.float16)), tf.float32)", "tf.transpose(tf.cast(x, tf.float16))"),
    *(
        "tf.cast(tf.cast(tf.where(x < y, 2.7, -2.7), tf.int32), tf.float32)",
        "tf.cast(tf.sqrt(tf.cast(x, tf.float64)), tf.float32)",
    ),
)
_FLOAT16 = (
    *("tf.cast(tf.cast(x, tf.float32), tf.float16)", "tf.cast(tf.cast(x, tf.float32) * 3.0, tf.float16)"),
    *("tf.cast(tf.cast(x, tf.float32) + tf.cast(y, tf.float32), tf.float16)", "x * 3.0 + y", "(x + 0.1) + 0.2"),
    *(
        "(x * 0.1) * 10.0",
        "(x / 3.0) * 3.0",
        "x / 7.0",
        "x + 0.0",
        "x * 0.0",
        "0.0 - x",
        "x - x",
        "x / x",
        "(x + y) - x",
    ),
    *(
        "tf.sqrt(tf.square(x))",
        "tf.square(tf.sqrt(x))",
        "tf.pow(x, 2.0)",
        "tf.pow(x, 0.5)",
        "x * y + x",
        "x * y - x * y",
    ),
    *("(x * 100.0) * 100.0", "(x * 1000.0) / 1000.0", "(x + 60000.0) - 60000.0", "x * 0.5 + y * 0.5", "x * x * x"),
    *("tf.add_n([x, y, x])", "(x + 1024.0) - 1024.0", "-(-x)", "tf.logical_not(x < y)", "tf.maximum(x, x)"),
)
_INT32 = (
    *("tf.cast(tf.cast(x, tf.float32), tf.int64)[:5, :5]", "tf.cast(tf.cast(x, tf.float64), tf.int32)"),
    *(
        "tf.cast(tf.cast(x, tf.int8), tf.int32)",
        "tf.cast(tf.cast(x, tf.int16), tf.int8)",
        "tf.cast(tf.cast(x, tf.int64), tf.int32)",
    ),
    *(
        "tf.cast(tf.cast(x, tf.uint8), tf.int32)",
        "tf.cast(tf.cast(x, tf.bool), tf.int32)",
        "tf.cast(tf.cast(x, tf.int8), tf.int64)",
    ),
    *("tf.cast(tf.cast(x, tf.int64) * 3, tf.int32)", "tf.bitcast(tf.bitcast(x, tf.float32), tf.int32)"),
    *(
        "tf.cast(tf.cast(x, tf.uint32), tf.int64)",
        "tf.cast(tf.cast(x, tf.int64) + 1, tf.int32) - 1",
        "tf.cast(x, tf.float32) * 0.5",
    ),
    *("tf.cast(x, tf.float32) - tf.cast(y, tf.float32)", "tf.cast(tf.cast(x, tf.bfloat16), tf.float32)"),
)

SPECS = (
    composition("compose-casts", _FLOAT32, built="Cast;Bitcast"),
    composition("compose-casts-float16", _FLOAT16, dtype="float16", built="Cast;Mul;AddV2", tier="full"),
    composition("compose-casts-bfloat16", _FLOAT16, dtype="bfloat16", built="Cast;Mul;AddV2", tier="full"),
    composition("compose-casts-int32", _INT32, dtype="int32", built="Cast;Bitcast"),
)
