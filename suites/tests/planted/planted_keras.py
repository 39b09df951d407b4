"""A layer, a loss, a metric and an optimizer of Keras, each right and with a planted fault: a value that is off."""

import numpy as np

from tf_opdiff.harness.spec.plan import without_modes
from tf_opdiff.harness.spec.spec import Spec
from tf_opdiff.suites.forms.programs.keras_layers import Layer, layers
from tf_opdiff.suites.forms.programs.keras_losses import Loss, losses
from tf_opdiff.suites.forms.programs.keras_metrics import Metric, metrics, weighted_mean
from tf_opdiff.suites.forms.recipes.elements import from_one, plain
from tf_opdiff.suites.programs.api.keras import optimizer_classes
from tf_opdiff.suites.reference.promises.running import bound

#: Far beyond rounding, and far below what an eye would see.
_OFF = 1 + 2.0**-10


def _both(name, form, make, recipes):
    """The spec of what `make(1)` gives, and that of `make(_OFF)`, whose result is off."""
    return form(f"planted-{name}", make(1.0), recipes=recipes), form(f"planted-{name}-off", make(_OFF), recipes=recipes)


def _dense(factor):
    return Layer(
        name="Dense",
        make=lambda tf, d: tf.keras.layers.Dense(3, dtype=d),
        call=lambda layer, x: layer(x) * factor,
        built=1,
        formula=lambda x, kernel, bias: x @ kernel + bias,
        shapes=((4, 5),),
        weights=((5, 3), (3,)),
        units=4,
    )


def _loss(factor):
    return Loss(
        name="MeanSquaredError",
        make=lambda tf, r, d: lambda *xs, **more: factor * tf.keras.losses.MeanSquaredError(r, dtype=d)(*xs, **more),
        formula=lambda t, p: np.mean((t - p) ** 2, axis=-1),
        units=4,
    )


def _metric(factor):
    return Metric(
        name="Mean",
        make=lambda tf, d: tf.keras.metrics.Mean(dtype=d),
        formula=lambda x, weights: factor * weighted_mean(lambda x: x)(x, weights),
        shapes=((4,),),
    )


def _optimizer(name, factor):
    make, reference = optimizer_classes.OPTIMIZERS["Lamb"]
    return Spec(
        name=name,
        program=lambda tf, state, w, gradients: optimizer_classes.steps(tf, state, w, gradients) * factor,
        state=optimizer_classes.state_of(make),
        reference=reference,
        recipes={"training": optimizer_classes.training},
        ops="",
        bound={"output": bound(reference, 0)},
        modes=without_modes("graph"),
    )


SPECS = (
    *_both("dense", layers, _dense, {"plain": plain}),
    *_both("loss", losses, _loss, {"plain": (plain, plain, from_one)}),
    *_both("metric", metrics, _metric, {"plain": (plain, plain, from_one)}),
    _optimizer("planted-optimizer", 1.0),
    _optimizer("planted-optimizer-off", _OFF),
)
