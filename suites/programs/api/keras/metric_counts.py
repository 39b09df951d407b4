"""Metrics of right and wrong answers: https://keras.io/api/metrics/."""

from functools import partial

import numpy as np

from tf_opdiff.suites.forms.programs.keras_metrics import Metric, metrics, of_both_batches, weighted_mean
from tf_opdiff.suites.forms.recipes.elements import below, shares
from tf_opdiff.suites.reference.keras import confusion as of

#: Targets and predictions of six samples, of four samples and five classes, of both.
_ONE = ((6,), (6,))
_CLASSES = ((4, 5), (4, 5))
_SPARSE = ((4,), (4, 5))
_TWO = (0.25, 0.625)


def _bits(draw, dtype, *shape):
    """Zeros and ones; each of the first two samples is another one."""
    bits = draw.booleans(*shape)
    bits.reshape(-1)[:2] = (False, True)
    return bits.astype(dtype)


def _one_hot(draw, dtype, *shape):
    return np.eye(shape[-1])[draw.integers(*shape[:-1], low=0, high=shape[-1])].astype(dtype)


def _counted(name, make, number):
    """One of the four counts."""
    return Metric(
        name=name, make=make, formula=lambda t, p, weights: of.counts(t, p, weights, _TWO)[number], shapes=_ONE, units=2
    )


def _right(name, make, is_right, shapes=_CLASSES, label=""):
    return Metric(name=name, make=make, formula=weighted_mean(is_right), shapes=shapes, label=label)


def _in_top(classes, p, k):
    """Whether fewer than k predictions are larger than that of the class."""
    own = np.take_along_axis(p.real, classes[:, None], axis=-1)
    return np.sum(p.real > own, axis=-1) < k


def _argmax(x):
    return np.argmax(x.real, axis=-1)


SPECS = (
    metrics(
        "api-keras-counts",
        _counted("TruePositives", lambda tf, d: tf.keras.metrics.TruePositives(thresholds=[0.25, 0.625], dtype=d), 0),
        _counted("FalsePositives", lambda tf, d: tf.keras.metrics.FalsePositives(thresholds=[0.25, 0.625], dtype=d), 1),
        _counted("TrueNegatives", lambda tf, d: tf.keras.metrics.TrueNegatives(thresholds=[0.25, 0.625], dtype=d), 2),
        _counted("FalseNegatives", lambda tf, d: tf.keras.metrics.FalseNegatives(thresholds=[0.25, 0.625], dtype=d), 3),
        Metric(
            name="Precision",
            make=lambda tf, d: tf.keras.metrics.Precision(dtype=d),
            formula=lambda t, p, weights: of.precision(of.counts(t, p, weights, (0.5,)))[0],
            shapes=_ONE,
        ),
        Metric(
            name="Recall",
            make=lambda tf, d: tf.keras.metrics.Recall(thresholds=[0.25, 0.625], dtype=d),
            formula=lambda t, p, weights: of.recall(of.counts(t, p, weights, _TWO)),
            shapes=_ONE,
        ),
        Metric(
            name="AUC",
            make=lambda tf, d: tf.keras.metrics.AUC(num_thresholds=5, dtype=d),
            formula=partial(of.area, thresholds=5),
            shapes=_ONE,
            units=24,
        ),
        Metric(
            name="PrecisionAtRecall",
            make=lambda tf, d: tf.keras.metrics.PrecisionAtRecall(0.5, num_thresholds=5, dtype=d),
            formula=of.best(of.precision, of.recall, 0.5, 5),
            shapes=_ONE,
        ),
        Metric(
            name="RecallAtPrecision",
            make=lambda tf, d: tf.keras.metrics.RecallAtPrecision(0.5, num_thresholds=5, dtype=d),
            formula=of.best(of.recall, of.precision, 0.5, 5),
            shapes=_ONE,
        ),
        Metric(
            name="SensitivityAtSpecificity",
            make=lambda tf, d: tf.keras.metrics.SensitivityAtSpecificity(0.5, num_thresholds=5, dtype=d),
            formula=of.best(of.recall, of.specificity, 0.5, 5),
            shapes=_ONE,
        ),
        Metric(
            name="SpecificityAtSensitivity",
            make=lambda tf, d: tf.keras.metrics.SpecificityAtSensitivity(0.5, num_thresholds=5, dtype=d),
            formula=of.best(of.specificity, of.recall, 0.5, 5),
            shapes=_ONE,
        ),
        Metric(
            name="BinaryIoU",
            make=lambda tf, d: tf.keras.metrics.BinaryIoU(threshold=0.625, dtype=d),
            formula=lambda t, p, weights: of.overlaps(t, p >= 0.625, weights, (0, 1)),
            shapes=_ONE,
        ),
        recipes={"plain": of_both_batches(_bits, shares)},
        ops="Greater;Sum",
    ),
    metrics(
        "api-keras-accuracies",
        _right(
            "BinaryAccuracy",
            lambda tf, d: tf.keras.metrics.BinaryAccuracy(threshold=0.625, dtype=d),
            lambda t, p: np.mean((p > 0.625) == (t == 1), axis=-1),
        ),
        _right(
            "CategoricalAccuracy",
            lambda tf, d: tf.keras.metrics.CategoricalAccuracy(dtype=d),
            lambda t, p: _argmax(t) == _argmax(p),
        ),
        Metric(
            name="F1Score",
            make=lambda tf, d: tf.keras.metrics.F1Score(threshold=0.5, dtype=d),
            formula=partial(of.f_scores, beta=1.0, threshold=0.5),
            shapes=_CLASSES,
            units=12,
        ),
        Metric(
            name="FBetaScore",
            make=lambda tf, d: tf.keras.metrics.FBetaScore(beta=2.0, threshold=0.5, average="macro", dtype=d),
            formula=lambda *xs: np.mean(of.f_scores(*xs, beta=2.0, threshold=0.5)),
            shapes=_CLASSES,
            units=12,
        ),
        Metric(
            name="OneHotIoU",
            make=lambda tf, d: tf.keras.metrics.OneHotIoU(num_classes=5, target_class_ids=[0, 2], dtype=d),
            formula=lambda t, p, weights: of.overlaps(_argmax(t), _argmax(p), weights, (0, 2)),
            shapes=_CLASSES,
        ),
        Metric(
            name="OneHotMeanIoU",
            make=lambda tf, d: tf.keras.metrics.OneHotMeanIoU(num_classes=5, dtype=d),
            formula=lambda t, p, weights: of.overlaps(_argmax(t), _argmax(p), weights, range(5)),
            shapes=_CLASSES,
        ),
        recipes={"plain": of_both_batches(_one_hot, shares)},
        ops="ArgMax;Equal",
    ),
    metrics(
        "api-keras-sparse-accuracies",
        _right(
            "SparseCategoricalAccuracy",
            lambda tf, d: tf.keras.metrics.SparseCategoricalAccuracy(dtype=d),
            lambda t, p: _argmax(p) == t,
            _SPARSE,
        ),
        recipes={"plain": of_both_batches(below(4), shares)},
        ops="ArgMax",
    ),
    metrics(
        "api-keras-top-of-one-hot",
        _right(
            "TopKCategoricalAccuracy",
            lambda tf, d: tf.keras.metrics.TopKCategoricalAccuracy(k=2, dtype=d),
            lambda t, p: _in_top(_argmax(t), p, 2),
        ),
        recipes={"plain": of_both_batches(_one_hot, shares)},
        ops="InTopKV2",
    ),
    metrics(
        "api-keras-top",
        _right(
            "SparseTopKCategoricalAccuracy",
            lambda tf, d: tf.keras.metrics.SparseTopKCategoricalAccuracy(k=2, dtype=d),
            lambda t, p: _in_top(t, p, 2),
            _SPARSE,
        ),
        recipes={"plain": of_both_batches(below(4), shares)},
        ops="InTopKV2",
    ),
    metrics(
        "api-keras-overlaps",
        _right("Accuracy", lambda tf, d: tf.keras.metrics.Accuracy(dtype=d), lambda t, p: t == p, _ONE),
        Metric(
            name="IoU",
            make=lambda tf, d: tf.keras.metrics.IoU(num_classes=4, target_class_ids=[1, 3], dtype=d),
            formula=lambda t, p, weights: of.overlaps(t, p, weights, (1, 3)),
            shapes=_ONE,
        ),
        Metric(
            name="MeanIoU",
            make=lambda tf, d: tf.keras.metrics.MeanIoU(num_classes=4, dtype=d),
            formula=lambda t, p, weights: of.overlaps(t, p, weights, range(4)),
            shapes=_ONE,
        ),
        recipes={"plain": of_both_batches(below(4), below(4))},
        ops="Equal",
    ),
)
