"""Forward mode and second order of the unary elementwise ops: a gradient that is itself differentiated."""

from dataclasses import replace

import ml_dtypes
import numpy as np

from tf_opdiff.harness.spec.spec import Raises
from tf_opdiff.suites import unary
from tf_opdiff.suites.references.elementwise import PAIRS, Wide, mp

#: name: budgets of jvp and hvp in ULPs, as `bench.budgets` measured them over 2,680 inputs of each dtype. What
#: is above 4 divides by something that is itself off by some ULPs, or raises it to a power; bessel-i0's are series.
_BUDGETS = {
    "acos": (5, 15),
    "acosh": (8, 20),
    "asin": (5, 15),
    "asinh": (4.5, 10),
    "atan": (3.5, 7),
    "atanh": (8, 14),
    "bessel-i0": (20, 12),
    "cos": (2.5, 2.5),
    "exp": (2.5, 2.5),
    "expm1": (2.5, 3),
    "inv": (6, 9),
    "leaky-relu": (1, 0),
    "log": (3, 6),
    "log1p": (3, 6),
    "reciprocal": (6, 9),
    "rsqrt": (8, 12),
    "sin": (2.5, 2.5),
    "sqrt": (2.5, 6),
    "square": (0.5, 0.5),
    "tan": (8, 11),
}
#: Where x is multiplied before the exponential is taken, or terms cancel, the error goes with the condition of f' or
#: f'': k u (|f'| + |x f''|) and k u (|f''| + |x f'''|), with k for jvp and hvp (mixed forward-backward stability:
#: Higham, Accuracy and Stability, section 1.6), and where 1 - y is taken of a y near 1, c u beside.
_CONDITION = {
    "cosh": (4, 5, 0),
    "erf": (4, 5, 0),
    "erfc": (4, 5, 0),
    "expint": (4, 5, 0),
    "sigmoid": (4, 5, 4),
    "sinh": (4, 5, 0),
    "softplus": (4, 5, 4),
    "tanh": (4, 5, 16),  # y is itself off by 4 ULP
}
#: Their second derivative is zero, or a zero of either sign.
_LINEAR = ("abs", "leaky-relu", "relu", "relu6")
_NO_GRADIENT = {"softsign": "SoftsignGrad"}


def _inside(pair, curve):
    """A recipe: values all over the inside of the domain, where no derivative is subnormal or near the largest."""
    low, high = pair.domain
    margin = (high - low) / 64

    def recipe(draw, dtype):
        x = draw.uniform(134, low=low + margin, high=high - margin).astype(dtype)
        tiny, top = float(ml_dtypes.finfo(dtype).smallest_normal), float(ml_dtypes.finfo(dtype).max)
        sizes = [np.abs(f(x)) for f in (pair.f, pair.d, curve)]
        usable = [(s == 0) | (s > 64 * tiny) & (s < top / 64) for s in sizes]
        return (np.resize(x[np.logical_and.reduce(usable)], 67),)

    return recipe


def _hvp(name, curve):
    """The second derivative along the tangents: None where nothing depends on x any more."""
    if name in _NO_GRADIENT:
        return lambda g, t, x: Raises("LookupError", _NO_GRADIENT[name])
    return lambda g, t, x: None if name == "neg" else g * t * curve(x)


def _bounds(pair, curve, at_first, at_second, flat):
    """The bounds of jvp and hvp by the conditions of f' and f''; see `_CONDITION`."""
    third = Wide(lambda x: mp.diff(pair.d.f, x, 2))

    def first(u, g, t, x):
        return u * np.abs(t) * (at_first * (np.abs(pair.d(x)) + np.abs(x * curve(x))) + flat)

    def second(u, g, t, x):
        return u * np.abs(g * t) * (at_second * (np.abs(curve(x)) + np.abs(x * third(x))) + flat)

    return {"jvp[0]": first, "hvp[0]": second}


def _second(spec, **more):
    """The spec, with forward mode and second order in the inside of its domain; f'' and f''' by differences."""
    name, pair = spec.name, PAIRS[spec.name]
    curve = Wide(lambda x: mp.diff(pair.d.f, x))
    refused = name in _NO_GRADIENT  # forward mode goes through the gradient's gradient
    jvp, hvp = _BUDGETS.get(name, (0, 0))
    return replace(
        spec,
        recipes={"inside": _inside(pair, curve)},
        jvp=(lambda t, x: Raises("LookupError", _NO_GRADIENT[name])) if refused else (lambda t, x: t * pair.d(x)),
        hvp=None if name in _LINEAR else _hvp(name, curve),
        ulp=spec.ulp | {"jvp": jvp, "hvp": hvp},
        bound=spec.bound | (_bounds(pair, curve, *_CONDITION[name]) if name in _CONDITION else {}),
        **more,
    )


_SMOOTH = [s for s in unary.SPECS if s.name in {*_BUDGETS, *_CONDITION, *_LINEAR, *_NO_GRADIENT, "neg"}]

# An item takes a second, most of it XLA's compiler: float32 stands for the others in the default tier.
SPECS = (
    *(_second(s, name=f"{s.name}-second-order", dtypes=("float32",), tier="default") for s in _SMOOTH),
    *(
        _second(
            s, name=f"{s.name}-second-order-other", dtypes=tuple(d for d in s.dtypes if d != "float32"), tier="full"
        )
        for s in _SMOOTH
    ),
)
