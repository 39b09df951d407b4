"""Functions of `tf.nn` that draw numbers, with arguments that leave one possible result; losses of given samples."""

import numpy as np
from scipy.special import expit, log_softmax

from tf_opdiff.harness.spec.plan import WITHOUT_XLA
from tf_opdiff.suites.forms.programs.api import Call, calls
from tf_opdiff.suites.forms.programs.linear import linear

_COUNT, _CLASSES = 3, 5
#: The class of each row, the classes that are sampled, and the expected counts of both.
_LABELS, _SAMPLED = np.array([[1], [4]]), np.array([0, 2, 3])
_OF_LABELS, _OF_SAMPLED = np.array([[0.5], [0.25]]), np.array([0.5, 1.0, 0.25])


def _samples(tf):
    counts = (tf.constant(x, tf.float32) for x in (_OF_LABELS, _OF_SAMPLED))
    return tf.constant(_SAMPLED, tf.int64), *counts


def _logits(weights, x):
    """The logits of the classes of the rows, and of the sampled classes, less the logarithms of expected counts."""
    own = np.sum(weights[_LABELS[:, 0]] * x, axis=-1, keepdims=True) - np.log(_OF_LABELS)
    return np.concatenate([own, x @ weights[_SAMPLED].T - np.log(_OF_SAMPLED)], -1)


def _contrast(weights, x):
    """Noise contrastive estimation: the sum of the cross entropies of all logits."""
    logits = _logits(weights, x)
    return -np.log(expit(logits[:, 0])) - np.sum(np.log(expit(-logits[:, 1:])), axis=-1)


def _softmax(weights, x):
    return -log_softmax(_logits(weights, x), axis=-1)[:, 0]


def _loss(name, reference):
    """A loss of given samples, with zeros as biases."""

    def program(tf, weights, x):
        loss, labels = getattr(tf.nn, name), tf.constant(_LABELS, tf.int64)
        biases = tf.zeros(_CLASSES)
        return loss(
            weights,
            biases,
            labels,
            x,
            num_sampled=_COUNT,
            num_classes=_CLASSES,
            sampled_values=_samples(tf),
            remove_accidental_hits=False,
        )

    return Call(
        name=f"nn.{name}",
        program=program,
        reference=reference,
        error=lambda u, w, x: 64 * u * (1 + np.sum(np.abs(_logits(w, x)), axis=-1)),
    )


def _sampler(name, classes, sampled, **arguments):
    """A sampler that has one possible result: the drawn classes, and the expected counts of both kinds of classes."""
    counts = np.full(len(sampled), 1.0 if name.startswith("all") else len(sampled), np.float32)

    def program(tf, x):
        labels = tf.cast(x[:, :1] * 0, tf.int64) + classes
        return tuple(getattr(tf.nn, name)(labels, 1, len(sampled), **arguments))

    return Call(
        name=f"nn.{name}",
        program=program,
        reference=lambda x: (np.array(sampled, np.int64), np.full((len(x), 1), counts[0]), counts),
        outputs=3,
    )


def _hits(x):
    """The rows and the places of samples that are the class of the row; the weight is the lowest number."""
    rows, places = np.nonzero(x[:, :1] == _SAMPLED)
    return rows.astype(np.int32), places.astype(np.int64), np.full(len(rows), -np.finfo(np.float32).max, np.float32)


def _dropped(tf, x):
    """The output of dropout, with the numbers that were kept in place of those that were dropped."""
    y = tf.nn.dropout(x, rate=0.5)
    return tf.where(tf.equal(y, 0), 2 * x, y)


def _blocks(kind):
    """Windows of 2 × 2 pixels: the only regions of a pooling ratio of 2."""
    return lambda x: kind(x.reshape(x.shape[0], x.shape[1] // 2, 2, x.shape[2] // 2, 2, -1), axis=(2, 4))


def _fractional(name, kind, **fields):
    def program(tf, x):
        return getattr(tf.nn, name)(x, [1, 2.0, 2.0, 1], seed=1)[0]

    return Call(name=f"nn.{name}", program=program, reference=_blocks(kind), **fields)


SPECS = (
    *calls(
        "api-nn-sampled-losses",
        _loss("nce_loss", _contrast),
        _loss("sampled_softmax_loss", _softmax),
        recipes={"plain": lambda draw, d: (draw.uniform(_CLASSES, 4).astype(d), draw.uniform(2, 4).astype(d))},
        arguments=2,
        ops="GatherV2;MatMul",
    ),
    *calls(
        "api-nn-dropout",
        linear("nn.dropout", _dropped, lambda x: 2 * x),
        recipes={"plain": lambda draw, d: (draw.uniform(4, 7, low=1, high=2).astype(d),)},
        ops="RandomUniform",
    ),
    *calls(
        "api-nn-samplers",
        _sampler("all_candidate_sampler", 1, (0, 1, 2, 3), unique=True),
        _sampler("learned_unigram_candidate_sampler", 0, (0, 0, 0, 0), unique=False, range_max=1),
        _sampler(
            "fixed_unigram_candidate_sampler", 2, (2, 2, 2, 2), unique=False, range_max=3, unigrams=[0.0, 0.0, 1.0]
        ),
        Call(
            name="nn.compute_accidental_hits",
            program=lambda tf, x: tf.nn.compute_accidental_hits(
                tf.cast(x[:, :1], tf.int64), tf.constant(_SAMPLED, tf.int64), 1
            ),
            reference=_hits,
            outputs=3,
        ),
        recipes={"classes": lambda draw, d: (draw.integers(4, 7, low=0, high=3).astype(d),)},
        ops="AllCandidateSampler;LearnedUnigramCandidateSampler;FixedUnigramCandidateSampler;ComputeAccidentalHits",
        modes=WITHOUT_XLA,
        constant=tuple(f"output[{i}]" for i in range(12)),
    ),
    *calls(
        "api-nn-fractional-pools",
        _fractional("fractional_avg_pool", np.mean, error=lambda u, x: 4 * u * _blocks(np.mean)(np.abs(x))),
        _fractional("fractional_max_pool", np.max),
        recipes={"plain": lambda draw, d: (draw.values(d, 1, 4, 6, 2),)},
        ops="FractionalAvgPool;FractionalMaxPool",
        modes=WITHOUT_XLA,
    ),
)
