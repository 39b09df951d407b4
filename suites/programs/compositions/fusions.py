"""Products of matrices, convolutions, sums and cumulative sums of whole numbers, which are exact in any order.

Grappler rewrites them in `FoldMultiplyIntoConv`, `FoldTransposeIntoMatMul`, `FoldConjugateIntoTranspose` and the
remapper's fusions of MatMul, Conv2D, BiasAdd, Relu and Relu6; XLA in `AlgebraicSimplifierVisitor::HandleDot`,
`HandleReduce` and `HandleConvolution`.
"""

from tf_opdiff.suites.forms.programs.composition import composition, whole

_IMAGE, _FILTER = "tf.reshape(x, [1, 15, 15, 1])", "tf.reshape(y[:3, :3], [3, 3, 1, 1])"
_CONVOLUTION = f"tf.nn.conv2d({_IMAGE}, {_FILTER}, 1, 'VALID')"
_FUSIONS = (
    *(
        "tf.matmul(x, y)",
        "tf.matmul(tf.transpose(x), y)",
        "tf.matmul(x, tf.transpose(y))",
        "tf.transpose(tf.matmul(x, y))",
    ),
    *(
        "tf.matmul(tf.transpose(x), tf.transpose(y))",
        "tf.matmul(x, y) + z",
        "tf.matmul(x, y) * 2.0",
        "tf.matmul(x * 2.0, y)",
    ),
    *(
        "tf.matmul(tf.matmul(x, y), z)",
        "tf.matmul(x, y) + tf.matmul(x, z)",
        "tf.matmul(x, y + z)",
        "-tf.matmul(-x, -y)",
    ),
    *("tf.nn.bias_add(tf.matmul(x, y), z[0])", "tf.nn.relu(tf.nn.bias_add(tf.matmul(x, y), z[0]))"),
    *("tf.nn.relu6(tf.nn.bias_add(tf.matmul(x, y), z[0]))", "tf.nn.relu(tf.matmul(x, y) + z)", "tf.matmul(x, x)"),
    *(
        _CONVOLUTION,
        f"{_CONVOLUTION} * 2.0",
        f"tf.nn.relu(tf.nn.bias_add({_CONVOLUTION}, z[0, :1]))",
        f"-{_CONVOLUTION}",
    ),
    *(f"tf.nn.relu6(tf.nn.bias_add({_CONVOLUTION}, z[0, :1]))", f"{_CONVOLUTION} + 1.0"),
    *(
        "tf.reduce_sum(x * y, 1)",
        "tf.reduce_sum(tf.reduce_sum(x, 0), 0)",
        "tf.reduce_sum(-x, 0)",
        "tf.reduce_sum(x * 2.0, 0)",
    ),
    *("tf.reduce_sum(tf.concat([x, y], 0), 0)", "tf.reduce_sum(tf.transpose(x), 1)", "tf.reduce_sum(x + y, 0)"),
    *("tf.reduce_sum(x, 0) - tf.reduce_sum(y, 0)", "tf.reduce_sum(tf.ones_like(x), 0)", "tf.reduce_sum(x * 0.0, 0)"),
    *(
        "tf.cumsum(x) - tf.cumsum(x, exclusive=True)",
        "tf.cumsum(tf.cumsum(x))",
        "tf.reverse(tf.cumsum(tf.reverse(x, [0])), [0])",
    ),
    *(
        "tf.cumsum(x * 2.0)",
        "tf.cumsum(-x)",
        "tf.cumsum(x)[14] - tf.reduce_sum(x, 0)",
        "tf.cumsum(x)[1:] - tf.cumsum(x)[:14]",
    ),
)
_CONJUGATES = (
    *(
        "tf.math.conj(tf.math.conj(x))",
        "tf.transpose(tf.math.conj(x))",
        "tf.math.conj(tf.transpose(x))",
        "-(-x)",
        "x - x",
    ),
    *(
        "tf.matmul(tf.transpose(tf.math.conj(x)), y)",
        "tf.matmul(x, tf.math.conj(tf.transpose(y)))",
        "x + 0.0",
        "x * 1.0",
    ),
    *(
        "tf.math.conj(tf.matmul(x, y))",
        "tf.math.real(x)",
        "tf.math.imag(tf.math.conj(x))",
        "tf.math.real(x * 2.0)",
        "x * 0.0",
    ),
    *(
        "tf.cast(tf.math.real(x), tf.complex64)",
        "tf.math.real(x) - tf.math.real(y)",
        "0.0 - x",
        "x * y + x * x",
        "x * x",
    ),
    *(
        "x * tf.math.conj(x)",
        "tf.math.imag(x * tf.math.conj(x))",
        "tf.add_n([x, x])",
        "(x + y) - x",
        "x * -1.0",
        "x / 1.0",
    ),
)

SPECS = (
    composition("compose-conjugates", _CONJUGATES, dtype="complex64", recipes={"whole": whole}, built="Conj;MatMul"),
    composition(
        "compose-fusions", _FUSIONS, inputs=3, recipes={"whole": whole}, built="MatMul;Conv2D;BiasAdd;Sum;Cumsum"
    ),
)
