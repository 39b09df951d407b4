"""Connectionist temporal classification: losses and decoders of `tf.nn`, for sequences short enough to try all paths.

Graves et al., Connectionist temporal classification, 2006: https://www.cs.toronto.edu/~graves/icml_2006.pdf
"""

from itertools import groupby, product

import numpy as np
from scipy.special import log_softmax, logsumexp

from tf_opdiff.harness.spec.plan import WITHOUT_XLA
from tf_opdiff.suites.forms.programs.api import Call, calls

_TIMES, _BATCH, _CLASSES = 4, 2, 3
#: Labels of class 1 and 2, as the blank has class 0 in the loss, and their lengths; and the lengths of the sequences.
_LABELS, _OF_LABELS, _LENGTHS = np.array([[1, 2], [1, 0]], np.int32), np.array([2, 1]), np.array([4, 3])


def _read(path, blank):
    """The labels of a path: each run of one class counts once, and blanks do not count."""
    return tuple(label for label, _ in groupby(path) if label != blank)


def _readings(logits, length, blank):
    """Labels → the logarithms of the probabilities of their paths."""
    rows = log_softmax(logits[:length], axis=-1)
    logarithms: dict[tuple[int, ...], list[float]] = {}
    for path in product(range(_CLASSES), repeat=length):
        logarithms.setdefault(_read(path, blank), []).append(sum(rows[t, label] for t, label in enumerate(path)))
    return {labels: logsumexp(values) for labels, values in logarithms.items()}


def _loss(x):
    """The negative logarithm of the probability of the labels."""
    wanted = [tuple(row[:n]) for row, n in zip(_LABELS.tolist(), _OF_LABELS, strict=True)]
    return -np.array([_readings(x[:, i], _LENGTHS[i], 0)[wanted[i]] for i in range(_BATCH)])


def _greedy(x):
    """The labels of the likeliest path, as a matrix with -1 behind them; minus the sum of its logits."""
    paths = [x[:n, i].argmax(-1) for i, n in enumerate(_LENGTHS)]
    sums = [-x[:n, i].max(-1).sum() for i, n in enumerate(_LENGTHS)]
    return _dense([_read(path.tolist(), _CLASSES - 1) for path in paths]), np.array(sums)[:, None]


def _beam(x):
    """The likeliest labels, as a matrix with -1 behind them; the logarithm of their probability."""
    readings = [_readings(x[:, i], n, _CLASSES - 1) for i, n in enumerate(_LENGTHS)]
    best = [max(each, key=each.get) for each in readings]
    return _dense(best), np.array([[each[labels]] for each, labels in zip(readings, best, strict=True)])


def _dense(labels):
    dense = np.full((len(labels), _TIMES), -1, np.int64)
    for row, own in zip(dense, labels, strict=True):
        row[: len(own)] = own
    return dense


def _unique(x):
    """The labels of each row without repetitions, with zeros behind them; for each label, its place among those."""
    rows = [list(dict.fromkeys(row)) for row in x.astype(int).tolist()]
    places = [[own.index(label) for label in row] for own, row in zip(rows, x.astype(int).tolist(), strict=True)]
    padded = [own + [0] * (x.shape[1] - len(own)) for own in rows]
    return np.array(padded, np.int64), np.array(places, np.int32)


def _collapsed(x, lengths):
    """The labels of the beginning of each row, each run once, and how many they are."""
    rows = [[label for label, _ in groupby(row[:n])] for row, n in zip(x.tolist(), lengths, strict=True)]
    counts = [len(own) for own in rows]
    padded = [own + [0] * (max(counts) - len(own)) for own in rows]
    return np.array(padded, np.int32), np.array(counts, np.int32)


def _decoded(tf, decoded, score):
    """The labels of a sparse tensor, as a matrix with -1 behind them, and the score."""
    sparse = decoded[0]
    return tf.sparse.to_dense(tf.SparseTensor(sparse.indices, sparse.values, [_BATCH, _TIMES]), default_value=-1), score


def _lengths(tf):
    return tf.constant(_LENGTHS, tf.int32)


def _decoder(name, program, reference):
    return Call(
        name=name,
        program=lambda tf, x: _decoded(tf, *program(tf, x)),
        reference=reference,
        error=lambda u, x: (0, 64 * u * np.sum(np.abs(x)) * np.ones((_BATCH, 1))),
        outputs=2,
    )


def _logits(draw, dtype):
    return (draw.uniform(_TIMES, _BATCH, _CLASSES, low=-2, high=2).astype(dtype),)


SPECS = (
    *calls(
        "api-nn-ctc-loss",
        Call(
            name="nn.ctc_loss",
            program=lambda tf, x: tf.nn.ctc_loss(
                tf.constant(_LABELS), x, tf.constant(_OF_LABELS, tf.int32), _lengths(tf), blank_index=0
            ),
            reference=_loss,
            error=lambda u, x: 64 * u * (_TIMES + np.abs(_loss(x))),
        ),
        recipes={"plain": _logits},
        ops="LogSoftmax",
    ),
    *calls(
        "api-nn-ctc-decoders",
        _decoder("nn.ctc_greedy_decoder", lambda tf, x: tf.nn.ctc_greedy_decoder(x, _lengths(tf)), _greedy),
        _decoder(
            "nn.ctc_beam_search_decoder",
            lambda tf, x: tf.nn.ctc_beam_search_decoder(x, _lengths(tf), beam_width=81, top_paths=1),
            _beam,
        ),
        recipes={"plain": _logits},
        ops="CTCGreedyDecoder;CTCBeamSearchDecoder",
        modes=WITHOUT_XLA,
    ),
    *calls(
        "api-nn-ctc-labels",
        Call(
            name="nn.ctc_unique_labels",
            program=lambda tf, x: tf.nn.ctc_unique_labels(tf.cast(x, tf.int32)),
            reference=_unique,
            outputs=2,
        ),
        Call(
            name="nn.collapse_repeated",
            program=lambda tf, x: tf.nn.collapse_repeated(tf.cast(x, tf.int32), tf.constant([5, 3])),
            reference=lambda x: _collapsed(x.astype(np.int32), (5, 3)),
            outputs=2,
        ),
        recipes={"labels": lambda draw, d: (draw.integers(2, 5, low=1, high=4).astype(d),)},
        ops="Unique",
    ),
)
