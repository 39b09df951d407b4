"""Classes of losses whose targets are numbers of classes: https://keras.io/api/losses/."""

import numpy as np

from tf_opdiff.harness.spec.plan import without_modes
from tf_opdiff.suites.forms.programs.keras_losses import Loss, losses
from tf_opdiff.suites.forms.recipes.elements import from_one, shares, uniform
from tf_opdiff.suites.reference.keras import losses as of
from tf_opdiff.suites.reference.keras.alignment import alignment_loss


def _short(draw, dtype, *shape):
    """Vectors of two numbers that are no longer than 1."""
    return draw.uniform(*shape, low=-0.625, high=0.625).astype(dtype)


def _classes(draw, dtype, *shape):
    """The numbers of two classes, each twice."""
    return np.resize([1, 3, 3, 1], shape).astype(np.int32)


def _words(draw, dtype, *shape):
    """Labels from 1 on; zeros fill short ones."""
    return np.resize([[1, 2, 2], [3, 0, 0], [2, 1, 0], [1, 3, 1]], shape).astype(np.int32)


SPECS = (
    losses(
        "api-keras-losses-of-classes",
        Loss(
            name="SparseCategoricalCrossentropy",
            make=lambda tf, r, d: tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction=r, dtype=d),
            formula=lambda t, p: -np.log(of.shares(p)[np.arange(len(t)), t]),
            units=12,
            shapes=((4,), (4, 5)),
        ),
        Loss(
            name="SparseCategoricalCrossentropy",
            label="ignored class",
            make=lambda tf, r, d: tf.keras.losses.SparseCategoricalCrossentropy(
                from_logits=True, ignore_class=3, reduction=r, dtype=d
            ),
            formula=lambda t, p: np.where(t == 3, 0, -np.log(of.shares(p)[np.arange(len(t)), t])),
            units=12,
            shapes=((4,), (4, 5)),
            reductions=("none",),
        ),
        Loss(
            name="Circle",
            make=lambda tf, r, d: tf.keras.losses.Circle(gamma=2.0, margin=0.25, reduction=r, dtype=d),
            formula=of.circle,
            units=24,
            shapes=((4,), (4, 2)),
        ),
        recipes={"plain": (_classes, _short, from_one)},
        ops="SparseSoftmaxCrossEntropyWithLogits;Softplus",
    ),
    losses(
        "api-keras-generalized-cross-entropy",
        Loss(
            name="CategoricalGeneralizedCrossEntropy",
            make=lambda tf, r, d: tf.keras.losses.CategoricalGeneralizedCrossEntropy(q=0.5, reduction=r, dtype=d),
            formula=of.generalized,
            units=12,
            shapes=((4,), (4, 5)),
        ),
        recipes={"plain": (_classes, shares, from_one)},
        ops="Pow",
    ),
    losses(
        "api-keras-ctc",
        Loss(
            name="CTC",
            make=lambda tf, r, d: tf.keras.losses.CTC(reduction=r, dtype=d),
            formula=alignment_loss,
            units=32,
            shapes=((4, 3), (4, 6, 4)),
        ),
        recipes={"plain": (_words, uniform, from_one)},
        modes=without_modes("graph"),  # Keras compares labels with !=, which compares tensors of v1 graphs by identity
    ),
)
