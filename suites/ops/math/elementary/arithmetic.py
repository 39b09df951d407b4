"""Arithmetic: sums, differences and products."""

from dataclasses import replace

import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import COMPLEX, FLOATS, INTEGERS, bit_patterns, plain
from tf_opdiff.harness.spec.plan import WITHOUT_XLA
from tf_opdiff.suites.derived.hessian import Hessian, linear
from tf_opdiff.suites.forms.aspects import incompatible
from tf_opdiff.suites.forms.elementwise.binary import UPSTREAMS, floats, subnormal_results
from tf_opdiff.suites.forms.elementwise.complex import complex_numbers, pair_of_complex
from tf_opdiff.suites.forms.elementwise.complex_special import special_products
from tf_opdiff.suites.forms.elementwise.flushed import outputs
from tf_opdiff.suites.forms.elementwise.integers import integers
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.part import part, tiered, unconnected
from tf_opdiff.suites.forms.recipes.hard_pairs import special_values
from tf_opdiff.suites.forms.recipes.pairs import many, shaped
from tf_opdiff.suites.reference.elementwise.arithmetic import SUM
from tf_opdiff.suites.reference.elementwise.broadcast import unbroadcast
from tf_opdiff.suites.reference.promises.function import Function, minus, one, unless, wide, y_zero


def _special_triples(draw, dtype):
    """Each special value with each other two."""
    return tuple(a.ravel() for a in np.meshgrid(*[special_values(dtype)] * 3, indexing="ij"))


def _in_any_order(dtype, g, *xs):
    """The alternatives of a sum: two terms are added and rounded first, which may overflow; subnormals are flushed."""

    def first(i, j, k):
        return lambda *xs: (xs[i] + xs[j]).astype(dtype).astype(np.float64) + xs[k]

    sums = [first(i, (i + 1) % 3, (i + 2) % 3) for i in range(3)]
    return [other for total in sums for other in (total(*xs), *outputs(total)(dtype, g, *xs))]


_X, _Y = wide(lambda x, y: x), wide(lambda x, y: y)
_PRODUCT = Function(f=np.multiply, partials=(lambda x, y: y, lambda x, y: x), exact=lambda x, y: x * y)
#: In long double, a product just below the smallest normal number of float64 is below it.
_PRODUCT = replace(_PRODUCT, wider=replace(_PRODUCT, f=wide(np.multiply), partials=(_Y, _X)))
#: It is 0 for y = 0, whatever x is.
_PRODUCT_NO_NAN = Function(
    f=unless(y_zero, np.multiply), partials=(unless(y_zero, lambda x, y: y), _X), exact=lambda x, y: x * y
)


def _product_no_nan_vjp(function):
    """The VJP of MulNoNan, by the same product: +0 for x where y is 0, and +0 for y where the upstream is 0."""
    first, second = function.partials

    def vjp(g, x, y):
        by_x = np.where(y == 0, 0, g * first(x, y))
        return unbroadcast(by_x, x.shape), unbroadcast(np.where(g == 0, 0, g * second(x, y)), y.shape)

    return vjp


_SQUARED_DIFFERENCE = Function(
    f=wide(lambda x, y: (x - y) ** 2),
    partials=(wide(lambda x, y: 2 * (x - y)), wide(lambda x, y: -2 * (x - y))),
    exact=lambda x, y: (x - y) ** 2,
)


def _squared_size_vjp(g, x, y):
    """|x - y|² is real, so that only the real part of an upstream counts."""
    gradient = 2 * g.real * (x - y)
    return unbroadcast(gradient, x.shape), unbroadcast(-gradient, y.shape)


_TWO, _MINUS_TWO = (lambda x, y: 2 * one(x, y)), (lambda x, y: -2 * one(x, y))
#: Forward mode is a sum of two tangents.
_LINEAR = Hessian(terms={}, jvp=1)
_DIFFERENCE = Function(f=np.subtract, partials=(one, minus), exact=lambda x, y: x - y)

SPECS = (
    *op(
        "add",
        "Add",
        floats(SUM, ulp={"output": 0.5, "grad": 0}, hessian=_LINEAR),
        integers(np.add),
        complex_numbers(SUM, output=1, grad=0, special=True),
        part(
            "-string",
            positions=True,
            reference=lambda x, y: x + y,
            recipes={"plain": many(plain, size=67), "outer": shaped((4, 1), (1, 17))},
            dtypes=("object",),
            modes=WITHOUT_XLA,  # XLA has no strings
        ),
    ),
    *op(
        "add-n",
        "AddN",
        part(
            positions=True,
            recipes={"plain": many(plain, 3), "matrix": shaped(*[(3, 5)] * 3), "empty": shaped(*[(0, 3)] * 3)},
            dtypes=FLOATS,
            linear=linear("plain", moving=(0, 1, 2)),
        ),
        part("-complex", positions=True, recipes={"plain": many(plain, 3)}, dtypes=COMPLEX, tier="full"),
        part(
            "-special",
            positions=True,
            recipes={"edges": _special_triples, "upstreams": _special_triples},
            dtypes=tiered(FLOATS),
            upstreams=UPSTREAMS,
            alternatives={"output": _in_any_order},
        ),
        part(
            "-integer",
            positions=True,
            reference=lambda x, y, z: x + y + z,
            vjp=unconnected,
            recipes={"bits": many(bit_patterns, 3), "plain": many(plain, 3)},
            dtypes=INTEGERS,
            bound={},
        ),
        reference=wide(lambda x, y, z: x + y + z),
        vjp=lambda g, *xs: (g, g, g),
        bound={"output[0]": lambda u, g, *xs: 2 * u * sum(map(np.abs, xs))},
        program=lambda tf, *xs: tf.raw_ops.AddN(inputs=list(xs)),
        arguments=("x", "y", "z"),
    ),
    *op(
        "add-v2",
        "AddV2",
        floats(SUM, ulp={"output": 0.5, "grad": 0}, hessian=_LINEAR),
        subnormal_results(np.add, name="add-subnormal"),
        integers(np.add),
        complex_numbers(SUM, output=1, grad=0, special=True),
        incompatible(name="addv2-incompatible"),
    ),
    *op(
        "mul",
        "Mul",
        floats(
            _PRODUCT,
            ulp={"output": 0.5, "grad": 0.5},
            tier="smoke",
            hessian=Hessian(terms={(0, 1): [one]}, jvp=2, hvp=1),
        ),
        subnormal_results(np.multiply),
        integers(np.multiply),
        complex_numbers(_PRODUCT, output=2, grad=2, special=True),
        special_products(2),
    ),
    *op(
        "mul-no-nan",
        "MulNoNan",
        floats(
            _PRODUCT_NO_NAN,
            ulp={"output": 0.5, "grad": 0.5},
            vjp_of=_product_no_nan_vjp,
            hessian=Hessian(terms={(0, 1): [one]}, jvp=2, hvp=1),
        ),
        complex_numbers(_PRODUCT_NO_NAN, output=2, grad=2, zero=1),
        special_products(2, zero=1),
    ),
    *op(
        "squared-difference",
        "SquaredDifference",
        floats(
            _SQUARED_DIFFERENCE,
            ulp={"output": 2, "grad": 1.5},
            hessian=Hessian(terms={(0, 0): [_TWO], (0, 1): [_MINUS_TWO], (1, 1): [_TWO]}, jvp=3, hvp=2.5),
        ),
        integers(lambda x, y: (x - y) ** 2),
        special_products(4, factors=lambda x, y: (np.conj(x - y), x - y)),
        pair_of_complex(
            replace(_SQUARED_DIFFERENCE, f=wide(lambda x, y: np.conj(x - y) * (x - y))),
            _squared_size_vjp,
            output=4,
            grad=4,
        ),
    ),
    *op(
        "sub",
        "Sub",
        floats(_DIFFERENCE, ulp={"output": 0.5, "grad": 0}, hessian=_LINEAR),
        subnormal_results(np.subtract),
        integers(np.subtract),
        complex_numbers(_DIFFERENCE, output=1, grad=0, special=True),
    ),
)
