"""Classes of losses, with their reductions: https://keras.io/api/losses/."""

import numpy as np

from tf_opdiff.suites.forms.programs.keras_losses import REDUCTIONS, Loss, losses
from tf_opdiff.suites.forms.recipes.elements import distributions, from_one, plain, shares
from tf_opdiff.suites.reference.keras import losses as of


def _signs(draw, dtype, *shape):
    return np.where(draw.booleans(*shape), 1.0, -1.0).astype(dtype)


def _bits(draw, dtype, *shape):
    return draw.booleans(*shape).astype(dtype)


SPECS = (
    losses(
        "api-keras-regression-losses",
        Loss(
            name="MeanSquaredError",
            make=lambda tf, r, d: tf.keras.losses.MeanSquaredError(reduction=r, dtype=d),
            formula=lambda t, p: of.mean((t - p) ** 2),
            units=4,
            reductions=tuple(REDUCTIONS),
        ),
        Loss(
            name="MeanAbsoluteError",
            make=lambda tf, r, d: tf.keras.losses.MeanAbsoluteError(reduction=r, dtype=d),
            formula=lambda t, p: of.mean(of.size(t - p)),
            units=4,
        ),
        Loss(
            name="MeanAbsolutePercentageError",
            make=lambda tf, r, d: tf.keras.losses.MeanAbsolutePercentageError(reduction=r, dtype=d),
            formula=lambda t, p: 100 * of.mean(of.size(t - p) / of.size(t)),
            units=8,
        ),
        Loss(
            name="Huber",
            make=lambda tf, r, d: tf.keras.losses.Huber(delta=2.0, reduction=r, dtype=d),
            formula=of.huber,
            units=6,
        ),
        Loss(
            name="LogCosh",
            make=lambda tf, r, d: tf.keras.losses.LogCosh(reduction=r, dtype=d),
            formula=of.log_cosh,
            mistaken=of.log_cosh_by_float32,
            units=8,
            grad_units=32,
        ),
        Loss(
            name="CosineSimilarity",
            make=lambda tf, r, d: tf.keras.losses.CosineSimilarity(reduction=r, dtype=d),
            formula=lambda t, p: -np.sum(of.unit(t) * of.unit(p), axis=-1),
            units=8,
        ),
        recipes={"plain": (plain, plain, from_one)},
        ops="Square;Abs;Softplus",
    ),
    losses(
        "api-keras-probability-losses",
        Loss(
            name="MeanSquaredLogarithmicError",
            make=lambda tf, r, d: tf.keras.losses.MeanSquaredLogarithmicError(reduction=r, dtype=d),
            formula=lambda t, p: of.mean((np.log(p + 1) - np.log(t + 1)) ** 2),
            units=24,
            grad_units=64,  # a difference of logarithms of about 1/2
        ),
        Loss(
            name="Poisson",
            make=lambda tf, r, d: tf.keras.losses.Poisson(reduction=r, dtype=d),
            formula=lambda t, p: of.mean(p - t * np.log(p + of.FUZZ)),
            units=8,
        ),
        Loss(
            name="KLDivergence",
            make=lambda tf, r, d: tf.keras.losses.KLDivergence(reduction=r, dtype=d),
            formula=lambda t, p: np.sum(t * np.log(t / p), axis=-1),
            units=8,
        ),
        Loss(
            name="BinaryCrossentropy",
            make=lambda tf, r, d: tf.keras.losses.BinaryCrossentropy(label_smoothing=0.25, reduction=r, dtype=d),
            formula=lambda t, p: of.mean(of.binary(of.smooth(t, 0.5), p)),
            units=12,
        ),
        Loss(
            name="BinaryFocalCrossentropy",
            make=lambda tf, r, d: tf.keras.losses.BinaryFocalCrossentropy(
                apply_class_balancing=True, reduction=r, dtype=d
            ),
            formula=lambda t, p: of.mean((0.25 * t + 0.75 * (1 - t)) * of.focal(t, p)),
            units=16,
        ),
        Loss(
            name="CategoricalCrossentropy",
            make=lambda tf, r, d: tf.keras.losses.CategoricalCrossentropy(label_smoothing=0.25, reduction=r, dtype=d),
            formula=lambda t, p: np.sum(-of.smooth(t, 0.2) * np.log(p / np.sum(p, axis=-1, keepdims=True)), axis=-1),
            units=12,
        ),
        Loss(
            name="CategoricalFocalCrossentropy",
            make=lambda tf, r, d: tf.keras.losses.CategoricalFocalCrossentropy(reduction=r, dtype=d),
            formula=of.categorical_focal,
            units=16,
        ),
        Loss(
            name="Dice",
            make=lambda tf, r, d: tf.keras.losses.Dice(axis=-1, reduction=r, dtype=d),
            formula=lambda t, p: 1 - 2 * np.sum(t * p, -1) / (np.sum(t, -1) + np.sum(p, -1) + of.FUZZ),
            units=8,
        ),
        Loss(
            name="Tversky",
            make=lambda tf, r, d: tf.keras.losses.Tversky(alpha=0.25, beta=0.75, axis=-1, reduction=r, dtype=d),
            formula=lambda t, p: 1 - np.sum(t * p, -1) / (0.25 * np.sum(t, -1) + 0.75 * np.sum(p, -1) + of.FUZZ),
            units=12,
        ),
        recipes={"plain": (shares, shares, from_one)},
        ops="Log;Pow",
    ),
    losses(
        "api-keras-logit-losses",
        Loss(
            name="BinaryCrossentropy",
            make=lambda tf, r, d: tf.keras.losses.BinaryCrossentropy(from_logits=True, reduction=r, dtype=d),
            formula=lambda t, p: of.mean(np.log(1 + np.exp(p)) - t * p),
            units=12,
        ),
        Loss(
            name="BinaryFocalCrossentropy",
            make=lambda tf, r, d: tf.keras.losses.BinaryFocalCrossentropy(from_logits=True, reduction=r, dtype=d),
            formula=lambda t, p: of.mean(of.focal(t, 1 / (1 + np.exp(-p)))),
            units=64,  # 1 - p loses digits where p is near 1: 1 + e^4 is 56
        ),
        recipes={"plain": (shares, plain, from_one)},
        ops="Log1p;Sigmoid",
    ),
    losses(
        "api-keras-losses-of-distributions",
        Loss(
            name="CategoricalCrossentropy",
            make=lambda tf, r, d: tf.keras.losses.CategoricalCrossentropy(from_logits=True, reduction=r, dtype=d),
            formula=lambda t, p: np.sum(-t * np.log(of.shares(p)), axis=-1),
            units=12,
        ),
        Loss(
            name="CategoricalHinge",
            make=lambda tf, r, d: tf.keras.losses.CategoricalHinge(reduction=r, dtype=d),
            formula=of.categorical_hinge,
            units=6,
        ),
        recipes={"plain": (distributions, plain, from_one)},
        ops="SoftmaxCrossEntropyWithLogits;Max",
    ),
    losses(
        "api-keras-hinge-losses",
        Loss(
            name="Hinge",
            make=lambda tf, r, d: tf.keras.losses.Hinge(reduction=r, dtype=d),
            formula=lambda t, p: of.mean(of.hinge(t, p)),
            units=4,
        ),
        Loss(
            name="SquaredHinge",
            make=lambda tf, r, d: tf.keras.losses.SquaredHinge(reduction=r, dtype=d),
            formula=lambda t, p: of.mean(of.hinge(t, p) ** 2),
            units=6,
        ),
        recipes={"plain": (_signs, plain, from_one), "binary": (_bits, plain, from_one)},
        ops="Maximum;Square",
    ),
)
