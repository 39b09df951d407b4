"""Binary arithmetic on complex numbers; a VJP is conj(∂f/∂z) g + (∂f/∂z̄) conj(g)."""

import numpy as np

from tf_opdiff.harness.spec.recipes import COMPLEX, plain
from tf_opdiff.harness.spec.spec import Spec
from tf_opdiff.suites.references.binary import FUNCTIONS, wide
from tf_opdiff.suites.references.broadcast import unbroadcast
from tf_opdiff.suites.references.pairs import many, shaped


def _program(op):
    return lambda tf, x, y: getattr(tf.raw_ops, op)(x=x, y=y)


def _partials(name):
    """The derivatives; a complex number has a logarithm on either side of zero."""
    dx, dy = FUNCTIONS[name].partials
    return dx, wide(lambda x, y: np.power(x, y) * np.log(x)) if name == "pow" else dy


def _holomorphic(name):
    """Each derivative's conjugate times the upstream, summed over what was broadcast."""
    partials = _partials(name)

    def vjp(g, *xs):
        return tuple(unbroadcast(g * np.conj(d(*xs)), x.shape) for d, x in zip(partials, xs, strict=True))

    return vjp


def _zeros(argument):
    """A recipe: numbers, of which some of one argument are zero."""

    def recipe(draw, dtype):
        xs = many(plain, size=67)(draw, dtype)
        zero = np.arange(67) % 3 == 1
        return tuple(np.where(zero & (i == argument), 0, x).astype(dtype) for i, x in enumerate(xs))

    return recipe


@wide
def _squared(x, y):
    return np.conj(x - y) * (x - y)


def _squared_vjp(g, x, y):
    """|x - y|² is real: of an upstream its real part counts."""
    gradient = 2 * g.real * (x - y)
    return unbroadcast(gradient, x.shape), unbroadcast(-gradient, y.shape)


def _size(f, units):
    """An error in either part of so many units of round-off of the number's size."""
    return lambda u, g, x, y: units * u * np.abs(f(x, y))


def _summed(partials, argument, units):
    """(n - 1 + units) u Σ|g d| for the n terms that broadcasting sums up, each off by so many units of round-off."""

    def bound(u, g, *xs):
        terms, n = np.abs(g * partials[argument](*xs)), np.size(g) // np.size(xs[argument])
        return (n - 1 + units) * u * unbroadcast(terms, np.shape(xs[argument]))

    return bound


_SHAPES = {"plain": many(plain, size=67), "outer": shaped((4, 1), (1, 17))}
#: name: (OpDef, function, units of round-off allowed in the output, in the gradients).
_TABLE: dict[str, tuple[str, str, int, int]] = {
    "add": ("Add", "add", 1, 0),
    "add-v2": ("AddV2", "add", 1, 0),
    "div": ("Div", "div", 4, 6),
    "div-no-nan": ("DivNoNan", "div-no-nan", 4, 6),
    "mul": ("Mul", "mul", 2, 2),
    "mul-no-nan": ("MulNoNan", "mul-no-nan", 2, 2),
    "pow": ("Pow", "pow", 32, 32),
    "real-div": ("RealDiv", "div", 4, 6),
    "sub": ("Sub", "sub", 1, 0),
    "xdivy": ("Xdivy", "xdivy", 4, 6),
    "xlog1py": ("Xlog1py", "xlog1py", 5, 6),
    "xlogy": ("Xlogy", "xlogy", 6, 6),
}
#: Which argument makes the result 0, whatever the other one does.
_ZERO = {"div-no-nan": 1, "mul-no-nan": 1, "xdivy": 0, "xlog1py": 0, "xlogy": 0}

SPECS = (
    *(
        Spec(
            name=f"{name}-complex",
            ops=op,
            program=_program(op),
            reference=FUNCTIONS[function].f,
            vjp=_holomorphic(function),
            recipes=_SHAPES,
            dtypes=COMPLEX,
            bound={
                "output[0]": _size(FUNCTIONS[function].f, output),
                **{f"grad[{i}]": _summed(_partials(function), i, grad) for i in (0, 1)},
            },
        )
        for name, (op, function, output, grad) in _TABLE.items()
    ),
    *(
        Spec(
            name=f"{name}-complex-zeros",
            ops=_TABLE[name][0],
            program=_program(_TABLE[name][0]),
            reference=FUNCTIONS[name].f,
            recipes={"zeros": _zeros(argument)},
            dtypes=COMPLEX,
            bound={"output[0]": _size(FUNCTIONS[name].f, _TABLE[name][2])},
        )
        for name, argument in _ZERO.items()
    ),
    Spec(
        name="squared-difference-complex",
        ops="SquaredDifference",
        program=_program("SquaredDifference"),
        reference=_squared,
        vjp=_squared_vjp,
        recipes=_SHAPES,
        dtypes=COMPLEX,
        bound={
            "output[0]": _size(_squared, 4),
            **{f"grad[{i}]": _summed(FUNCTIONS["squared-difference"].partials, i, 4) for i in (0, 1)},
        },
    ),
    *(
        Spec(
            name=f"complex-{dtype}",
            ops="Complex",
            program=lambda tf, x, y: tf.complex(x, y),
            reference=lambda x, y, kind=kind: (x + 1j * y).astype(kind),
            vjp=lambda g, x, y: (unbroadcast(g.real, x.shape), unbroadcast(g.imag, y.shape)),
            recipes={"plain": many(plain, size=67), "scalar": shaped((), (3, 5))},
            dtypes=(dtype,),
            bound={f"grad[{i}]": lambda u, g, x, y: 15 * u * np.abs(g).sum() for i in (0, 1)},
        )
        for dtype, kind in (("float32", "complex64"), ("float64", "complex128"))
    ),
)
