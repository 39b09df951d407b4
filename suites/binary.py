"""Binary arithmetic on floats: values, and both gradients, summed over what was broadcast."""

import math
from typing import Any

import ml_dtypes
import numpy as np

from tf_opdiff.harness.spec.recipes import FLOATS, bit_patterns, plain, subnormals
from tf_opdiff.harness.spec.spec import Raises, Side, Spec
from tf_opdiff.suites.references.binary import (
    FUNCTIONS,
    floor_of_quotient,
    floored,
    gamma_sample_da,
    igamma_da,
    truncated,
)
from tf_opdiff.suites.references.broadcast import unbroadcast
from tf_opdiff.suites.references.pairs import crossed, edge_values, many, normal, replaced, shaped, within
from tf_opdiff.suites.references.subnormal import DENORMALS, LINK, WHY, flushed

_WIDE = ("float32", "float64")


def _vjp(name):
    """Each derivative times the upstream, summed over what was broadcast."""
    partials = _function(name).partials

    def vjp(g, *xs):
        pairs = zip(partials, xs, strict=True)
        return tuple(None if d is None else unbroadcast(g * d(*xs), x.shape) for d, x in pairs)

    return vjp


def _no_nan_vjp(name):
    """The same, but +0, not g × 0, in x where y is 0: there the kernel does not multiply."""
    vjp = _vjp(name)

    def selected(g, x, y):
        return vjp(np.where(y == 0, 1, g), x, y)[0], vjp(g, x, y)[1]

    return selected


def _chosen_vjp(condition):
    """The upstream goes to x where the condition holds, to y elsewhere, zero to the other."""

    def vjp(g, x, y):
        to_x = condition(x, y)
        return unbroadcast(np.where(to_x, g, 0), x.shape), unbroadcast(np.where(to_x, 0, g), y.shape)

    return vjp


def _program(op, names=("x", "y")):
    return lambda tf, *xs: getattr(tf.raw_ops, op)(**dict(zip(names, xs, strict=True)))


def _by(budget, dtypes):
    """A budget by dtype, where it differs."""
    return dict(zip(dtypes, budget, strict=True)) if isinstance(budget, tuple) else budget


def _function(name):
    return FUNCTIONS[{"add-v2": "add", "real-div": "div"}.get(name, name)]


def _rounded(rounding, exact):
    """Whether rounding x / y to the dtype, or flushing it to zero, changes the integer below it."""

    def condition(dtype, x, y):
        quotient = (x / y).astype(dtype).astype(np.float64)
        small = np.abs(quotient) < float(ml_dtypes.finfo(dtype).smallest_normal)
        found = rounding(np.where(small, np.copysign(0, quotient), quotient))
        return np.isfinite(found) & (found != exact(x, y).astype(dtype).astype(np.float64))

    return condition


_FLOORED, _TRUNCATED = _rounded(np.floor, floor_of_quotient), _rounded(np.trunc, truncated)


def _flushed_rest(dtype, x, y):
    """Whether the remainder is subnormal before the divisor is added to it."""
    rest = np.abs(np.fmod(x, y))
    return (rest > 0) & (rest < float(ml_dtypes.finfo(dtype).smallest_normal))


def _overflow(dtype, x, y):
    """Whether x^y times an upstream overflows."""
    return np.isfinite(x) & np.isfinite(y) & (np.abs(np.power(x, y)) > float(ml_dtypes.finfo(dtype).max) / 4)


#: What is 0 for x = 0: the values there, and the gradients, have specs of their own.
_MASKED = ("xdivy", "xlog1py", "xlogy")


def _x_zero(dtype, x, y):
    return x == 0


def _zero_x(draw, dtype):
    """Zeros of both signs with every edge value, so many times that vectors and a tail hold them."""
    y = edge_values(draw, dtype)
    x = np.resize(np.array([0.0, -0.0], dtype), 2 * y.size)
    return np.resize(x, 121), np.resize(np.repeat(y, 2), 121)


def _recipes(name, function, gradient=True):
    recipes = {"edges": crossed, "bits": many(bit_patterns), "plain": many(plain), "domain": within(*function.domain)}
    if name == "floor-mod":
        recipes = {k: replaced(replaced(r, _FLOORED, 7, 2), _flushed_rest, 7, 2) for k, r in recipes.items()}
    if name in _MASKED:
        recipes = {k: replaced(r, _x_zero, 1, 2) for k, r in recipes.items()}
    return {k: normal(recipe, function, gradient) for k, recipe in recipes.items()}


#: name: (OpDef, budget of the output, of the gradients) of what has both gradients; the functions are in FUNCTIONS.
#: A tuple of budgets is in the order of the dtypes. Measured with AVX-512, in all modes.
_TABLE: dict[str, tuple[str, Any, Any]] = {
    "add": ("Add", 0.5, 0),
    "add-v2": ("AddV2", 0.5, 0),
    "div": ("Div", 0.5, 2.5),
    "div-no-nan": ("DivNoNan", 0.5, 2.5),
    "floor-mod": ("FloorMod", 0.5, 1.5),
    "mul": ("Mul", 0.5, 0.5),
    "mul-no-nan": ("MulNoNan", 0.5, 0.5),
    "real-div": ("RealDiv", 0.5, 2.5),
    "squared-difference": ("SquaredDifference", 2, 1.5),
    "sub": ("Sub", 0.5, 0),
    "xdivy": ("Xdivy", 0.5, 2.5),
    "xlog1py": ("Xlog1py", (2.5, 1.5, 3, 2.5), (2.5, 2, 3, 3.5)),
    "xlogy": ("Xlogy", (1.5, 1.5, 2.5, 2.5), (1.5, 1.5, 2, 2)),
}
_PAIRS = {k: r for k, r in _recipes("add", _function("add")).items() if k != "domain"}
#: Those of the outputs of Atan2 and Pow, whose gradients have specs of their own.
_POWERS_AND_ANGLES = {"atan2": (0.51, 0.51, 3.5, 3.5), "pow": (0.51, 0.51, 1.5, 2.5)}
_VJP = {"div-no-nan": _no_nan_vjp("div-no-nan"), "mul-no-nan": _no_nan_vjp("mul-no-nan")}


def _ambiguous(dtype, x, y):
    """NaN, and zeros of both signs, of which either may be the larger."""
    return np.isnan(x) | np.isnan(y) | ((x == 0) & (y == 0) & (np.signbit(x) != np.signbit(y)))


def _only(condition, size=211):
    """A recipe: the pairs of edge values for which it holds."""

    def recipe(draw, dtype):
        x, y = crossed(draw, dtype)
        found = condition(dtype, x.astype(np.float64), y.astype(np.float64))
        return tuple(np.resize(a[found], size) for a in (x, y))

    return recipe


_NAN, _ZEROS = (lambda dtype, x, y: np.isnan(x) | np.isnan(y)), (lambda dtype, x, y: (x == 0) & (y == 0))
#: name: (OpDef, reference, where the upstream goes to x).
_EXTREMES: dict[str, tuple[str, Any, Any]] = {
    "maximum": ("Maximum", np.maximum, np.greater_equal),
    "minimum": ("Minimum", np.minimum, np.less_equal),
}

#: name: (OpDef, reference, dtypes, VJP, recipes) of what is exact and has no derivative.
_FOR_FLOOR = {k: replaced(r, _FLOORED, 7, 2) for k, r in _PAIRS.items()}
_FOR_TRUNC = {k: replaced(r, _TRUNCATED, 7, 2) for k, r in _PAIRS.items()}


def _unconnected(g, *xs):
    return (None,) * len(xs)


def _no_gradient(g, *xs):
    return Raises("LookupError")


_STEPS: dict[str, tuple[str, Any, Any, Any, Any]] = {
    "floor-div": ("FloorDiv", floored, FLOATS, _unconnected, _FOR_FLOOR),
    "mod": ("Mod", np.fmod, _WIDE, _no_gradient, _PAIRS),
    "truncate-div": ("TruncateDiv", truncated, FLOATS, _unconnected, _FOR_TRUNC),
    "truncate-mod": ("TruncateMod", np.fmod, _WIDE, _no_gradient, _PAIRS),
}


def _beyond(exact, rounding, rounded):
    """A recipe: pairs whose quotient is rounded up to an integer, or flushed to zero."""

    def recipe(draw, dtype):
        y = draw.uniform(20000, low=0.1, high=4.0).astype(dtype)
        n = draw.integers(20000, low=2, high=200)
        x = (n * y.astype(np.float64)).astype(dtype)
        wrong = rounded(dtype, x.astype(np.float64), y.astype(np.float64))
        tiny = float(ml_dtypes.finfo(dtype).smallest_normal)
        found = x[wrong][:40], y[wrong][:40]
        return tuple(np.concatenate([a, np.array([b] * 3, dtype)]) for a, b in zip(found, (-tiny, 1024.0), strict=True))

    return recipe


#: Exponents that one raises to, and edge values as what is raised.
_POWERS = (-3.0, -2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0, 3.0)


def _powers(draw, dtype):
    x, y = np.meshgrid(edge_values(draw, dtype), np.array(_POWERS).astype(dtype))
    return x.ravel(), y.ravel()


def _pow_bound(u, g, x, y):
    """Rounding y - 1 costs |(y - 1) log x| / 2 ULP."""
    d = FUNCTIONS["pow"].partials[0](x, y)
    return u * np.abs(g * d) * (6 + np.abs((y - 1) * np.log(np.abs(np.where(x == 0, 1, x)))))


def _cross(xs, ys):
    """A recipe: each of the one with each of the other."""

    def recipe(draw, dtype):
        pairs = np.meshgrid(np.array(xs).astype(dtype), np.array(ys).astype(dtype), indexing="ij")
        return tuple(np.resize(a, 199) for a in pairs)

    return recipe


_SMALL, _NOT_POSITIVE = (2.0**-11, 0.5, 1.0, 2.0, 3.0, 30.5), (0.0, -0.5, -1.0, -2.0)
_lgamma = np.vectorize(lambda x: math.lgamma(x) if x > 0 else 0.0, otypes=[float])


def _gamma_terms(a, x):
    """The logarithms that x^a e^-x / Γ(a) is the exponential of: their rounding is its relative error."""
    return np.abs(a * np.log(np.where(x > 0, x, 1))) + x + np.abs(_lgamma(a))


def _beta_terms(a, b, x):
    logs = np.abs(a * np.log(x)) + np.abs(b * np.log1p(-x))
    return logs + np.abs(_lgamma(a)) + np.abs(_lgamma(b)) + np.abs(_lgamma(a + b))


def _relative(f, terms, least, slope):
    """The bound u |f| (least + slope × terms)."""
    return lambda u, g, *xs: u * np.abs(f(*xs)) * (least + slope * terms(*xs))


def _gradient_bound(name, argument, terms, least, slope, floor=0.0):
    d = FUNCTIONS[name].partials[argument]
    return lambda u, g, *xs: u * np.abs(g) * (floor + np.abs(d(*xs)) * (least + slope * terms(*xs)))


def _igammac_bound(u, g, a, x):
    """Where x is below 1 or a, Q is computed as 1 - P."""
    relative = _relative(FUNCTIONS["igammac"].f, _gamma_terms, 40, 4)(u, g, a, x)
    return relative + 8 * u * (x < np.maximum(1, a))


def _gradient_output(u, g, a, x):
    return u * (2 + np.abs(igamma_da(a, x)) * (60 + 4 * _gamma_terms(a, x)))


def _zeta_terms(s, q):
    return np.abs(s * np.log(np.abs(q)))


#: name: (OpDef, names of its arguments, edges, what is outside the domain). Special functions, in float32 and float64.
_SPECIAL: dict[str, tuple[str, tuple[str, ...], Any, Any]] = {
    "igamma": ("Igamma", ("a", "x"), _cross(_SMALL, (0.0, *_SMALL, np.inf)), _cross(_NOT_POSITIVE, _SMALL)),
    "igammac": ("Igammac", ("a", "x"), _cross(_SMALL, (0.0, *_SMALL, np.inf)), _cross(_NOT_POSITIVE, _SMALL)),
    "polygamma": ("Polygamma", ("a", "x"), _cross((0.0, 1.0, 2.0, 7.0), _SMALL), _cross((-1.0, 0.5), _SMALL)),
    "zeta": ("Zeta", ("x", "q"), _cross((1.5, 2.0, 3.0, 7.0), (0.0, -1.0, *_SMALL)), _cross((0.5, -1.0, 1.0), _SMALL)),
}
#: What is measured in float32 and float64, eager and compiled, is up to 0.9 of these.
_SPECIAL_BOUNDS: dict[str, dict[str, Any]] = {
    name: {
        "output[0]": output,
        "grad[0]": _gradient_bound(name, 0, _gamma_terms, 60, 4, floor=2),
        "grad[1]": _gradient_bound(name, 1, _gamma_terms, 28, 4),
    }
    for name, output in (
        ("igamma", _relative(FUNCTIONS["igamma"].f, _gamma_terms, 40, 4)),
        ("igammac", _igammac_bound),
    )
} | {
    "polygamma": {  # ψ has a root at 1.46
        "output[0]": lambda u, g, n, x: u * (8 + (24 + 4 * n) * np.abs(FUNCTIONS["polygamma"].f(n, x))),
        "grad[1]": _gradient_bound("polygamma", 1, lambda n, x: n, 16, 3),
    },
    "zeta": {
        "output[0]": _relative(FUNCTIONS["zeta"].f, _zeta_terms, 5, 2),
        "grad[1]": _gradient_bound("zeta", 1, _zeta_terms, 6, 2),
    },
}


def _whole(recipe):
    """The recipe with integers for its first argument."""

    def drawn(draw, dtype):
        n, x = recipe(draw, dtype)
        return np.floor(n), x

    return drawn


def _special_domain(name):
    domain = within(*FUNCTIONS[name].domain, size=199)
    return {"domain": normal(_whole(domain) if name == "polygamma" else domain, FUNCTIONS[name])}


def _clip_vjp(g, t, low, high):
    below, above = t < low, t > high
    zero = np.zeros_like(g)
    parts = np.where(below | above, zero, g), np.where(below, g, zero), np.where(above, g, zero)
    return tuple(unbroadcast(p, np.shape(x)) for p, x in zip(parts, (t, low, high), strict=True))


def _clip_bound(argument):
    """(n - 1) u Σ|g| of what scalar bounds sum up: nothing where there is one term."""
    return lambda u, g, *xs: (np.size(g) // np.size(xs[argument]) - 1) * u * _clip_vjp(np.abs(g), *xs)[argument]


def _bounds(low, high, *shape):
    """A recipe: numbers to clip, and bounds of that shape, the lower one below the upper."""
    return lambda draw, d: (
        draw.values(d, 67),
        draw.uniform(*shape, low=-3, high=low).astype(d),
        draw.uniform(*shape, low=low, high=high).astype(d),
    )


def _flushes(f):
    return Side(reference=lambda x, y: flushed(f(flushed(x), flushed(y))), why=WHY, link=LINK, unless=DENORMALS)


def _compared(condition):
    why = f"{WHY} to compare them; XLA then hands on the bits of the one that it chose, which are of 16 bits"
    return Side(
        reference=lambda x, y: np.where(condition(flushed(x), flushed(y)), x, y), why=why, link=LINK, unless=DENORMALS
    )


_NO_BF16 = ("float16", "float32", "float64")
_INFERENCE = "a graph infers shapes when it is built, and Python raises; an eager op fails in its kernel"
_SHAPES: dict[str, tuple[tuple[int, ...], ...]] = {
    "outer": ((4, 1), (1, 17)),
    "scalar": ((), (3, 5)),
    "empty": ((0, 3), (3,)),
}


def _spread(domain, *shapes):
    """A recipe: arguments of these shapes, each in its interval."""
    return lambda draw, dtype: tuple(
        draw.uniform(*shape, low=low, high=high).astype(dtype)
        for shape, (low, high) in zip(shapes, domain, strict=True)
    )


def _summed(partials, each):
    """(n - 1 + each) u Σ|g d| for the n terms that broadcasting sums up, each off by `each` units of round-off."""

    def bound(argument):
        def allowed(u, g, *xs):
            terms = np.abs(g * partials[argument](*xs))
            n = np.size(g) // max(1, np.size(xs[argument]))
            return (n - 1 + each) * u * unbroadcast(np.broadcast_to(terms, np.shape(g)), np.shape(xs[argument]))

        return allowed

    return {f"grad[{i}]": bound(i) for i, d in enumerate(partials) if d is not None}


def _broadcast():
    """(name, OpDef, argument names, reference, VJP, intervals, budget, bounds) of what is to be broadcast."""
    named: dict[str, Any] = {
        name: (op, ("x", "y"), budget, 2 * np.max(grad)) for name, (op, budget, grad) in _TABLE.items()
    }
    named["atan2"] = "Atan2", ("y", "x"), _POWERS_AND_ANGLES["atan2"], 5
    named["pow"] = "Pow", ("x", "y"), _POWERS_AND_ANGLES["pow"], 60
    for name, (op, names, budget, each) in named.items():
        f, output = _function(name), _by(budget, FLOATS)
        domain = ((0.5, 3.0), (-2.0, 2.0)) if name == "pow" else f.domain  # small gradients: a wrong 1 shows
        yield name, op, names, f.f, _VJP.get(name, _vjp(name)), domain, output, _summed(f.partials, each)
    for name, (op, reference, condition) in _EXTREMES.items():
        bound = _summed((lambda x, y: 1.0,) * 2, 0)
        yield name, op, ("x", "y"), reference, _chosen_vjp(condition), FUNCTIONS["add"].domain, 0, bound


def _add_n(tf, *xs):
    return tf.raw_ops.AddN(inputs=list(xs))


def _next_is_subnormal(dtype, x, y):
    """Of zero it is, and of the smallest normal number towards it."""
    return (np.abs(x) <= float(ml_dtypes.finfo(dtype).smallest_normal)) & (x != y)


def _beside_zero(draw, dtype):
    """Zeros and the smallest normal numbers, of which the next is subnormal."""
    tiny = ml_dtypes.finfo(dtype).smallest_normal
    x = np.resize(np.array([0.0, -0.0, tiny, -tiny], dtype), 67)
    return x, np.where(np.abs(x) > 0, 0, np.where(np.arange(67) % 3 == 1, -1, 1)).astype(dtype)


def _scaled(exponent):
    """A recipe: numbers whose squares leave the range, which they and their reciprocals do not."""

    def recipe(draw, dtype):
        scale = 2.0 ** int(0.6 * getattr(ml_dtypes.finfo(dtype), exponent))
        return tuple((scale * draw.uniform(67, low=0.5, high=4.0)).astype(dtype) for _ in "yx")

    return recipe


def _subnormal_pairs(draw, dtype):
    """Subnormals with subnormals, and either way with plain numbers."""
    x, y, p, q = (r(draw, dtype)[0] for r in (subnormals, subnormals, plain, plain))
    return np.concatenate([x, x, p]), np.concatenate([np.roll(y, 5), q, y])


SPECS = (
    *(
        Spec(
            name=name,
            ops=op,
            program=_program(op),
            reference=_function(name).f,
            vjp=_VJP.get(name, _vjp(name)),
            recipes=_recipes(name, _function(name)),
            dtypes=FLOATS,
            ulp={"output": _by(output, FLOATS), "grad": _by(grad, FLOATS)},
            tier="smoke" if name == "mul" else "default",
        )
        for name, (op, output, grad) in _TABLE.items()
    ),
    *(
        Spec(
            name=f"{name}{suffix}",
            ops=_TABLE[name][0],
            program=_program(_TABLE[name][0]),
            reference=FUNCTIONS[name].f,
            vjp=vjp,
            recipes={"zeros": recipe},
            dtypes=FLOATS,
            ulp={"grad[0]": 3},
        )
        for name in _MASKED
        for suffix, vjp, recipe in (
            ("-zeros", None, _zero_x),
            ("-zeros-gradient", _vjp(name), within((0.0, 0.0), (0.1, 0.9))),
        )
    ),
    *(
        Spec(
            name=name,
            ops=name.title(),
            program=_program(name.title(), names),
            reference=FUNCTIONS[name].f,
            recipes=_recipes(name, FUNCTIONS[name], gradient=False),
            dtypes=FLOATS,
            ulp={"output": _by(_POWERS_AND_ANGLES[name], FLOATS)},
        )
        for name, names in (("atan2", ("y", "x")), ("pow", ("x", "y")))
    ),
    *(
        Spec(
            name=f"atan2-gradient{name}",
            ops="Atan2",
            program=_program("Atan2", ("y", "x")),
            reference=FUNCTIONS["atan2"].f,
            vjp=_vjp("atan2"),
            recipes={k: normal(r, FUNCTIONS["atan2"]) for k, r in recipes.items()},
            dtypes=FLOATS,
            ulp={"output": _by(_POWERS_AND_ANGLES["atan2"], FLOATS), "grad": 2.5},
        )
        for name, recipes in (
            ("", {"plain": many(plain)}),
            ("-large", {"large": _scaled("maxexp")}),
            ("-small", {"small": _scaled("minexp")}),
        )
    ),
    Spec(
        name="pow-gradient",
        ops="Pow",
        program=_program("Pow"),
        reference=FUNCTIONS["pow"].f,
        vjp=_vjp("pow"),
        recipes={
            "domain": normal(replaced(within(*FUNCTIONS["pow"].domain), _overflow, 2, 3), FUNCTIONS["pow"]),
            "powers": normal(replaced(_powers, _overflow, 2, 3), FUNCTIONS["pow"]),
        },
        dtypes=FLOATS,
        ulp={"output": _by(_POWERS_AND_ANGLES["pow"], FLOATS), "grad[0]": 0.5, "grad[1]": 3},
        bound={"grad[0]": _pow_bound},
    ),
    *(
        Spec(
            name=f"{name}{suffix}",
            ops=op,
            program=_program(op),
            reference=reference,
            vjp=_chosen_vjp(condition),
            recipes=recipes,
            dtypes=FLOATS,
            unsigned_zeros=("output",),
        )
        for name, (op, reference, condition) in _EXTREMES.items()
        for suffix, recipes in (
            ("", {k: replaced(r, _ambiguous, 2, 1) for k, r in _PAIRS.items()}),
            ("-nan", {"nan": _only(_NAN)}),
            ("-zeros", {"zeros": _only(_ZEROS)}),
        )
    ),
    *(
        Spec(
            name=name,
            ops=op,
            program=_program(op),
            reference=f,
            vjp=vjp,
            recipes=recipes,
            dtypes=dtypes,
            ulp={"output": 0.5},
        )
        for name, (op, f, dtypes, vjp, recipes) in _STEPS.items()
    ),
    Spec(
        name="floor-div-infinite",  # https://github.com/tensorflow/tensorflow/issues/74893
        ops="FloorDiv",
        program=_program("FloorDiv"),
        reference=floored,
        recipes={
            "dividend": _cross((np.inf, -np.inf), (1.0, -1.0, 0.3, -0.3, 1000.0)),
            "divisor": _cross((1.4, -1.4, 0.0, -0.0, 1000.0, -1000.0), (np.inf, -np.inf)),
        },
        dtypes=FLOATS,
    ),
    *(
        Spec(
            name=f"{name}-rounded",
            ops=op,
            program=_program(op),
            reference=reference,
            recipes={"quotients": _beyond(reference, rounding, rounded)},
            dtypes=FLOATS,
        )
        for name, op, reference, rounding, rounded in (
            ("floor-div", "FloorDiv", floored, np.floor, _FLOORED),
            ("truncate-div", "TruncateDiv", truncated, np.trunc, _TRUNCATED),
        )
    ),
    *(
        Spec(
            name=f"{name}{suffix}",
            ops=op,
            program=_program(op, names),
            reference=FUNCTIONS[name].f,
            vjp=vjp,
            recipes=recipes,
            dtypes=_WIDE,
            ulp={"output": 0.5},
            bound=_SPECIAL_BOUNDS[name],
        )
        for name, (op, names, inside, outside) in _SPECIAL.items()
        for suffix, vjp, recipes in (
            ("", _vjp(name), _special_domain(name)),
            ("-edges", None, {"edges": normal(inside, FUNCTIONS[name], gradient=False)}),
            ("-outside", None, {"outside": outside, "nan": _cross((np.nan, *_SMALL[:2]), (np.nan, np.nan, 3.0))}),
        )
    ),
    *(
        Spec(
            name=name,
            ops=op,
            program=_program(op, names),
            reference=reference,
            vjp=_no_gradient,
            recipes={"domain": within((0.1, 20.0), (0.1, 20.0), size=199)},
            dtypes=_WIDE,
            bound={"output[0]": bound},
        )
        for name, op, names, reference, bound in (
            ("igamma-grad-a", "IgammaGradA", ("a", "x"), igamma_da, _gradient_output),
            (
                "random-gamma-grad",
                "RandomGammaGrad",
                ("alpha", "sample"),
                gamma_sample_da,
                _relative(gamma_sample_da, _gamma_terms, 80, 3),
            ),
        )
    ),
    Spec(
        name="betainc",
        ops="Betainc",
        program=_program("Betainc", ("a", "b", "x")),
        reference=FUNCTIONS["betainc"].f,
        vjp=_vjp("betainc"),
        recipes={"domain": normal(within(*FUNCTIONS["betainc"].domain, size=199), FUNCTIONS["betainc"])},
        dtypes=_WIDE,
        bound={
            "output[0]": _relative(FUNCTIONS["betainc"].f, _beta_terms, 8, 2),
            "grad[2]": _gradient_bound("betainc", 2, _beta_terms, 8, 3),
        },
    ),
    Spec(
        name="clip-by-value",
        ops="ClipByValue",
        program=_program("ClipByValue", ("t", "clip_value_min", "clip_value_max")),
        reference=lambda t, low, high: np.minimum(np.maximum(t, low), high),
        vjp=_clip_vjp,
        recipes={"bounds": _bounds(1, 3, 67), "scalars": _bounds(0, 2)},
        dtypes=FLOATS,
        bound={f"grad[{i}]": _clip_bound(i) for i in (1, 2)},
    ),
    *(
        Spec(
            name=f"{name}-subnormal",
            ops=op,
            program=_program(op),
            reference=reference,
            recipes={"subnormals": _subnormal_pairs},
            dtypes=FLOATS,
            ulp={"output": 0.5},
            contract={"cpu/*": _flushes(reference)},
        )
        for name, op, reference in (
            ("add", "AddV2", np.add),
            ("div", "RealDiv", np.divide),
            ("mul", "Mul", np.multiply),
            ("sub", "Sub", np.subtract),
        )
    ),
    *(
        Spec(
            name=f"{name}-subnormal{suffix}",
            ops=op,
            program=_program(op),
            reference=reference,
            recipes={"subnormals": lambda draw, dtype: tuple(np.abs(a) for a in _subnormal_pairs(draw, dtype))},
            dtypes=dtypes,
            contract=contract | {"cpu/*": _flushes(reference)},
        )
        for name, (op, reference, condition) in _EXTREMES.items()
        for suffix, dtypes, contract in (
            ("", _NO_BF16, {}),
            ("-bfloat16", ("bfloat16",), {"cpu/xla": _compared(condition)}),
        )
    ),
    Spec(
        name="add-string",
        ops="Add",
        program=_program("Add"),
        reference=lambda x, y: x + y,
        recipes={"plain": many(plain, size=67), "outer": shaped((4, 1), (1, 17))},
        dtypes=("object",),
        modes=("eager", "function", "graph"),  # XLA has no strings
    ),
    Spec(
        name="add-n",
        ops="AddN",
        program=_add_n,
        reference=lambda x, y, z: x.astype(np.longdouble) + y + z,
        vjp=lambda g, x, y, z: (g, g, g),
        recipes={"plain": many(plain, 3), "matrix": shaped(*[(3, 5)] * 3), "empty": shaped(*[(0, 3)] * 3)},
        dtypes=FLOATS,
        bound={"output[0]": lambda u, g, x, y, z: 2 * u * (np.abs(x) + np.abs(y) + np.abs(z))},
    ),
    *(
        Spec(
            name=f"next-after-{dtype}",
            ops="NextAfter",
            program=_program("NextAfter", ("x1", "x2")),
            reference=lambda x, y, d=dtype: np.nextafter(x.astype(d), y.astype(d)),
            vjp=lambda g, x, y: (g, g * 0),
            recipes={k: replaced(r, _next_is_subnormal, 1, 2) for k, r in _PAIRS.items()},
            dtypes=(dtype,),
        )
        for dtype in _WIDE
    ),
    *(
        Spec(
            name=f"next-after-subnormal-{dtype}",
            ops="NextAfter",
            program=_program("NextAfter", ("x1", "x2")),
            reference=lambda x, y, d=dtype: np.nextafter(x.astype(d), y.astype(d)),
            recipes={"zeros": _beside_zero},
            dtypes=(dtype,),
        )
        for dtype in _WIDE
    ),
    *(
        Spec(
            name=f"{name}-broadcast",
            ops=op,
            program=_program(op, names),
            reference=f,
            vjp=vjp,
            recipes={k: _spread(domain, *shapes) for k, shapes in _SHAPES.items()},
            ulp={"output": output},
            bound=bound,
        )
        for name, op, names, f, vjp, domain, output, bound in _broadcast()
    ),
    *(
        Spec(
            name=f"{name.lower()}-incompatible",
            ops=name,
            program=_program(name, names),
            reference=lambda *xs: Raises("ValueError"),
            recipes={"shapes": shaped((2, 3), (4,))},
            contract={"*/eager": Side(reference=lambda *xs: Raises("INVALID_ARGUMENT"), why=_INFERENCE)},
        )
        for name, names in (("AddV2", ("x", "y")), ("Atan2", ("y", "x")), ("Pow", ("x", "y")))
    ),
)
