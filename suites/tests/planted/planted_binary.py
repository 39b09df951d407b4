"""A binary op with broadcasting, as in the tutorial: a twin of `tf.multiply`."""

from tf_opdiff.suites.forms.elementwise.binary import floats
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.reference.promises.function import Function, wide

SPECS = op(
    "mul-twin",
    "Mul",
    floats(
        Function(
            f=wide(lambda x, y: x * y),
            partials=(wide(lambda x, y: y), wide(lambda x, y: x)),
            exact=lambda x, y: x * y,
        ),
        ulp={"output": 0.5, "grad": 0.5},
    ),
)
