"""L2Loss: half of a sum of squares. Errors count roundings: see `suites.reference.neural_networks.loss`."""

import ml_dtypes
import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import FLOATS
from tf_opdiff.suites.derived.sizes import EMPTY
from tf_opdiff.suites.forms.aspects import in_shapes, second_order, small
from tf_opdiff.suites.forms.calls import call
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.part import part, tiered
from tf_opdiff.suites.forms.recipes.elements import plain
from tf_opdiff.suites.forms.recipes.logits import SUBNORMAL
from tf_opdiff.suites.forms.reductions.reduction_recipes import RECIPES
from tf_opdiff.suites.reference.neural_networks import loss as ref
from tf_opdiff.suites.reference.promises.promise import OfOneTensor
from tf_opdiff.suites.reference.promises.subnormal import flushed_in, wholes

_NUMBERS = {label: recipe for label, recipe in RECIPES.items() if label not in ("large", "upstreams")}
_SQUARES = OfOneTensor(
    f=ref.half_squares,
    vjp=ref.half_squares_vjp,
    jvp=ref.half_squares_jvp,
    hvp=ref.half_squares_hvp,
    error=ref.half_squares_error,
    grad_error=lambda u, g, x: u * np.abs(g * x),
    jvp_error=ref.half_squares_jvp_error,
    alternatives=lambda dtype, x: wholes(flushed_in(dtype, ref.half_squares(flushed_in(dtype, x)))),
    grad_alternatives=lambda dtype, g, x: wholes(flushed_in(dtype, g * flushed_in(dtype, x))),
    hvp_error=lambda u, g, t, x: u * np.abs(g * t),
)


def _large(draw, dtype):
    """Numbers whose squares have a sum just in range."""
    return (np.full((3, 5, 7), 2.0 ** (int(ml_dtypes.finfo(dtype).maxexp) // 2 - 4)).astype(dtype),)


SPECS = (
    *op(
        "l2-loss",
        "L2Loss",
        part(recipes={**_NUMBERS, "large": _large}, ulp=SUBNORMAL),
        second_order({"short": lambda draw, dtype: (draw.values(dtype, 7),)}),
        small(in_shapes(EMPTY, plain)),
        promise=_SQUARES,
        calls={"all": call()},
        dtypes=tiered(FLOATS),
    ),
)
