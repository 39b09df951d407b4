"""Metrics that are means over the samples: https://keras.io/api/metrics/."""

import numpy as np

from tf_opdiff.suites.forms.programs.keras_metrics import Metric, metrics, of_both_batches, weighted_mean
from tf_opdiff.suites.forms.recipes.elements import below, distributions, from_one, plain, shares
from tf_opdiff.suites.reference.keras import losses as of

#: Samples, and numbers of each.
_SHAPES = ((4, 5), (4, 5))
_ONE = ((4,),)


def _deviation(x):
    return x - np.mean(x, axis=-1, keepdims=True)


def _pearson(t, p):
    t, p = _deviation(t), _deviation(p)
    return of.mean(t * p) / np.sqrt(of.mean(t * t) * of.mean(p * p))


def _concordance(t, p):
    """https://en.wikipedia.org/wiki/Concordance_correlation_coefficient."""
    off = (of.mean(t) - of.mean(p)) ** 2
    t, p = _deviation(t), _deviation(p)
    return 2 * of.mean(t * p) / (of.mean(t * t) + of.mean(p * p) + off + of.FUZZ)


def _explained(t, p, weights):
    """R²: 1 - the weighted squares of the errors / those of the deviations, as a mean over the outputs."""
    weights = weights[:, None]
    mean = np.sum(t * weights, axis=0) / np.sum(weights)
    return np.mean(1 - np.sum(weights * (t - p) ** 2, axis=0) / np.sum(weights * (t - mean) ** 2, axis=0))


def _mean(name, make, values, **more):
    return Metric(name=name, make=make, formula=weighted_mean(values), shapes=_SHAPES, **more)


SPECS = (
    metrics(
        "api-keras-means",
        Metric(
            name="Mean",
            make=lambda tf, d: tf.keras.metrics.Mean(dtype=d),
            formula=weighted_mean(lambda x: x),
            shapes=_ONE,
        ),
        Metric(
            name="Sum",
            make=lambda tf, d: tf.keras.metrics.Sum(dtype=d),
            formula=lambda x, weights: np.sum(x * weights),
            shapes=_ONE,
        ),
        recipes={"plain": (plain, plain, from_one)},
        ops="Sum",
    ),
    metrics(
        "api-keras-regression-metrics",
        _mean(
            "MeanMetricWrapper",
            lambda tf, d: tf.keras.metrics.MeanMetricWrapper(lambda t, p: t * p, dtype=d),
            lambda t, p: of.mean(t * p),
        ),
        _mean(
            "MeanSquaredError",
            lambda tf, d: tf.keras.metrics.MeanSquaredError(dtype=d),
            lambda t, p: of.mean((t - p) ** 2),
        ),
        Metric(
            name="RootMeanSquaredError",
            make=lambda tf, d: tf.keras.metrics.RootMeanSquaredError(dtype=d),
            formula=lambda *xs: np.sqrt(weighted_mean(lambda t, p: of.mean((t - p) ** 2))(*xs)),
            shapes=_SHAPES,
        ),
        _mean(
            "MeanAbsoluteError",
            lambda tf, d: tf.keras.metrics.MeanAbsoluteError(dtype=d),
            lambda t, p: of.mean(of.size(t - p)),
        ),
        _mean(
            "MeanAbsolutePercentageError",
            lambda tf, d: tf.keras.metrics.MeanAbsolutePercentageError(dtype=d),
            lambda t, p: 100 * of.mean(of.size(t - p) / of.size(t)),
        ),
        _mean(
            "LogCoshError",
            lambda tf, d: tf.keras.metrics.LogCoshError(dtype=d),
            of.log_cosh,
            mistaken=weighted_mean(of.log_cosh_by_float32),
        ),
        _mean(
            "CosineSimilarity",
            lambda tf, d: tf.keras.metrics.CosineSimilarity(dtype=d),
            lambda t, p: np.sum(of.unit(t) * of.unit(p), axis=-1),
        ),
        _mean("Hinge", lambda tf, d: tf.keras.metrics.Hinge(dtype=d), lambda t, p: of.mean(of.hinge(t, p))),
        _mean(
            "SquaredHinge",
            lambda tf, d: tf.keras.metrics.SquaredHinge(dtype=d),
            lambda t, p: of.mean(of.hinge(t, p) ** 2),
        ),
        _mean("PearsonCorrelation", lambda tf, d: tf.keras.metrics.PearsonCorrelation(dtype=d), _pearson, units=16),
        _mean(
            "ConcordanceCorrelation",
            lambda tf, d: tf.keras.metrics.ConcordanceCorrelation(dtype=d),
            _concordance,
            units=16,
        ),
        Metric(
            name="R2Score",
            make=lambda tf, d: tf.keras.metrics.R2Score(dtype=d),
            formula=_explained,
            shapes=_SHAPES,
            units=32,
        ),
        recipes={"plain": of_both_batches(plain, plain)},
        ops="Square;Abs;Rsqrt",
    ),
    metrics(
        "api-keras-probability-metrics",
        _mean(
            "MeanSquaredLogarithmicError",
            lambda tf, d: tf.keras.metrics.MeanSquaredLogarithmicError(dtype=d),
            lambda t, p: of.mean((np.log(p + 1) - np.log(t + 1)) ** 2),
            units=24,
        ),
        _mean(
            "Poisson",
            lambda tf, d: tf.keras.metrics.Poisson(dtype=d),
            lambda t, p: of.mean(p - t * np.log(p + of.FUZZ)),
        ),
        _mean(
            "KLDivergence",
            lambda tf, d: tf.keras.metrics.KLDivergence(dtype=d),
            lambda t, p: np.sum(t * np.log(t / p), axis=-1),
        ),
        _mean(
            "BinaryCrossentropy",
            lambda tf, d: tf.keras.metrics.BinaryCrossentropy(dtype=d),
            lambda t, p: of.mean(of.binary(t, p)),
        ),
        recipes={"plain": of_both_batches(shares, shares)},
        ops="Log",
    ),
    metrics(
        "api-keras-distribution-metrics",
        _mean(
            "CategoricalCrossentropy",
            lambda tf, d: tf.keras.metrics.CategoricalCrossentropy(from_logits=True, dtype=d),
            lambda t, p: np.sum(-t * np.log(of.shares(p)), axis=-1),
        ),
        _mean("CategoricalHinge", lambda tf, d: tf.keras.metrics.CategoricalHinge(dtype=d), of.categorical_hinge),
        recipes={"plain": of_both_batches(distributions, plain)},
        ops="SoftmaxCrossEntropyWithLogits;Max",
    ),
    metrics(
        "api-keras-class-metrics",
        Metric(
            name="SparseCategoricalCrossentropy",
            make=lambda tf, d: tf.keras.metrics.SparseCategoricalCrossentropy(from_logits=True, dtype=d),
            formula=weighted_mean(lambda t, p: -np.log(of.shares(p)[np.arange(len(t)), t])),
            shapes=((4,), (4, 5)),
        ),
        recipes={"plain": of_both_batches(below(5), plain)},
        ops="SparseSoftmaxCrossEntropyWithLogits",
    ),
)
