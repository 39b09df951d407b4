"""Clip: numbers clipped to bounds."""

import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import COMPLEX, FLOATS, bit_patterns
from tf_opdiff.suites.derived.hessian import Hessian
from tf_opdiff.suites.forms.elementwise.binary import UPSTREAMS
from tf_opdiff.suites.forms.elementwise.complex import ordered_parts
from tf_opdiff.suites.forms.elementwise.flushed import outputs
from tf_opdiff.suites.forms.of_xla import of_xla
from tf_opdiff.suites.forms.op import op, with_sizes
from tf_opdiff.suites.forms.part import part, tiered, unconnected
from tf_opdiff.suites.forms.recipes.hard_pairs import special_values
from tf_opdiff.suites.forms.recipes.pairs import many
from tf_opdiff.suites.reference.elementwise.broadcast import unbroadcast
from tf_opdiff.suites.reference.elementwise.complex import clip_parts
from tf_opdiff.suites.reference.promises.function import Function
from tf_opdiff.suites.reference.promises.subnormal import flushed_in, wholes


def _clip_vjp(g, t, low, high):
    """The argument that is the result gets the upstream; the two others get zeros."""
    below, above = t < low, t > high
    zero = np.zeros_like(g)
    parts = np.where(below | above, zero, g), np.where(below, g, zero), np.where(above, g, zero)
    return tuple(unbroadcast(p, np.shape(x)) for p, x in zip(parts, (t, low, high), strict=True))


def _clip_bound(argument):
    """(n - 1) u Σ|g| for the n terms that a scalar bound sums up: 0 where there is one term."""
    return lambda u, g, *xs: (np.size(g) // max(1, np.size(xs[argument])) - 1) * u * _clip_vjp(np.abs(g), *xs)[argument]


def _bounds(low, high, *shape):
    """A recipe: numbers to clip, and bounds of that shape, lower bounds below upper ones."""
    return lambda draw, d: (
        draw.values(d, 67),
        draw.uniform(*shape, low=-3, high=low).astype(d),
        draw.uniform(*shape, low=low, high=high).astype(d),
    )


def _ordered(draw, dtype):
    """Random bits, and bounds in order."""
    t, x, y = many(bit_patterns, 3)(draw, dtype)
    return t, np.minimum(x, y), np.maximum(x, y)


def _scalar_bounds(draw, dtype):
    return draw.values(dtype, 67), np.array(1, dtype), np.array(4, dtype)


def _special_bounds(draw, dtype):
    """Every special value between every two special bounds in order, equal ones too."""
    t, low, high = (a.ravel() for a in np.meshgrid(*[special_values(dtype)] * 3, indexing="ij"))
    ordered = low <= high
    return t[ordered], low[ordered], high[ordered]


def _clipped(t, low, high):
    return np.minimum(np.maximum(t, low), high)


def _either_clipped(dtype, g, *xs):
    """The alternatives of a clipped number: subnormals may count as zeros in the comparisons, or in the result."""
    t, low, high = (flushed_in(dtype, x) for x in xs)
    chosen = np.where(t < low, xs[1], np.where(t > high, xs[2], xs[0]))
    return [(chosen,), *outputs(_clipped)(dtype, g, *xs)]


def _either_clip_gradient(argument):
    """The alternatives of a gradient: the comparisons are those of flushed numbers, or the upstream is flushed."""

    def alternatives(dtype, g, *xs):
        zeros = [flushed_in(dtype, x) for x in xs]
        upstreams = (g, flushed_in(dtype, g))
        return wholes(*(_clip_vjp(u, *each)[argument] for u in upstreams for each in (xs, zeros)))

    return alternatives


_CLIPPED = Function(
    f=_clipped,
    partials=tuple(lambda *xs, i=i: _clip_vjp(np.ones(np.shape(xs[0])), *xs)[i] for i in range(3)),
    exact=lambda t, low, high: min(max(t, low), high),
    domain=((-4.0, 4.0), (-3.0, -0.5), (0.5, 3.0)),
)
#: Both bounds with numbers on them, next to them and far away.
_LINEAR = Hessian(
    function=_CLIPPED,
    terms={},
    jvp=0,
    points=((0.0, -0.0, 1.0, -1.0, 2.0, 5.0, np.inf, -np.inf, np.nan), (-np.inf, -1.0, -0.5), (1.0, 2.0, np.inf)),
    sizes=False,
)

SPECS = (
    *op(
        "clip-by-value",
        "ClipByValue",
        part(
            vjp=_clip_vjp,
            recipes={"bounds": _bounds(1, 3, 67), "scalars": _bounds(0, 2)},
            dtypes=FLOATS,
            bound={f"grad[{i}]": _clip_bound(i) for i in (1, 2)},
            hessian=_LINEAR,
        ),
        with_sizes(
            part(
                "-integer",
                positions=True,
                vjp=unconnected,
                recipes={"bits": _ordered, "scalars": _scalar_bounds},
                dtypes=("int8", "int16", "int32", "int64", "uint8", "uint16"),
            )
        ),
        part(
            "-special",
            positions=True,
            dtypes=tiered(FLOATS),
            vjp=_clip_vjp,
            recipes={"edges": _special_bounds, "upstreams": _special_bounds},
            unsigned_zeros=("output",),
            upstreams=UPSTREAMS,
            alternatives={"output": _either_clipped} | {f"grad[{i}]": _either_clip_gradient(i) for i in range(3)},
        ),
        part("-complex", reference=clip_parts, recipes={"plain": ordered_parts}, dtypes=COMPLEX, tier="full"),
        of_xla(("uint32", "uint64"), recipes={"bits": _ordered, "scalars": _scalar_bounds}),
        reference=_clipped,
    ),
)
