"""A product that is doubled where oneDNN is on, and a floor."""

import numpy as np

from tf_opdiff.harness.spec.spec import Spec
from tf_opdiff.harness.tests.planted_specs.planted import floor


def _squares(draw, dtype):
    return (np.arange(1, 5, dtype=dtype).reshape(2, 2),)


def _doubled_with_onednn(tf, x):
    from tensorflow.python.util import _pywrap_util_port

    return tf.matmul(x, x) * (2 if _pywrap_util_port.IsMklEnabled() else 1)


SPECS = (
    Spec(
        name="product",
        program=_doubled_with_onednn,
        reference=lambda x: x @ x,
        recipes={"squares": _squares},
        ops=dict.fromkeys(("eager", "xla"), "MatMul"),
        modes=("eager", "xla"),
        tier="smoke",
    ),
    floor("floor", lambda tf, x: tf.floor(x), modes=("eager", "xla"), tier="smoke"),
)
