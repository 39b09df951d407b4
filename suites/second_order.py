"""Forward mode and second order of the unary elementwise ops: a gradient that is itself differentiated."""

from dataclasses import replace

import ml_dtypes
import numpy as np

from harness.spec import Raises
from suites import unary
from suites.references.elementwise import PAIRS, Wide, mp

#: What an implementation that rounds its input and its result a few times may err by: k u (|f| + |x f'|), with f' and
#: f'' in the place of f (mixed forward-backward stability: Higham, Accuracy and Stability, section 1.6), in that k.
_ROUNDINGS = {"jvp": 4, "hvp": 5}
#: Where 1 - y is taken of a y near 1, there is nothing left of it to be relative to: k u |g t| more.
_CANCELS = {"sigmoid": 4, "softplus": 4, "tanh": 16}  # tanh is itself off by 4 ULP
#: Their second derivative is zero, or a zero of either sign.
_LINEAR = ("abs", "leaky-relu", "relu", "relu6")
_NO_GRADIENT = {"softsign": "SoftsignGrad"}


def _inside(pair, curve):
    """A recipe: values all over the inside of the domain, where no derivative is subnormal or near the largest."""
    low, high = pair.domain
    margin = (high - low) / 64

    def recipe(draw, dtype):
        x = draw.uniform(1000, low=low + margin, high=high - margin).astype(dtype)
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


def _second(spec, **more):
    """The spec, with forward mode and second order in the inside of its domain; f'' and f''' by differences."""
    name, pair = spec.name, PAIRS[spec.name]
    curve = Wide(lambda x: mp.diff(pair.d.f, x))
    third = Wide(lambda x: mp.diff(pair.d.f, x, 2))
    flat = _CANCELS.get(name, 0)

    def forward(u, g, t, x):
        return u * np.abs(t) * (_ROUNDINGS["jvp"] * (np.abs(pair.d(x)) + np.abs(x * curve(x))) + flat)

    def second(u, g, t, x):
        return u * np.abs(g * t) * (_ROUNDINGS["hvp"] * (np.abs(curve(x)) + np.abs(x * third(x))) + flat)

    refused = name in _NO_GRADIENT  # forward mode goes through the gradient's gradient
    return replace(
        spec,
        recipes={"inside": _inside(pair, curve)},
        jvp=(lambda t, x: Raises("LookupError", _NO_GRADIENT[name])) if refused else (lambda t, x: t * pair.d(x)),
        hvp=None if name in _LINEAR else _hvp(name, curve),
        bound=spec.bound | {"jvp[0]": forward, "hvp[0]": second},
        **more,
    )


_SMOOTH = [spec for spec in unary.SPECS if spec.name in PAIRS]

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
