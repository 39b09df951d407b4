"""Softmax and its logarithm. Errors follow from the distances of the logits: see
`suites.reference.neural_networks.softmax`."""

import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import FLOATS
from tf_opdiff.harness.spec.tolerances.loose import Loose
from tf_opdiff.suites.derived.sizes import EMPTY
from tf_opdiff.suites.forms.aspects import batches, in_shapes, second_order, small
from tf_opdiff.suites.forms.blocks import SHORT
from tf_opdiff.suites.forms.calls import call
from tf_opdiff.suites.forms.elementwise.special_upstreams import every_kind
from tf_opdiff.suites.forms.op import also, op
from tf_opdiff.suites.forms.part import part, tiered
from tf_opdiff.suites.forms.recipes import ordinary
from tf_opdiff.suites.forms.recipes.elements import plain, uniform
from tf_opdiff.suites.forms.recipes.logits import INF, LOGITS, SUBNORMAL
from tf_opdiff.suites.forms.recipes.rows import SHAPE, rows
from tf_opdiff.suites.reference.neural_networks import softmax as ref
from tf_opdiff.suites.reference.promises.promise import OfOneTensor
from tf_opdiff.suites.reference.promises.subnormal import flushed_in, wholes

_CANCELS = {"hvp": Loose(reason="a second derivative is a difference of sums of products, which may cancel")}
_ONE = {"rows": call()}


_PARTS = (
    part(recipes=LOGITS, upstreams={"upstreams": every_kind}, ulp=SUBNORMAL),
    batches(_ONE, lambda draw, dtype: (draw.values(dtype, 4, 131),), ulp=SUBNORMAL),
    # Logits next to each other: no share is small, and few terms of a second derivative cancel.
    second_order(in_shapes({"near": SHAPE}, uniform), loose=_CANCELS),
    small(in_shapes(EMPTY, uniform)),
    also(
        "-blocks",
        calls={"long": call((3, 1100)), "blocks": call((2, 4201))},
        recipes={"plain": plain},
        dtypes=SHORT,
        ulp=SUBNORMAL,
    ),
)
_SHARED = {
    "calls": _ONE,
    "dtypes": tiered(FLOATS),
    # Rows that have no distribution: NaN; +inf; -inf alone.
    "forward": {"special": rows([np.nan, 1.0, 2.0], [-INF], [np.nan], [0.5, -INF])},
}
SPECS = (
    *op(
        "log-softmax",
        "LogSoftmax",
        *_PARTS,
        promise=OfOneTensor(
            f=ref.log_softmax,
            vjp=ref.log_softmax_vjp,
            jvp=ref.log_softmax_jvp,
            hvp=ref.log_softmax_hvp,
            error=ref.log_softmax_error,
            grad_error=ref.log_softmax_vjp_error,
            jvp_error=ref.log_softmax_jvp_error,
            hvp_error=ref.log_softmax_hvp_error,
        ),
        **_SHARED,
        ordinary=ordinary.IN_OWN_RECIPES,
    ),
    *op(
        "softmax",
        "Softmax",
        *_PARTS,
        promise=OfOneTensor(
            f=ref.softmax,
            vjp=ref.softmax_vjp,
            jvp=ref.softmax_jvp,
            hvp=ref.softmax_hvp,
            error=ref.softmax_error,
            grad_error=ref.softmax_vjp_error,
            jvp_error=ref.softmax_jvp_error,
            hvp_error=ref.softmax_hvp_error,
            alternatives=lambda dtype, x: wholes(flushed_in(dtype, ref.softmax(x))),
        ),
        **_SHARED,
        ordinary=ordinary.IN_OWN_RECIPES,
    ),
)
