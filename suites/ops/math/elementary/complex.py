"""Complex numbers: made from parts; their parts, size, angle and conjugate.

The gradient of a real result is the upstream times a complex number.
"""

import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import COMPLEX, matrix, plain
from tf_opdiff.suites.derived.hessian import linear
from tf_opdiff.suites.forms.elementwise.analytic import axes, crossed_parts, small
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.part import part, together
from tf_opdiff.suites.forms.recipes.pairs import many, shaped
from tf_opdiff.suites.reference.elementwise.broadcast import unbroadcast
from tf_opdiff.suites.reference.elementwise.complex import angle_vjp, from_parts


def _part(tf, z):
    return tf.float32 if z.dtype == tf.complex64 else tf.float64


def _calling(op, argument="input"):
    """A program that calls a raw op of a complex number with a real result."""
    return lambda tf, z: getattr(tf.raw_ops, op)(**{argument: z}, Tout=_part(tf, z))


def _complex_numbers(reference, vjp, *, output=0.0, bound=None):
    """Parts: a function of a complex number, with a budget for its output and bounds; its values at special parts."""
    return together(
        part(
            "-complex",
            positions=True,
            reference=reference,
            vjp=vjp,
            recipes={"axes": axes, "plain": plain, "small": small, "matrix": matrix},
            dtypes=COMPLEX,
            ulp={"output": output},
            bound=bound or {},
        ),
        part(
            "-complex-special",
            reference=reference,
            recipes={"special": lambda draw, dtype: (crossed_parts(dtype),)},
            dtypes=COMPLEX,
            ulp={"output": output},
        ),
    )


def _from_parts(dtype, result):
    """A part: complex numbers from real and imaginary parts of one dtype."""
    return part(
        f"-{dtype}",
        positions=True,
        reference=lambda x, y: (x + 1j * y).astype(result),
        vjp=lambda g, x, y: (unbroadcast(g.real, x.shape), unbroadcast(g.imag, y.shape)),
        recipes={"plain": many(plain, size=67), "scalar": shaped((), (3, 5))},
        dtypes=(dtype,),
        linear=linear("plain", moving=(0, 1)),
        bound={"grad[0]": _summed(np.real, 0), "grad[1]": _summed(np.imag, 1)},
    )


def _summed(part_of, argument):
    """(n - 1) u Σ|g| for the n parts of upstreams that broadcasting sums up: exact without broadcasting."""

    def bound(u, g, *xs):
        terms, shape = np.abs(part_of(g)), np.shape(xs[argument])
        return (np.size(g) // max(1, np.size(xs[argument])) - 1) * u * unbroadcast(terms, shape)

    return bound


def _long(z):
    return z.astype(np.clongdouble)


SPECS = (
    *op(
        "abs",
        "ComplexAbs",
        _complex_numbers(
            lambda z: np.abs(_long(z)),
            lambda g, z: g * _long(z) / np.abs(_long(z)),
            output=2,
            bound={"grad[0]": lambda u, g, z: 4 * u * np.abs(g)},
        ),
        program=_calling("ComplexAbs", "x"),
    ),
    *op(
        "angle",
        "Angle",
        _complex_numbers(
            lambda z: np.angle(_long(z)),
            angle_vjp,
            output=4,
            bound={"grad[0]": lambda u, g, z: 4 * u * np.abs(g) / np.where(z == 0, np.inf, np.abs(z))},
        ),
        program=_calling("Angle"),
    ),
    *op(
        "complex",
        "Complex",
        _from_parts("float32", "complex64"),
        _from_parts("float64", "complex128"),
        program=lambda tf, x, y: tf.complex(x, y),
    ),
    *op("conj", "Conj", _complex_numbers(np.conj, lambda g, z: np.conj(g))),
    *op("imag", "Imag", _complex_numbers(np.imag, lambda g, z: from_parts(0 * np.abs(g), g)), program=_calling("Imag")),
    *op("real", "Real", _complex_numbers(np.real, lambda g, z: from_parts(g, 0 * np.abs(g))), program=_calling("Real")),
)
