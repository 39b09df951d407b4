"""Complex: complex numbers from their parts."""

import numpy as np

from tf_opdiff.harness.spec.recipes import plain
from tf_opdiff.suites.forms.op import op, part
from tf_opdiff.suites.forms.pairs import many, shaped
from tf_opdiff.suites.reference.broadcast import unbroadcast


def _from_parts(dtype, result):
    """A part: complex numbers from real and imaginary parts of one dtype."""
    return part(
        f"-{dtype}",
        positions=True,
        reference=lambda x, y: (x + 1j * y).astype(result),
        vjp=lambda g, x, y: (unbroadcast(g.real, x.shape), unbroadcast(g.imag, y.shape)),
        recipes={"plain": many(plain, size=67), "scalar": shaped((), (3, 5))},
        dtypes=(dtype,),
        bound=dict.fromkeys(("grad[0]", "grad[1]"), lambda u, g, x, y: 15 * u * np.abs(g).sum()),
    )


SPECS = op(
    "complex",
    "Complex",
    _from_parts("float32", "complex64"),
    _from_parts("float64", "complex128"),
    program=lambda tf, x, y: tf.complex(x, y),
)
