"""Angles: of the point (x, y)."""

import ml_dtypes
import numpy as np

from tf_opdiff.harness.spec.recipes import FLOATS, plain
from tf_opdiff.suites.forms.binary import broadcast, by_dtype, pairs_of, summed, vjp_of
from tf_opdiff.suites.forms.errors import incompatible
from tf_opdiff.suites.forms.op import op, part
from tf_opdiff.suites.forms.pairs import many, normal
from tf_opdiff.suites.reference.function import Function, wide
from tf_opdiff.suites.reference.wide import mp

_ATAN2 = Function(
    f=wide(np.arctan2),
    partials=(wide(lambda y, x: x / (x * x + y * y)), wide(lambda y, x: -y / (x * x + y * y))),
    exact=mp.atan2,
)
_OUTPUT = by_dtype(0.51, 0.51, 3.5, 3.5)


def _gradient(suffix="", *, positions=False, **recipes):
    """A part: both gradients."""
    return part(
        f"-gradient{suffix}",
        positions=positions,
        vjp=vjp_of(_ATAN2),
        recipes={name: normal(recipe, _ATAN2) for name, recipe in recipes.items()},
        dtypes=FLOATS,
        ulp={"output": _OUTPUT, "grad": 2.5},
    )


def _scaled(exponent):
    """A recipe: numbers whose squares leave the range, which they and their reciprocals do not."""

    def recipe(draw, dtype):
        scale = 2.0 ** int(0.6 * getattr(ml_dtypes.finfo(dtype), exponent))
        return tuple((scale * draw.uniform(67, low=0.5, high=4.0)).astype(dtype) for _ in "yx")

    return recipe


SPECS = op(
    "atan2",
    "Atan2",
    part(positions=True, recipes=pairs_of(_ATAN2, gradient=False), dtypes=FLOATS, ulp={"output": _OUTPUT}),
    _gradient(positions=True, plain=many(plain)),
    _gradient("-large", large=_scaled("maxexp")),
    _gradient("-small", small=_scaled("minexp")),
    broadcast(_ATAN2, vjp_of(_ATAN2), output=_OUTPUT, domain=_ATAN2.domain, bound=summed(_ATAN2.partials, 5)),
    incompatible(),
    reference=_ATAN2,
    arguments=("y", "x"),
)
