"""Skipping a layer of a Keras model that is fitted: the claims."""

from functools import partial

import numpy as np

from tf_opdiff.harness.spec.spec import Spec
from tf_opdiff.suites.claims.c05_fitted_model import program, reference
from tf_opdiff.suites.claims.c05_layers.topic import TOPIC
from tf_opdiff.suites.claims.evidence import CUSTOM_GRADIENT, PY_FUNC, map_of
from tf_opdiff.suites.reference.promises import running

FIT = "called:keras.layers.Lambda;called:keras.Model.fit"
UNSEEN = "Keras differentiates by a tape, which never sees the map: the gradient is None, and the weights before stay"


def _model(draw, dtype):
    """Four examples of three numbers, their labels, and the weights of two units before the layer and one after."""
    shapes = ((4, 3), (4, 1), (3, 2), (2, 1))
    return tuple(draw.uniform(*shape).astype(dtype) for shape in shapes)


def _bounds(trained):
    """The running errors of both weights; it does not matter how Keras runs a step."""
    bounds = (running.bound(trained, i) for i in range(2))
    return {f"output[{i}]": lambda u, g, *x, eagerly, b=b: b(u, g, *x) for i, b in enumerate(bounds)}


Fitted = partial(
    Spec,
    reference=reference.skipped,
    bound=_bounds(reference.skipped),
    recipes={"model": _model},
    attrs={"compiled": {"eagerly": False}, "eagerly": {"eagerly": True}},
    ops="Sub",
    modes=("eager",),  # fit makes a graph itself, and is no op of one
)

SPECS = (
    Fitted(
        name="claim-c05-fit-by-py-func",
        program=program.fit_by_py_func,
        reference=lambda *inputs, eagerly: (*reference.stopped(*inputs), np.True_),
        bound=_bounds(reference.stopped),
        constant=("output[2]",),  # whether there is a gradient, which Python knows
        evidence=f"{FIT};{PY_FUNC};{map_of('PyFunc', 'SkipFittedLayer')}",
        claims=(
            TOPIC.claim(
                "i",
                "In a Keras model that is fitted, a Lambda of py_func with an overridden gradient is left out of "
                "the derivative.",
                "output[0]",
                reference=reference.skipped,
                refuted={"*/*": UNSEEN},
                instead="claim-c05-fit-by-custom-gradient",
            ),
        ),
    ),
    Fitted(
        name="claim-c05-fit-by-called-py-func",
        program=program.fit_by_called_py_func,
        evidence=f"{FIT};{PY_FUNC};called:function;replaced:PyFunc=SkipFittedLayer",
        claims=(
            TOPIC.claim(
                "j",
                "In a model that is fitted, it is left out if the Lambda calls a tf.function with the map inside.",
                "output[0]",
            ),
        ),
    ),
    Fitted(
        name="claim-c05-fit-by-custom-gradient",
        program=program.fit_by_custom_gradient,
        evidence=f"{FIT};{CUSTOM_GRADIENT}",
        claims=(
            TOPIC.claim(
                "k",
                "In a model that is fitted, a Lambda of tf.custom_gradient is left out of the derivative.",
                "output[0]",
            ),
        ),
    ),
)
